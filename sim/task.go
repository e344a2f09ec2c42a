package sim

import (
	"fmt"
	"iter"
	"runtime/debug"
	"slices"

	"stet/core/invariant"
)

// Task is straight-line code that runs in a coroutine and gives way whenever it waits.
type Task struct {
	scheduler *Scheduler
	owner     Owner
	name      string
	run       func()
	co        *coroutine
	running   bool // on the stack now, perhaps below another task
	killed    bool
	unwound   bool // its crash has been thrown
	parked    bool
}

// crashed is what a task that outlived its owner panics with. The coroutine absorbs it, and
// nobody else may.
type crashed struct{}

func (crashed) Error() string { return "the process that this task belongs to is dead" }

// TaskPanic carries a panic out of a task, with the stack that would otherwise be lost.
type TaskPanic struct {
	Task  string
	Value any
	Stack string
}

// Error prints the value and the stack.
func (p TaskPanic) Error() string {
	return fmt.Sprintf("task %s: %v\n%s", p.Task, p.Value, p.Stack)
}

// Unwrap returns the value if it is an error.
func (p TaskPanic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Spawn starts a task of owner as an event of its own, delay from now. A dead owner starts none.
func (s *Scheduler) Spawn(delay Time, owner Owner, name string, run func()) {
	if s.closed || !s.Alive(owner) {
		return
	}
	t := &Task{scheduler: s, owner: owner, name: name, run: run}
	o := s.owners[owner]
	o.tasks = append(o.tasks, t)
	s.push(event{at: s.later(delay), owner: owner, kind: KindTask, task: t})
}

// Await suspends the running task for d. It does not return if the owner dies.
func (s *Scheduler) Await(d Time) {
	t := s.mustRun()
	s.push(event{at: s.later(d), owner: t.owner, kind: KindTask, task: t})
	t.suspend()
}

// Park suspends the running task until Unpark. It does not return if the owner dies.
func (s *Scheduler) Park() {
	t := s.mustRun()
	t.parked = true
	t.suspend()
}

// Unpark has a parked task go on, delay from now. It does nothing if t is not parked.
func (s *Scheduler) Unpark(t *Task, delay Time) {
	if t == nil || !t.parked || t.killed {
		return
	}
	t.parked = false
	s.push(event{at: s.later(delay), owner: t.owner, kind: KindTask, task: t})
}

// Current returns the running task, or nil in a plain event.
func (s *Scheduler) Current() *Task { return s.current }

// TaskCount returns how many tasks of o are alive.
func (s *Scheduler) TaskCount(o Owner) int { return len(s.owners[o].tasks) }

// mustRun returns the running task; a dead one is unwound here.
func (s *Scheduler) mustRun() *Task {
	t := s.current
	invariant.Always(t != nil, "only a task can wait")
	if t.killed {
		t.crash()
	}
	return t
}

// resume runs t until it waits or ends.
func (t *Task) resume() {
	s := t.scheduler
	if t.co == nil {
		t.co = s.coroutine()
		t.co.task = t
	}
	below := s.current
	s.current, t.running = t, true
	t.co.next()
	s.current, t.running = below, false
	if t.co.task == nil {
		s.idle = append(s.idle, t.co)
		t.retire()
	}
}

func (t *Task) retire() {
	o := t.scheduler.owners[t.owner]
	if i := slices.Index(o.tasks, t); i >= 0 {
		o.tasks = slices.Delete(o.tasks, i, i+1)
	}
}

// suspend gives way; it unwinds the task if it was killed meanwhile.
func (t *Task) suspend() {
	if !t.co.yield(struct{}{}) || t.killed {
		t.crash()
	}
}

func (t *Task) crash() {
	t.unwound = true
	panic(crashed{})
}

// kill unwinds t. One that never ran is just forgotten; one that runs now finds out at its next
// wait.
func (t *Task) kill() {
	t.killed = true
	switch {
	case t.running:
	case t.co == nil:
		t.retire()
	default:
		t.resume()
	}
}

// coroutine runs one task after the other, because starting one costs more than a switch.
type coroutine struct {
	task  *Task
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// coroutine returns an idle coroutine.
func (s *Scheduler) coroutine() *coroutine {
	if n := len(s.idle); n > 0 {
		c := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(c.loop)
	s.all = append(s.all, c)
	return c
}

func (c *coroutine) loop(yield func(struct{}) bool) {
	c.yield = yield
	for {
		c.runTask()
		if !yield(struct{}{}) {
			return
		}
	}
}

// runTask runs the task to its end and absorbs the panic of a crash, and only that.
func (c *coroutine) runTask() {
	t := c.task
	defer func() {
		switch r := recover(); r := r.(type) {
		case nil:
		case crashed:
			invariant.Always(t.unwound, "a task crashed by itself")
			c.task = nil
		default:
			panic(TaskPanic{t.name, r, string(debug.Stack())})
		}
	}()
	t.run()
	invariant.Always(!t.unwound, "a task recovered from its crash")
	c.task = nil
}
