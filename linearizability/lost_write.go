package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkLostWrite is H1. A record of an acks=all send that was answered ok at an offset stands: the
// final committed log has exactly that value at exactly that offset.
//
// Source: Jepsen's lost-write; NoCommittedRecordLostGlobally of the KIP-966 specification.
// Cost: O(n), a look-up in the final log for each record.
//
// Traps. The promise ends where retention, DeleteRecords or compaction may have deleted, and where
// an excuse covers the offset; both come from the ghost, never from the replica under test, which
// could otherwise excuse itself. Sends with acks=0 and acks=1 are not under the promise.
func checkLostWrite(v *view, r *Report, _ Options) {
	for _, p := range v.partitions {
		for _, i := range p.sends {
			s := &v.history.Sends[i]
			if v.outcomes[i] != Ok || !s.mustSurvive() {
				continue
			}
			for k := range s.Records {
				v.judgeSurvival(p, r, i, k)
			}
		}
	}
}

func (v *view) judgeSurvival(p *partitionView, r *Report, send, record int) {
	became, _ := v.fateOf(p, send, record)
	switch became {
	case unjudged:
		r.count("unjudged", 1)
		return
	case deleted, excused:
		r.count("exempt", 1)
		return
	}
	r.checked("acknowledged", 1)
	if became != missing {
		return
	}
	offset := v.bases[send] + kafka.Offset(record)
	found := "nothing there"
	if got, ok := p.final.at[offset]; ok {
		found = describeRecord(got)
	}
	value := v.history.Sends[send].Records[record]
	p.fails(r, fmt.Sprintf("acknowledged value %s is not at offset %d", value, offset),
		describeSend(&v.history.Sends[send]), "final log: "+p.final.source, found)
}
