package crashpoints

import (
	"fmt"
	"slices"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/partition"
	"stet/scenarios/storedlog"
	"stet/sim"
)

// trial starts a node on what a crash has left, and judges it.
type trial struct {
	world    *sim.World
	machine  *sim.Machine
	client   *caller
	ledger   *ledger
	promises []promise
	failed   []string

	before []*storedlog.Log // as the crash left them, by topic
	logs   []*storedlog.Log // of the first start
	states []string         // what a log derives from its files, of the first start
	files  []string         // hashes of the log files, of the first start

	afterFirst func() // a test's own
}

// newTrial returns the trial of a disk, which it takes over.
func newTrial(im *image, d *sim.Disk, promises []promise) *trial {
	w := newWorld(trialSeed, nil)
	t := &trial{world: w, machine: w.AddMachine(im.config), ledger: im.ledger, promises: promises}
	w.Scheduler.RunUntil(im.at+sim.Second, nil)
	t.machine.Disk.Replace(d)
	return t
}

func (t *trial) fails(check, what string, args ...any) {
	t.failed = append(t.failed, check+" "+fmt.Sprintf(what, args...))
}

// judge judges the disk and closes the world. A panic is a finding, too.
func (t *trial) judge() []string {
	defer t.world.Close()
	if what := guard(t.run); what != "" {
		t.fails("X1", "%s", what)
	}
	return t.failed
}

// guard runs f and returns what it panicked with, "" if it did not.
func guard(f func()) (what string) {
	defer func() {
		if p := recover(); p != nil {
			what = fmt.Sprintf("panic: %v", p)
		}
	}()
	f()
	return ""
}

func (t *trial) run() {
	for _, topic := range t.ledger.topics {
		t.before = append(t.before, readLog(t.machine.Disk, topic.name))
	}
	t.checkPoints()
	t.client = newCaller(t.world, t.machine)
	over := false
	t.world.Scheduler.Spawn(0, t.client.host.Owner, "trial", func() {
		if t.start() && t.first() {
			if t.afterFirst != nil {
				t.afterFirst()
			}
			t.machine.LosePower(sim.KeepNothing{})
			if t.start() && t.second() && t.use() {
				t.machine.LosePower(sim.KeepNothing{})
				t.third()
			}
		}
		over = true
	})
	t.world.Run(20*sim.Minute, func() bool { return over })
	if !over {
		t.fails("L1", "a client is not answered within 20 minutes")
	}
	for _, trouble := range t.client.trouble {
		t.fails("H10", "%s", trouble)
	}
}

// checkPoints is S1 for the checkpoint: it never takes for durable what a crash could lose.
func (t *trial) checkPoints() {
	b, _ := t.machine.Disk.Bytes(rootPath(commitlog.RecoveryPointCheckpointName))
	entries, err := commitlog.DecodeCheckpoint(b)
	if err != nil {
		t.fails("S3", "%s: %v", commitlog.RecoveryPointCheckpointName, err)
	}
	for _, e := range entries {
		for i, topic := range t.ledger.topics {
			if topic.name != e.Partition.Topic || topic.deleteAsked || topic.stalePoint {
				continue
			}
			if before := t.before[i]; e.Offset > before.End {
				t.fails("S1", "%s: recovery point %d, but the log ends at %d: %s", topic.name, e.Offset,
					before.End, before.Problem)
			}
		}
	}
}

// startTime bounds a start, in virtual time.
const startTime = 30 * sim.Second

// start starts the node and waits until it serves (L9).
func (t *trial) start() bool {
	t.machine.Start()
	if !t.within(startTime, func() bool { return t.machine.Ready() || t.machine.Fatal() != nil }) ||
		t.machine.Fatal() != nil {
		t.fails("L9", "the node does not start: fatal %v", t.machine.Fatal())
		return false
	}
	return true
}

// within waits for done, at most for d.
func (t *trial) within(d sim.Time, done func() bool) bool {
	for end := t.world.Scheduler.Now() + d; !done(); {
		if t.world.Scheduler.Now() > end {
			return false
		}
		t.world.Scheduler.Await(sim.Millisecond)
	}
	return true
}

// first judges what the first start has made of the disk.
func (t *trial) first() bool {
	for i := range t.ledger.topics {
		if !t.stands(i) {
			return false
		}
		t.logs = append(t.logs, nil)
		t.states, t.files = append(t.states, ""), append(t.files, "")
		if t.exists(i) {
			t.judgeLog(i)
		}
	}
	return len(t.failed) == 0
}

