package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/sim"
)

// pack is three brokers with a replica each of one partition, of which two have to be in sync: broker
// 1 leads in epoch 0, and all have ten records, which are committed.
type pack struct {
	*found
	t        *testing.T
	ledger   *Ledger
	replicas *Replicas
	lost     []kafka.Offset
}

var packTopic = kafka.TopicID{7}

func newPack(t *testing.T) *pack {
	p := &pack{found: &found{checked: map[string]int{}}, t: t, ledger: newLedger(func() int64 { return 0 })}
	p.replicas = NewReplicas(p.found, p.ledger, "t", 1)
	p.replicas.Lost = func(_ kafka.PartitionID, from kafka.Offset) { p.lost = append(p.lost, from) }
	p.apply(&metadata.ClusterRecord{ID: "c", Features: metadata.Features{Level: metadata.LevelFirst}})
	for id := range kafka.BrokerID(3) {
		p.register(id + 1)
	}
	p.apply(&metadata.TopicRecord{
		ID: packTopic, Name: "t", Configs: []metadata.ConfigEntry{{Name: "min.insync.replicas", Value: "2"}},
	})
	p.apply(&metadata.PartitionRecord{TopicID: packTopic, Partition: metadata.Partition{
		Replicas: []kafka.BrokerID{1, 2, 3},
		Standing: metadata.Standing{ISR: []kafka.BrokerID{1, 2, 3}, Leader: 1, LastKnownLeader: kafka.NoBroker},
	}})
	for at := range sim.Place(3) {
		p.grow(at+1, 10, 0)
	}
	p.lead(1, 0, 10)
	p.seen(2)
	p.seen(3)
	require.Empty(t, p.texts)
	for _, check := range []string{"R1", "R2", "R3", "R4", "R5", "R8", "R10"} {
		require.Positive(t, p.checked[check], check)
	}
	return p
}

// apply commits an entry with a record.
func (p *pack) apply(record metadata.Record) {
	index := p.ledger.Last().Index + 1
	before := p.replicas.image()
	image, err := before.Apply(metadata.Index(index), record)
	require.NoError(p.t, err)
	p.ledger.entries = append(p.ledger.entries, Committed{Entry: quorum.Entry{Index: index, Term: 1}, Image: image})
	p.replicas.Changed(before, image)
}

func (p *pack) register(id kafka.BrokerID) {
	p.apply(&metadata.BrokerRecord{Broker: metadata.Broker{ID: id, Epoch: -1}})
}

// stand changes who leads and who is in sync, with a leader epoch of its own.
func (p *pack) stand(s metadata.Standing) {
	if s.Leader != kafka.NoBroker {
		s.LastKnownLeader = kafka.NoBroker
	}
	p.apply(&metadata.PartitionChangesRecord{
		TopicID: packTopic, Changes: []metadata.PartitionUpdate{{NewEpoch: true, Standing: s}},
	})
}

func (p *pack) at(place sim.Place) *Replica {
	r := p.replicas.At(0, place)
	r.Online = true
	return r
}

// grow has a replica end at an offset, its new records in an epoch and of a kind.
func (p *pack) grow(place sim.Place, end kafka.Offset, epoch kafka.LeaderEpoch) {
	c := &p.at(place).Log
	if epoch != c.lastEpoch() && end > c.End() {
		c.epochs = append(c.epochs, commitlog.EpochEntry{Epoch: epoch, Start: c.End()})
	}
	for c.End() < end {
		before := uint64(1)
		if c.End() > 0 {
			before = c.hashes[c.End()-1]
		}
		c.hashes = append(c.hashes, mix(before, uint64(epoch)))
	}
	p.at(place).Synced = end
}

// shorten has a replica lose what is behind an end, as if it had always been so.
func (p *pack) shorten(place sim.Place, end kafka.Offset) {
	c := &p.at(place).Log
	c.hashes = append([]uint64(nil), c.hashes[:end]...)
	p.at(place).HighWatermark = min(p.at(place).HighWatermark, end)
}

func (p *pack) seen(place sim.Place) { p.replicas.Seen(0, p.at(place)) }

