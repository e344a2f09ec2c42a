package scenarios

import (
	"strings"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/linearizability"
	"stet/scenarios/schedule"
	"stet/scenarios/storedlog"
	"stet/sim/client"
)

// dump turns a log into the dump of its replica.
func dump(step linearizability.Step, p kafka.PartitionID, of kafka.BrokerID, leads bool, log *storedlog.Log,
	high kafka.Offset,
) linearizability.Dump {
	d := linearizability.Dump{
		Partition: partitionOf(p), Replica: of, Step: step, Leader: leads,
		HighWatermark: high, LogEnd: log.End,
	}
	var scratch record.Scratch
	for _, b := range log.Batches {
		scratch.Records(b.View, 64<<20, func(r record.Record) bool {
			d.Records = append(d.Records, linearizability.Observed{
				Offset: r.Offset,
				Value:  linearizability.ParseValue(r.Value), Timestamp: r.Timestamp,
			})
			return true
		})
	}
	return d
}

// checkStopped is S5 after a clean stop: with the marker, everything is durable, and a start that
// believes it finds what a scan finds.
func (m *monitor) checkStopped() {
	m.checked("S5")
	disk := m.machine.Disk
	if _, ok := disk.DurableBytes(env.Path{Name: commitlog.CleanMarkerName}); !ok {
		m.fails("S5", "no clean marker after a clean stop")
		return
	}
	for _, name := range disk.UnsyncedFiles(0) {
		if p, ok := logOf(env.Path{Name: name}); ok && !m.partitions[p].rotten {
			m.fails("S5", "%s is not durable after a clean stop", name)
		}
	}
	for i := range m.plan.Topic.Partitions {
		p := partitionID(i)
		scan := m.newWorkshop().recover(m.recovery(p, false), 0)
		clean := m.newWorkshop().recover(m.recovery(p, true), 0)
		if scan == nil || !scan.Usable() {
			m.fails("S5", "%s: not usable after a clean stop: %+v", topicPartition(p), scan)
			continue
		}
		m.sameState("S5", p, scan, clean, "started cleanly")
	}
}

// judgeTroubles judges what clients were told and should not have been. P4 is the part of
// idempotence that restarts threaten: a broker that lost nothing refuses no retry.
func (r *stage) judgeTroubles(of *recorder, p *schedule.Schedule) {
	r.findings.checked("P4")
	lossy := len(of.history.Excuses) > 0
	for _, t := range of.troubles {
		switch {
		case strings.HasPrefix(t, client.TroubleWrap):
			if !lossy && !gaveUp(p) {
				r.findings.fails("P2", "%s, although nothing was lost", t)
			}
		case strings.HasPrefix(t, client.TroubleSequence):
			if !lossy && !gaveUp(p) {
				r.findings.fails("P4", "%s, although nothing was lost", t)
			}
		default:
			r.findings.fails("H10", "%s", t)
		}
	}
}

// gaveUp says whether an idempotent producer may have given up a batch.
func gaveUp(p *schedule.Schedule) bool {
	for i := range p.Producers {
		if p.Producers[i].Idempotent && p.Producers[i].GiveUp < healTime/4 {
			return true
		}
	}
	return false
}