// exists says whether the node has a topic.
func (t *trial) exists(i int) bool { return replicaOf(t.machine, t.ledger.topics[i].name) != nil }

// stands is Q9 for one topic: it is there with its id, and led; or it is gone; as was acknowledged.
func (t *trial) stands(i int) bool {
	topic := t.ledger.topics[i]
	var led int
	var id kafka.TopicID
	var code kafka.ErrorCode
	answered := t.within(startTime, func() bool {
		led, id, code = t.client.look(topic.name)
		return code == kafka.None && led == 1 && t.online(topic) || code == kafka.UnknownTopicOrPartition
	})
	gone := code == kafka.UnknownTopicOrPartition
	switch {
	case !answered:
		t.fails("L9", "%s is not served: %d partitions led, %s, %s", topic.name, led, code, t.state(topic))
		return false
	case gone && topic.created && !topic.deleteAsked:
		t.fails("Q9", "%s is gone", topic.name)
	case !gone && topic.absent:
		t.fails("Q9", "%s is back after its deletion", topic.name)
	case !gone && topic.id != (kafka.TopicID{}) && id != topic.id:
		t.fails("Q9", "%s had the id %s, and has %s", topic.name, topic.id, id)
	}
	return len(t.failed) == 0
}

func (t *trial) online(topic *topicEntry) bool {
	r := replicaOf(t.machine, topic.name)
	return r != nil && r.State() == partition.Online && r.Log() != nil
}

func (t *trial) state(topic *topicEntry) string {
	r := replicaOf(t.machine, topic.name)
	if r == nil {
		return "no replica"
	}
	return fmt.Sprintf("replica %s %v", r.State(), r.Err())
}

// judgeLog is S1 to S3, S8 and R11 for one log, and that readers get all of it.
func (t *trial) judgeLog(i int) {
	topic, before, p := t.ledger.topics[i], t.before[i], t.promises[i]
	live := replicaOf(t.machine, topic.name).Log()
	log := readLog(t.machine.Disk, topic.name)
	if log.Problem != "" || log.End != live.Written() {
		t.fails("S3", "%s ends at %d, its files are sound to %d: %s", topic.name, live.Written(), log.End,
			log.Problem)
	}
	switch {
	case log.End < p.floor:
		t.fails("S1", "%s ends at %d, %d was promised", topic.name, log.End, p.floor)
	case log.End > p.ceiling:
		t.fails("S2", "%s ends at %d, it never had more than %d", topic.name, log.End, p.ceiling)
	case log.End != before.End:
		t.fails("S1", "%s was sound to %d and ends at %d", topic.name, before.End, log.End)
	}
	read := t.client.read(topic.name)
	if read.code != kafka.None || read.high != log.End || len(read.values) != int(log.End) {
		t.fails("H1", "%s ends at %d; a reader gets %d records, the high watermark %d, %s", topic.name,
			log.End, len(read.values), read.high, read.code)
	}
	for o, value := range read.values {
		if value != string(topic.value(kafka.Offset(o))) {
			t.fails("S2", "%s offset %d is %.20q", topic.name, o, value)
			break
		}
	}
	t.failed = append(t.failed, checkIndexes(t.machine.Disk, topic.name, log)...)
	state := live.DerivedState()
	if epochs := epochs(log); !slices.Equal(state.Epochs, epochs) {
		t.fails("R11", "%s has the epochs %v, and its batches %v", topic.name, state.Epochs, epochs)
	}
	t.logs[i], t.states[i], t.files[i] = log, state.Canonical(), hashLog(t.machine.Disk, topic.name, log)
}

// second is S1 and S4: what a recovery has found it has made durable, so that a power loss that keeps
// nothing, and another recovery, change nothing.
func (t *trial) second() bool {
	for i, topic := range t.ledger.topics {
		if !t.stands(i) {
			return false
		}
		if t.exists(i) != (t.logs[i] != nil) {
			t.fails("S4", "%s comes or goes with a second start", topic.name)
			continue
		}
		if t.logs[i] == nil {
			continue
		}
		live := replicaOf(t.machine, topic.name).Log()
		log := readLog(t.machine.Disk, topic.name)
		if hashLog(t.machine.Disk, topic.name, log) != t.files[i] {
			t.fails("S4", "%s: the log ends at %d, after a second start at %d: %s", topic.name,
				t.logs[i].End, log.End, log.Problem)
		}
		if state := live.DerivedState().Canonical(); state != t.states[i] {
			t.fails("S4", "%s: a second start derives another state:\n  %s\n  %s", topic.name,
				t.states[i], state)
		}
	}
	return len(t.failed) == 0
}
