package scenarios

import (
	"runtime"
	"testing"

	"stet/scenarios/schedule"
	"stet/sim"
)

// speed runs f and reports events a second, allocations an event, and how much virtual time passes in
// a second. It is for one core: the simulator has one thread, and the collector is told to use no
// other.
func speed(b *testing.B, f func(seed uint64) (events int64, simulated sim.Time)) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	seed, events, simulated := uint64(0), int64(0), sim.Time(0)
	for b.Loop() {
		seed++
		n, d := f(seed)
		events += n
		simulated += d
	}
	runtime.ReadMemStats(&after)
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(float64(events)/seconds, "events/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events), "allocs/event")
	b.ReportMetric(simulated.Duration().Seconds()/seconds, "sim:wall")
}

// BenchmarkIdleNode is a node without clients, for an hour.
func BenchmarkIdleNode(b *testing.B) {
	speed(b, func(seed uint64) (int64, sim.Time) {
		w := sim.NewWorld(seed)
		defer w.Close()
		w.AddMachine(schedule.BaseNode()).Start()
		w.Run(60*sim.Minute, nil)
		return int64(w.Scheduler.EventCount()), w.Scheduler.Now()
	})
}

// BenchmarkBusyNode is the runs of the scenarios, judged.
func BenchmarkBusyNode(b *testing.B) {
	for _, s := range All() {
		b.Run(s.Name, func(b *testing.B) {
			speed(b, func(seed uint64) (int64, sim.Time) {
				r := Run(s, seed, Options{})
				return r.Events, sim.Time(r.Simulated)
			})
		})
	}
}
