package broker

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/partition"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// alterPartition has the active controller change the ISRs of what this broker leads (AlterPartition,
// key 56). One request is under way at a time, with everything that has come up meanwhile in the next.
// What becomes of a request that is lost is not known, and the replicas propose again.
type alterPartition struct {
	waiting []alteration // in the order in which they came up
	under   []alteration // in the request that is under way
	pause   timer        // after a refusal
}

// alteration is the ISR that a replica proposes.
type alteration struct {
	replica  *hosted
	proposal partition.ISRProposal
}

const alterPartitionVersion = 3

// take queues what a replica proposes, in the place of what it has proposed before.
func (a *alterPartition) take(b *Broker, r *hosted) {
	proposal, ok := r.TakeProposal()
	if !ok {
		proposal, ok = r.resignation(b)
	}
	if !ok {
		return
	}
	if r.altering > 0 {
		a.waiting[r.altering-1].proposal = proposal
		return
	}
	a.waiting = append(a.waiting, alteration{r, proposal})
	r.altering = len(a.waiting)
}

// pump sends what waits.
func (a *alterPartition) pump(b *Broker) {
	if len(a.waiting) == 0 || len(a.under) > 0 || a.pause.place != 0 || !b.link.up() ||
		!b.register.caughtUp || b.phase != phaseRunning {
		return
	}
	a.under, a.waiting = a.waiting, nil
	m := kmsg.NewPtrAlterPartitionRequest()
	m.Version = alterPartitionVersion
	m.BrokerID, m.BrokerEpoch = int32(b.config.NodeID), int64(b.register.epoch)
	for i := range a.under {
		a.under[i].replica.altering = 0
		a.under[i].appendTo(m)
	}
	b.Metrics.ISRProposals += int64(len(a.under))
	b.link.send(b, m, a)
}

// appendTo adds an alteration, those of one topic together as far as they follow each other.
func (w *alteration) appendTo(m *kmsg.AlterPartitionRequest) {
	if n := len(m.Topics); n == 0 || m.Topics[n-1].TopicID != w.replica.TopicID {
		m.Topics = append(m.Topics, kmsg.AlterPartitionRequestTopic{TopicID: w.replica.TopicID})
	}
	topic := &m.Topics[len(m.Topics)-1]
	p := kmsg.NewAlterPartitionRequestTopicPartition()
	p.Partition = int32(w.replica.Partition)
	p.LeaderEpoch, p.PartitionEpoch = int32(w.proposal.LeaderEpoch), int32(w.proposal.PartitionEpoch)
	for _, member := range w.proposal.ISR {
		p.NewEpochISR = append(p.NewEpochISR, kmsg.AlterPartitionRequestTopicPartitionNewEpochISR{
			BrokerID: int32(member.Broker), BrokerEpoch: int64(member.Epoch),
		})
	}
	if w.proposal.Recovering { // KIP-704
		p.LeaderRecoveryState = 1
	}
	topic.Partitions = append(topic.Partitions, p)
}

func (a *alterPartition) answered(b *Broker, res any, err env.Errno) {
	under := a.under
	a.under = nil
	m, ok := res.(*kmsg.AlterPartitionResponse)
	code := kafka.NetworkException
	if err == env.OK && ok {
		code = kafka.ErrorCode(m.ErrorCode)
	}
	switch code {
	case kafka.None:
		b.link.worked()
	case kafka.NotController:
		b.link.leadsNot(b, kafka.NoBroker)
	}
	refused := code != kafka.None
	var altered map[hostKey]*kmsg.AlterPartitionResponseTopicPartition
	if !refused {
		altered = alteredPartitions(m)
	}
	for i := range under {
		answer := under[i].answer(altered)
		refused = refused || answer.Code != kafka.None && answer.Code != kafka.NewLeaderElected
		r := under[i].replica
		r.ProposalAnswered(answer, b.out)
		r.resignationAnswered(answer.Code)
		b.afterReplica(r)
	}
	if refused { // the metadata that explain it are on their way
		b.timers.set(&a.pause, b.now.Mono.Add(linkPause), a)
	}
}

// due goes on when the turn ends.
func (*alterPartition) due(*Broker) {}

// alteredPartitions lists what an answer says.
func alteredPartitions(m *kmsg.AlterPartitionResponse) map[hostKey]*kmsg.AlterPartitionResponseTopicPartition {
	out := map[hostKey]*kmsg.AlterPartitionResponseTopicPartition{}
	for i := range m.Topics {
		for j := range m.Topics[i].Partitions {
			p := &m.Topics[i].Partitions[j]
			out[hostKey{m.Topics[i].TopidID, kafka.PartitionID(p.Partition)}] = p // kmsg spells it so
		}
	}
	return out
}

// answer tells what became of an alteration. Without a word of it nothing is known.
func (w *alteration) answer(
	altered map[hostKey]*kmsg.AlterPartitionResponseTopicPartition,
) partition.ISRAnswer {
	out := partition.ISRAnswer{
		Proposal: partition.ISRVersion{
			LeaderEpoch: w.proposal.LeaderEpoch, PartitionEpoch: w.proposal.PartitionEpoch,
		},
		Code: kafka.NetworkException,
	}
	p := altered[hostKey{w.replica.TopicID, w.replica.Partition}]
	if p == nil {
		return out
	}
	out.Code = kafka.ErrorCode(p.ErrorCode)
	out.LeaderEpoch = kafka.LeaderEpoch(p.LeaderEpoch)
	out.PartitionEpoch = kafka.PartitionEpoch(p.PartitionEpoch)
	for _, id := range p.ISR {
		out.ISR = append(out.ISR, kafka.BrokerID(id))
	}
	return out
}
