package replication

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/storedlog"
	"stet/sim"
	"stet/sim/client"

	"stet/core/env"
)

// facts are what clients were told of offsets: of each, the value that was acknowledged there, or read.
// Nobody may be told anything else, ever.
type facts struct {
	values []string // by offset; empty: nobody was told
	broken string   // the first contradiction
}

// told notes that a value stands at an offset.
func (k *facts) told(who string, at kafka.Offset, value string) {
	for int(at) >= len(k.values) {
		k.values = append(k.values, "")
	}
	if was := k.values[at]; was != "" && was != value && k.broken == "" {
		k.broken = fmt.Sprintf("offset %d was %s, and is %s to %s", at, was, value, who)
	}
	k.values[at] = value
}

// readAll reads what a leader shows from the beginning on, and says where that ended; false if it could
// not be read to its end.
func (k *facts) readAll(c *cluster) (end kafka.Offset, ok bool) {
	if c.leader() == nil {
		return 0, false
	}
	at := client.Address{Name: "orders", ID: c.topic.ID, Leader: c.topic.Leaders[0], Version: 13}
	for {
		records, next, highWatermark, code := c.admin.Read(at, end)
		if code != kafka.None {
			return end, false
		}
		for _, r := range records {
			k.told("a reader", r.Offset, string(r.Value))
		}
		if end = next; end >= highWatermark || len(records) == 0 {
			return end, end >= highWatermark
		}
	}
}

// stands is checked after every step: nobody has been told two things of one offset.
func (f *failovers) stands(t *rapid.T) {
	f.image()
	require.Empty(t, f.broken)
}

// heals ends all faults, and waits until all writers have written what they had to.
func (f *failovers) heals() {
	f.world.Network.HealAll()
	f.until("all nodes run", func() bool {
		ready := true
		for _, m := range f.nodes {
			if !m.Running() { // or no more, since it was asked to stop
				m.Start()
			}
			ready = ready && m.Ready() && f.stopping[m.Place] != m.Lives()
		}
		return ready
	})
	f.until("all is written", func() bool {
		for _, w := range f.writers {
			if w.busy {
				return false
			}
		}
		return true
	})
	f.settled()
}

// holdTheSame compares the files of the replicas, which are at rest.
func (f *failovers) holdTheSame() {
	dir := env.Path{Name: "orders-0"}
	one := storedlog.Read(f.nodes[0].Disk, dir, storedlog.Cached)
	for _, m := range f.nodes[1:] {
		other := storedlog.Read(m.Disk, dir, storedlog.Cached)
		require.Empty(f.t, other.Problem, m.Place)
		require.Equal(f.t, views(one), views(other), "%s and %s", f.nodes[0].Place, m.Place)
	}
}

func views(l *storedlog.Log) (all []record.View) {
	for _, b := range l.Batches {
		all = append(all, b.View)
	}
	return all
}

// readsAll reads everything back: all offsets of which anybody was told are there, with what was told.
func (f *failovers) readsAll() {
	known := kafka.Offset(len(f.values))
	f.do("read all", func() {
		end, ok := f.readAll(f.cluster)
		for ; !ok; end, ok = f.readAll(f.cluster) {
			f.world.Scheduler.Await(50 * sim.Millisecond) // over a connection that a fault has ended
		}
		require.GreaterOrEqual(f.t, end, known, "what was acknowledged is there")
	})
	require.Empty(f.t, f.broken)
}

// writer is a client that writes records with acks=all, one after the other, and tries each once: what
// was not acknowledged may stand or not.
type writer struct {
	of    *failovers
	name  string
	owner sim.Owner
	admin *client.Administrator
	left  int // records to write
	next  int
	busy  bool
}

func newWriter(f *failovers, name string) *writer {
	place, owner := f.world.NewClient()
	host := *f.admin.Host
	host.Owner, host.Name = owner, name
	host.Stream = f.world.Entropy.Stream("client", place)
	host.RequestTimeout = sim.Interval{Low: sim.Second, High: 2 * sim.Second}
	return &writer{
		of: f, name: name, owner: owner, admin: &client.Administrator{Host: &host, Servers: f.admin.Servers},
	}
}

// more has the client write n more records.
func (w *writer) more(n int) {
	w.left += n
	if w.busy {
		return
	}
	w.busy = true
	w.of.world.Scheduler.Spawn(0, w.owner, w.name, func() {
		for w.left > 0 {
			w.left--
			w.write()
		}
		w.busy = false
	})
}

// write looks for the leader until there is one, and sends it a record.
func (w *writer) write() {
	value := fmt.Sprintf("%s%d", w.name, w.next)
	w.next++
	for {
		topic, code := w.admin.Layout("orders")
		if code == kafka.None && len(topic.Leaders) > 0 && topic.Leaders[0].Addr != "" {
			at := client.Address{Name: "orders", ID: topic.ID, Leader: topic.Leaders[0], Version: 13}
			if offset, code := w.admin.Write(at, [][]byte{[]byte(value)}, 0); code == kafka.None {
				w.of.told(w.name, offset, value)
			}
			return
		}
		w.of.world.Scheduler.Await(50 * sim.Millisecond)
	}
}
