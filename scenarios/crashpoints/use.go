package crashpoints

import (
	"slices"

	"stet/core/commitlog"
	"stet/core/kafka"
)

// anotherTopic is one that no script has.
const anotherTopic = "another"

// use goes on where the script was: the last batches again (P4), the next one, another producer, and
// another topic.
func (t *trial) use() bool {
	for i, topic := range t.ledger.topics {
		if t.logs[i] == nil {
			continue
		}
		writer, end := *topic, t.logs[i].End
		if writer.producer < 0 {
			writer.producer, writer.epoch, _ = t.client.newProducer()
		}
		if _, ok := slices.BinarySearch(topic.batches, end); end > 0 && !ok {
			t.fails("S2", "%s ends at %d, where no batch ends", topic.name, end)
		}
		for _, b := range topic.lastBatches(end, commitlog.ProducerWindow) {
			if got, code := t.client.produce(&writer, b.base, b.end); code != kafka.None || got != b.base {
				t.fails("P4", "%s: the batch at %d again: offset %d, %s", topic.name, b.base, got, code)
			}
		}
		if got, code := t.client.produce(&writer, end, end+1); code != kafka.None || got != end {
			t.fails("P4", "%s: the batch that comes at %d: offset %d, %s", topic.name, end, got, code)
		}
		if read := t.client.read(topic.name); len(read.values) != int(end)+1 {
			t.fails("H1", "%s ends at %d, and a reader gets %d records", topic.name, end+1, len(read.values))
		}
	}
	id, _, code := t.client.newProducer()
	for _, given := range t.ledger.ids {
		if code != kafka.None || id == given {
			t.fails("P1", "producer id %d, %s, after %v", id, code, t.ledger.ids)
			break
		}
	}
	if code := t.client.create(anotherTopic); code != kafka.None {
		t.fails("L1", "a topic can not be created: %s", code)
	}
	return len(t.failed) == 0
}

// third is H1 and S9 for a node that has survived a crash: what it acknowledged afterwards survives a
// power loss that keeps nothing, as far as that was promised.
func (t *trial) third() {
	if !t.start() {
		return
	}
	for i, topic := range t.ledger.topics {
		if !t.stands(i) {
			return
		}
		if t.logs[i] == nil {
			continue
		}
		promised := t.logs[i].End
		if t.machine.Config.Broker.Topic.FlushMessages == 1 {
			promised++
		}
		log := readLog(t.machine.Disk, topic.name)
		if log.Problem != "" || log.End < promised {
			t.fails("H1", "%s ends at %d after another power loss, %d was promised: %s", topic.name,
				log.End, promised, log.Problem)
		}
	}
	if _, _, code := t.client.look(anotherTopic); code != kafka.None {
		t.fails("Q9", "%s is gone: %s", anotherTopic, code)
	}
}
