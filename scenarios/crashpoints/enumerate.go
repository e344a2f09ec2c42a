package crashpoints

import (
	"fmt"
	"slices"

	"stet/sim"
)

// Options bound an enumeration.
type Options struct {
	Bound int // most power-loss outcomes of one image
	// Recoveries has every so-manieth distinct image interrupt its recovery at each of its
	// operations; 0 for none.
	Recoveries int
	// Brief strikes each operation only held back and just after.
	Brief bool
	// Shard of Shards strikes a part of the operations, those next to each other; 0 of 0 strikes all.
	Shard, Shards int
	// Operation, if not 0, is the only one to strike, counted from 1.
	Operation int
}

// enumeration is one under way.
type enumeration struct {
	script    *Script
	flushMode bool
	options   Options
	result    *Result
	seen      map[string]bool // disks with their promises
}

// Modes. In flush mode (flush.messages=1) acknowledged means durable; otherwise a power loss may
// take what no sync has covered.
const (
	FlushMode   = "flush"
	DefaultMode = "default"
)

// Enumerate crashes a script at every operation of its window, and judges what is left. A process
// runs one at a time.
func Enumerate(s *Script, mode string, o Options) *Result {
	e := &enumeration{
		script: s, flushMode: mode == FlushMode, options: o,
		result: &Result{Script: s.Name, Mode: mode}, seen: map[string]bool{},
	}
	var ops []submitted
	if what := guard(func() { ops = rehearse(s, e.flushMode, -1, moment{}, nil).window.ops }); what != "" {
		e.violation(s.Name+"/"+mode+" undisturbed", "X1 "+what)
		return e.result
	}
	shards := max(1, o.Shards)
	from, to := len(ops)*o.Shard/shards, len(ops)*(o.Shard+1)/shards
	for i := from; i < to; i++ {
		if o.Operation != 0 && o.Operation != i+1 {
			continue
		}
		e.result.Ops++
		if e.strikeAll(ops, i) {
			e.result.Points++
		}
	}
	return e.result
}

// strikeAll strikes one operation at each of its moments and says whether all of them were hit.
func (e *enumeration) strikeAll(ops []submitted, target int) bool {
	everyOne := true
	op := &ops[target]
	moments := momentsOf(op)
	if e.options.Brief {
		moments = briefMoments
	}
	for _, m := range moments {
		where := fmt.Sprintf("%s/%s operation %d of %d (%s) %s", e.script.Name, e.result.Mode, target+1,
			len(ops), op, m.name)
		var t *stage
		if what := guard(func() { t = e.crash(op, target, m) }); what != "" {
			e.violation(where, "X1 "+what)
			everyOne = false
			continue
		}
		if why := hit(t, ops, target); why != "" {
			e.violation(where, "X3 the crash point was not hit: "+why)
			everyOne = false
			continue
		}
		e.result.Crashes++
		e.tryKill(where, t.image)
		e.tryPower(where, t.image)
	}
	return everyOne
}

// crash plays the script to its crash. What is left of the calls in flight is on a tape, so a first
// run may have to find out how many they are.
func (e *enumeration) crash(op *submitted, target int, m moment) *stage {
	tape := remnants(op, m, op.others)
	t := rehearse(e.script, e.flushMode, target, m, tape)
	ahead := t.window.ahead
	if better := remnants(op, m, ahead); !slices.Equal(better, tape) {
		t = rehearse(e.script, e.flushMode, target, m, better)
		if t.window.ahead != ahead {
			t.window.missed = "the calls in flight are others than before"
		}
	}
	return t
}

// hit returns why a run did not crash where it should have, "" if it did.
func hit(t *stage, ops []submitted, target int) string {
	w := t.window
	switch {
	case !w.struck || t.image == nil:
		return "no crash"
	case w.missed != "":
		return w.missed
	case len(w.ops) <= target:
		return "the run ended before"
	}
	for i := range target + 1 {
		if w.ops[i] != ops[i] {
			return fmt.Sprintf("operation %d is %s, and was %s", i+1, &w.ops[i], &ops[i])
		}
	}
	return ""
}

// tryKill tries what a process kill left.
func (e *enumeration) tryKill(where string, im *image) {
	e.try(where+", process kill", im, copyDisk(im.disk), false)
}

// tryPower tries what power losses would have left.
func (e *enumeration) tryPower(where string, im *image) {
	list, cut := outcomesOf(im.disk, e.options.Bound)
	e.result.Cut = addCut(e.result.Cut, cut)
	for _, o := range list {
		e.result.Outcomes++
		d := copyDisk(im.disk)
		d.PowerLoss(&fates{outcome: o})
		e.try(fmt.Sprintf("%s, power loss: %s", where, o), im, d, true)
	}
}

// try judges a disk, unless the same was judged before with the same promises.
func (e *enumeration) try(where string, im *image, d *sim.Disk, power bool) {
	promises := im.ledger.promises(power, e.flushMode)
	key := fmt.Sprintf("%x %v %v", imprint(d), promises, im.ledger.told())
	if e.seen[key] {
		return
	}
	e.seen[key] = true
	e.result.Distinct++
	again := copyDisk(d)
	for _, failed := range newTrial(im, d, promises).judge() {
		e.violation(where, failed)
	}
	if n := e.options.Recoveries; n > 0 && e.result.Distinct%n == 0 {
		e.interruptRecovery(where, im, again, power)
	}
}

// interruptRecovery crashes the recovery of a disk at each of its operations, by turns with a kill
// and with power losses, and judges the one that follows.
func (e *enumeration) interruptRecovery(where string, im *image, d *sim.Disk, power bool) {
	fates := []sim.PowerFates{nil, sim.KeepNothing{}, sim.KeepAll{}}
	names := []string{"a kill", "a power loss that keeps nothing", "a power loss that keeps all"}
	for target := 0; ; target++ {
		f, name := fates[target%len(fates)], names[target%len(fates)]
		t := newTrial(im, copyDisk(d), im.ledger.promises(power || f != nil, e.flushMode))
		interrupted := false
		if what := guard(func() { interrupted = t.interrupt(target, f) }); what != "" {
			e.violation(fmt.Sprintf("%s, recovery to be crashed at operation %d", where, target+1), "X1 "+what)
		}
		if !interrupted {
			t.world.Close()
			return
		}
		e.result.Recoveries++
		for _, failed := range t.judge() {
			e.violation(fmt.Sprintf("%s, recovery crashed at operation %d by %s", where, target+1, name), failed)
		}
	}
}

func (e *enumeration) violation(where, failed string) {
	e.result.Violations = append(e.result.Violations, where+": "+failed)
}
