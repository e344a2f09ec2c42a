package scenarios

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/scenarios/schedule"
	"stet/scenarios/storedlog"
	"stet/sim"
	"stet/sim/client"
)

// cargo is M1: records are only ever stored and read under the topic id that they were produced for.
// Every value says for which. With it goes, for topics of one replica, that an acknowledged record
// stands while its machine meets nothing worse than kills: H1 and H2 in small.
type cargo struct {
	*clusterRun
	serial int
	acked  []parcel
	seen   map[slot]string
}

// slot is a place in a log.
type slot struct {
	id        kafka.TopicID
	partition kafka.PartitionID
	offset    kafka.Offset
}

// parcel is an acknowledged record.
type parcel struct {
	slot
	value string
	on    sim.Place
}

func newCargo(r *clusterRun) *cargo { return &cargo{clusterRun: r, seen: map[slot]string{}} }

// value says what a record is for: "name|partition|id|serial"; the id is empty if the request told the
// name only.
func (c *cargo) value(a *client.Address) []byte {
	c.serial++
	id := ""
	if a.Version >= 13 {
		id = hex.EncodeToString(a.ID[:])
	}
	return fmt.Appendf(nil, "%s|%d|%s|%d", a.Name, a.Partition, id, c.serial)
}

// judge says what is wrong with a value that stands in a partition of a topic.
func judgeValue(value []byte, name string, id kafka.TopicID, p kafka.PartitionID) string {
	f := strings.Split(string(value), "|")
	switch {
	case len(f) != 4:
		return "nobody has written it"
	case f[0] != name || f[1] != strconv.Itoa(int(p)):
		return "it was written to another partition"
	case f[2] != "" && f[2] != hex.EncodeToString(id[:]):
		return "it was written to another topic of the name"
	}
	return ""
}

// write sends a batch to each partition of a topic, by name or by id.
func (c *cargo) write(o *operator, op *schedule.Operation, name string) bool {
	layout, code := o.admin.Layout(name)
	if code != kafka.None {
		return code == kafka.UnknownTopicOrPartition
	}
	h := o.admin.Host
	for p, leader := range layout.Leaders {
		if leader.Addr == "" {
			continue
		}
		a := &client.Address{
			Name: name, ID: layout.ID, Partition: kafka.PartitionID(p), Leader: leader,
			Version: version(h, 9, 12, 13),
		}
		var values [][]byte
		for range op.Records {
			values = append(values, c.value(a))
		}
		now := sim.WallEpochMs + int64(c.world.Scheduler.Now()/sim.Millisecond)
		base, code := o.admin.Write(*a, values, now)
		n := c.findings.counters
		n["client.operations"]++
		n["client.write."+code.String()]++
		if code != kafka.None {
			continue
		}
		n["client.ok"]++
		for i, v := range values {
			at := parcel{slot{layout.ID, a.Partition, base + kafka.Offset(i)}, string(v), leader.Place}
			if a.Version >= 13 { // else the name may mean another topic by now
				c.acked = append(c.acked, at)
				c.see(at.slot, v)
			}
		}
	}
	return true
}

// see is H2: an offset holds one value.
func (c *cargo) see(at slot, value []byte) {
	c.findings.checked("H2")
	if old, ok := c.seen[at]; ok && old != string(value) && !c.lossy() {
		c.findings.fails("H2", "topic %s partition %d: offset %d holds %q and %q", at.id, at.partition, at.offset,
			old, value)
	}
	c.seen[at] = string(value)
}

// lossy says whether any machine may have lost records: then an offset may be given again.
func (c *cargo) lossy() bool { return len(c.watch.damaged) > 0 }

// read reads every partition of a topic from its start, by name or by id.
func (c *cargo) read(o *operator, name string) bool {
	layout, code := o.admin.Layout(name)
	if code != kafka.None {
		return code == kafka.UnknownTopicOrPartition
	}
	h := o.admin.Host
	for p, leader := range layout.Leaders {
		if leader.Addr == "" {
			continue
		}
		from := client.Address{
			Name: name, ID: layout.ID, Partition: kafka.PartitionID(p), Leader: leader,
			Version: version(h, 11, 12, 17),
		}
		next := kafka.Offset(0)
		acked := len(c.acked)
		for range 100 {
			records, end, high, code := o.admin.Read(from, next)
			c.findings.counters["client.operations"]++
			c.findings.counters["client.read."+code.String()]++
			for _, r := range records {
				c.findings.checked("M1")
				if what := judgeValue(r.Value, name, layout.ID, from.Partition); what != "" && from.Version >= 13 {
					c.findings.fails("M1", "%s-%d of id %s, read at %d: %q: %s", name, p, layout.ID, r.Offset, r.Value, what)
				}
				if from.Version >= 13 {
					c.see(slot{layout.ID, from.Partition, r.Offset}, r.Value)
				}
			}
			if code == kafka.None && from.Version >= 13 {
				c.checkEnd(layout.ID, from.Partition, high, acked)
			}
			if code != kafka.None || end >= high || end == next {
				break
			}
			next = end
		}
	}
	return true
}