// lead shows a leader with the ISR of the controller.
func (p *pack) lead(place sim.Place, epoch kafka.LeaderEpoch, high kafka.Offset) {
	_, part := p.replicas.partition(0)
	r := p.at(place)
	r.Leads, r.Epoch, r.HighWatermark = true, epoch, high
	r.ISR, r.MaximalISR, r.PartitionEpoch = part.ISR, part.ISR, part.Epoch
	p.seen(place)
}

// fires expects these checks to have failed, and no other.
func (p *pack) fires(checks ...string) {
	p.t.Helper()
	require.Equal(p.t, checks, p.failed, "%v", p.texts)
}

func TestLogsThatDifferInAnEpochFireR1(t *testing.T) {
	p := newPack(t)
	p.grow(1, 11, 0)
	p.seen(1)
	p.grow(2, 12, 0)
	p.at(2).Log.hashes[10] = 1
	p.seen(2)
	p.fires("R1")
}

func TestAReplicaThatDiffersBelowItsHighWatermarkFiresR1(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	r := p.at(3)
	r.HighWatermark, r.Log.hashes = 10, append([]uint64(nil), r.Log.hashes...)
	r.Log.hashes[9] = 1
	p.seen(3)
	p.fires("R1")
}

func TestALeaderWithoutWhatIsCommittedFiresR2(t *testing.T) {
	p := newPack(t)
	p.shorten(2, 8)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{2}, ELR: []kafka.BrokerID{3}, Leader: 2})
	p.lost = nil
	p.failed = nil
	p.lead(2, 1, 8)
	p.lead(2, 1, 8)
	require.NotContains(t, p.failed, "R2", "what is gone is reported once")

	p = newPack(t)
	p.at(2).Online = false
	p.seen(2)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{2}, ELR: []kafka.BrokerID{3}, Leader: 2})
	p.shorten(2, 8)
	p.lead(2, 1, 8)
	p.fires("R2")
	require.Equal(t, []kafka.Offset{8}, p.lost)
}

func TestACandidateWithoutWhatIsCommittedFiresR3(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1}, ELR: []kafka.BrokerID{2}, Leader: 1})
	require.Empty(t, p.texts)
	p.shorten(2, 9)
	p.seen(2)
	p.fires("R3")
}

func TestAReplicaThatJoinsWithoutWhatIsCommittedFiresR3(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	p.shorten(3, 9)
	p.seen(3)
	require.Empty(t, p.texts)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2, 3}, Leader: 1})
	p.fires("R3")
}

func TestALeaderThatDoesNotWaitForTheISRFiresR4(t *testing.T) {
	p := newPack(t)
	p.at(1).ISR, p.at(1).MaximalISR = []kafka.BrokerID{1, 2}, []kafka.BrokerID{1, 2}
	p.at(1).Pending = true
	p.seen(1)
	p.fires("R4")
}

func TestALeaderWithAnISROfItsOwnFiresR4(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	p.lead(1, 1, 10)
	require.Empty(t, p.texts)
	p.at(1).ISR, p.at(1).MaximalISR = []kafka.BrokerID{1, 2, 3}, []kafka.BrokerID{1, 2, 3}
	p.seen(1)
	p.fires("R4")
}

func TestACommitThatAMemberOfTheISRDoesNotHaveFiresR5(t *testing.T) {
	p := newPack(t)
	p.grow(1, 12, 0)
	p.grow(2, 12, 0)
	p.lead(1, 0, 12)
	// And with it R3: the member would be a leader without it.
	require.Contains(t, p.failed, "R5", "%v", p.texts)
	require.NotContains(t, p.failed, "R10")
}

func TestAHighWatermarkAboveWhatIsCommittedFiresR5(t *testing.T) {
	p := newPack(t)
	p.grow(1, 12, 0)
	p.lead(1, 0, 10)
	p.grow(2, 12, 0)
	p.at(2).HighWatermark = 12
	p.seen(2)
	p.fires("R5")
}

