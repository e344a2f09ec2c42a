package linearizability

import (
	"fmt"

	"stet/core/kafka"
)

// checkUnseen is H12. After heal and quiesce, fresh consumers that read every partition from its
// start are shown every record that was acknowledged to an acks=all send.
//
// Source: Jepsen's unseen. Cost: O(n).
//
// Traps. The exemptions are those of H1, deleted legally or excused, and a partition that rightly
// refuses to serve (PartitionInfo.Refused). Unlike H1 this check needs
// no dump, so it judges a live cluster; and it sees what H1 can not, a log that has the records
// and does not serve them. A partition with acknowledged records that nobody read at the end is
// a violation too: it does not serve, or the scenario is not finished.
func checkUnseen(v *view, r *Report, _ Options) {
	if !v.hasFinalRead() {
		return
	}
	for _, p := range v.partitions {
		seen, polls := map[Value]bool{}, 0
		for _, i := range p.polls {
			poll := &v.history.Polls[i]
			if !poll.Final || poll.Return == 0 || poll.Code != kafka.None {
				continue
			}
			polls++
			for _, record := range poll.Records {
				seen[record.Value] = true
			}
		}
		for _, i := range p.sends {
			v.judgeUnseen(p, r, seen, polls, i)
		}
	}
}

func (v *view) hasFinalRead() bool {
	for i := range v.history.Polls {
		if v.history.Polls[i].Final {
			return true
		}
	}
	return false
}

func (v *view) judgeUnseen(
	p *partitionView, r *Report, seen map[Value]bool, polls, send int,
) {
	s := &v.history.Sends[send]
	if v.outcomes[send] != Ok || !s.mustSurvive() {
		return
	}
	for k, value := range s.Records {
		became, _ := v.fateOf(p, send, k)
		if became == deleted || became == excused || p.info.Refused {
			r.count("exempt", 1)
			continue
		}
		r.checked("acknowledged", 1)
		if !seen[value] {
			p.fails(r, fmt.Sprintf("acknowledged value %s is in none of the %d final polls",
				value, polls), describeSend(s))
		}
	}
}