// checkEnd is H1 for a reader: the log does not end before what had been acknowledged when it began to
// read.
func (c *cargo) checkEnd(id kafka.TopicID, p kafka.PartitionID, high kafka.Offset, acked int) {
	for i := range c.acked[:acked] {
		a := &c.acked[i]
		if a.id != id || a.partition != p || c.watch.damaged[a.on] {
			continue
		}
		c.findings.checked("H1")
		if a.offset >= high {
			c.findings.fails("H1", "topic %s partition %d: %q was acknowledged at %d, and the log ends at %d", id, p,
				a.value, a.offset, high)
			return
		}
	}
}

// version draws that of a request which tells the topic's name, or one from 13 on that tells its id.
func version(h *client.Host, low, named, high int64) int16 {
	if h.Stream.Chance(1, 3) {
		return int16(h.Stream.Between(low, named))
	}
	return int16(h.Stream.Between(13, high))
}

// inspect looks at what lies on the disks when all is quiet.
func (r *clusterRun) inspect() {
	active := r.watch.active()
	if active == nil {
		return
	}
	image := controllerOf(active).Image()
	stands := map[slot]string{}
	for _, m := range r.machines {
		r.cargo.inspect(m, stands)
	}
	for _, p := range r.cargo.acked {
		if image.TopicByID(p.id) == nil || r.watch.damaged[p.on] {
			continue
		}
		r.findings.checked("H1")
		if got, ok := stands[p.slot]; !ok || got != p.value {
			r.findings.fails("H1", "topic %s partition %d: %q was acknowledged at %d, where %q stands", p.id, p.partition,
				p.value, p.offset, got)
		}
	}
}

// inspect is M1 and M2 for the files of a machine: every directory says which topic it belongs to,
// that topic exists and is hosted here, and all records in it are of that topic.
func (c *cargo) inspect(m *sim.Machine, stands map[slot]string) {
	b := brokerOf(m)
	for _, e := range m.Disk.Entries(env.Path{}) {
		name, p, ok := partitionDirectory(e.Name)
		if !ok || b == nil {
			continue
		}
		id, told := topicIDOf(m.Disk, e.Name)
		c.findings.checked("M2")
		t := b.Image().TopicByID(id)
		if !told || t == nil || t.Name != name || int(p) >= t.PartitionCount() ||
			!t.Partition(p).HasReplica(kafka.BrokerID(m.Place)) {
			c.findings.fails("M2", "%s: the directory %s of id %s is of no replica that is hosted here", m.Place,
				e.Name, id)
			continue
		}
		log := storedlog.Read(m.Disk, env.Path{Name: e.Name}, storedlog.Cached)
		var scratch record.Scratch
		for _, batch := range log.Batches {
			scratch.Records(batch.View, 1<<20, func(r record.Record) bool {
				c.findings.checked("M1")
				if what := judgeValue(r.Value, name, id, p); what != "" {
					c.findings.fails("M1", "%s: %s of id %s holds %q at %d: %s", m.Place, e.Name, id, r.Value, r.Offset, what)
				}
				stands[slot{id, p, r.Offset}] = string(r.Value)
				return true
			})
		}
	}
}

// partitionDirectory reads the name of a partition's directory.
func partitionDirectory(dir string) (topic string, p kafka.PartitionID, ok bool) {
	i := strings.LastIndexByte(dir, '-')
	if i <= 0 || strings.ContainsAny(dir, "./") {
		return "", 0, false
	}
	n, err := strconv.Atoi(dir[i+1:])
	return dir[:i], kafka.PartitionID(n), err == nil
}

// topicIDOf reads the id in a directory's partition.metadata.
func topicIDOf(d *sim.Disk, dir string) (id kafka.TopicID, ok bool) {
	b, _ := d.Bytes(env.Path{Name: dir + "/partition.metadata"})
	for line := range bytes.Lines(b) {
		if text, found := bytes.CutPrefix(line, []byte("topic_id: ")); found {
			id, err := kafka.ParseTopicID(strings.TrimSpace(string(text)))
			return id, err == nil
		}
	}
	return id, false
}