func TestADamagedReplicaThatStandsAfterARestartFiresR6(t *testing.T) {
	p := newPack(t)
	p.replicas.Damaged(0, 3, 4)
	require.EqualValues(t, 1, p.replicas.Counts.Damages)
	p.register(3)
	p.fires("R6")
}

func TestADamagedReplicaMayStandWhenItHasCaughtUp(t *testing.T) {
	p := newPack(t)
	p.replicas.Damaged(0, 3, 4)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	p.register(3)
	p.at(3).Life++
	p.shorten(3, 4)
	p.seen(3)
	p.grow(3, 10, 0)
	p.seen(3)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2, 3}, Leader: 1})
	require.Empty(t, p.texts)
	require.Positive(t, p.checked["R6"])
}

func TestTwoLeadersOfAnEpochFireR8(t *testing.T) {
	p := newPack(t)
	p.lead(2, 0, 10)
	p.fires("R8")
}

func TestAnEpochThatGoesBackFiresR8(t *testing.T) {
	p := newPack(t)
	p.at(2).Epoch = 4
	p.seen(2)
	p.at(2).Epoch = 3
	p.seen(2)
	p.fires("R8")
}

func TestACommitThatTooFewHaveFiresR10(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1}, ELR: []kafka.BrokerID{2}, Leader: 1})
	p.grow(1, 12, 1)
	p.lead(1, 1, 12)
	require.Contains(t, p.failed, "R10", "%v", p.texts)
	require.NotContains(t, p.failed, "R5")
}

func TestInFlushModeACommitThatTooFewHaveSyncedFiresR10(t *testing.T) {
	p := newPack(t)
	p.replicas.Flush = true
	for at := range sim.Place(3) {
		p.grow(at+1, 12, 0)
		p.at(at + 1).Synced = 10
	}
	p.lead(1, 0, 12)
	p.fires("R10")
}

func TestEpochsThatTheRecordsDoNotSayFireR11(t *testing.T) {
	p := newPack(t)
	p.at(2).Epochs = []commitlog.EpochEntry{{Epoch: 0, Start: 0}}
	p.seen(2)
	require.Empty(t, p.texts)
	p.at(2).Epochs = []commitlog.EpochEntry{{Epoch: 0, Start: 1}}
	p.seen(2)
	p.fires("R11")
}

func TestALossThatThePromiseDoesNotCoverIsNoFailure(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	for _, at := range []sim.Place{1, 2} {
		p.at(at).Online = false
		p.seen(at)
		p.replicas.Damaged(0, at, 8)
	}
	p.stand(metadata.Standing{Leader: kafka.NoBroker, LastKnownLeader: 1})
	p.register(1)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1}, Leader: 1, Recovering: true})
	p.at(1).Life++
	p.shorten(1, 8)
	p.lead(1, 3, 8)
	require.Empty(t, p.texts)
	require.Equal(t, []kafka.Offset{8}, p.lost)
	require.EqualValues(t, 8, p.replicas.CommittedEnd(0))
}

func TestALossOfMoreThanTheDamageFiresR2(t *testing.T) {
	p := newPack(t)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1, 2}, Leader: 1})
	for _, at := range []sim.Place{1, 2} {
		p.at(at).Online = false
		p.seen(at)
		p.replicas.Damaged(0, at, 8)
	}
	p.stand(metadata.Standing{Leader: kafka.NoBroker, LastKnownLeader: 1})
	p.register(1)
	p.stand(metadata.Standing{ISR: []kafka.BrokerID{1}, Leader: 1, Recovering: true})
	p.at(1).Life++
	p.shorten(1, 7)
	p.lead(1, 3, 7)
	p.fires("R2")
}

func TestALeaderMayCommitAndResignInOneTurn(t *testing.T) {
	p := newPack(t)
	for at := range sim.Place(3) {
		p.grow(at+1, 12, 0)
	}
	p.at(1).HighWatermark, p.at(1).Leads, p.at(1).Epoch = 12, false, 1
	p.seen(1)
	require.Empty(t, p.texts)
	require.EqualValues(t, 12, p.replicas.CommittedEnd(0))
	p.at(1).HighWatermark = 13
	p.grow(1, 13, 0)
	p.seen(1)
	p.fires("R5")
}
