package metadata

import (
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// Beat is what a broker says of itself in a heartbeat.
type Beat struct {
	Broker       kafka.BrokerID
	Epoch        kafka.BrokerEpoch
	Index        Index // up to which it has applied the metadata log
	WantFence    bool
	WantShutdown bool
}

// BeatOutcome is what a broker is told.
type BeatOutcome struct {
	CaughtUp bool // it has applied its own registration
	Fenced   bool
	MayStop  bool // its shutdown may go on: nobody takes it for a leader any more
}

// CheckBroker says whether a request of a registered broker comes from its present life.
func CheckBroker(image *Image, id kafka.BrokerID, epoch kafka.BrokerEpoch) kafka.ErrorCode {
	b := image.Broker(id)
	switch {
	case b == nil:
		return kafka.BrokerIDNotRegistered
	case b.Epoch != epoch:
		return kafka.StaleBrokerEpoch
	}
	return kafka.None
}

// Heartbeat decides on a heartbeat, as Kafka's BrokerHeartbeatManager does. A fenced broker is
// unfenced when it wants to be and has applied the log up to its own registration, so that it acts on
// nothing older than itself. A broker that wants to shut down loses its leaderships first, and may
// stop when every active broker has applied the log up to there, so that no client is sent to it any
// more. seen returns up to where a broker has applied the log, as its last heartbeat said.
func Heartbeat(image *Image, beat *Beat, seen func(kafka.BrokerID) Index) (
	records []Record, out BeatOutcome, code kafka.ErrorCode,
) {
	if code := CheckBroker(image, beat.Broker, beat.Epoch); code != kafka.None {
		return nil, out, code
	}
	b := image.Broker(beat.Broker)
	out.CaughtUp = beat.Index >= Index(b.Epoch)
	switch {
	case b.Fenced && beat.WantShutdown:
		out.Fenced, out.MayStop = true, true
	case b.Fenced && !beat.WantFence && out.CaughtUp:
		records = unfence(image, b)
	case b.Fenced:
		out.Fenced = true
	case (b.Stopping() || beat.WantShutdown) && unnoticed(image, b, seen):
		out.Fenced, out.MayStop = true, true
	case b.Stopping():
	case beat.WantFence:
		out.Fenced = true
	case beat.WantShutdown:
		records = startShutdown(image, b)
	}
	if out.Fenced && !b.Fenced {
		records = FenceBrokers(image, []kafka.BrokerID{b.ID})
	}
	return records, out, kafka.None
}

// unfence makes a broker active again. Partitions without a leader get one if the broker may lead.
func unfence(image *Image, b *Broker) []Record {
	invariant.Sometimes(true, invariant.MarkBrokerUnfenced)
	e := event{active: activeBrokers(image, nil, b.ID)}
	return append([]Record{&BrokerStateRecord{ID: b.ID, Epoch: b.Epoch}}, e.records(image)...)
}

// startShutdown moves leadership away from a broker.
func startShutdown(image *Image, b *Broker) []Record {
	e := event{active: activeBrokers(image, []kafka.BrokerID{b.ID}, kafka.NoBroker)}
	state := &BrokerStateRecord{ID: b.ID, Epoch: b.Epoch, Stopping: true}
	return append([]Record{state}, e.records(image)...)
}

// unnoticed says whether no active broker lags behind the shutdown of b; true if b is alone.
func unnoticed(image *Image, b *Broker, seen func(kafka.BrokerID) Index) bool {
	lags := func(id kafka.BrokerID) bool { return !b.Stopping() || seen(id) < b.StoppingFrom }
	return !slices.ContainsFunc(activeBrokers(image, []kafka.BrokerID{b.ID}, kafka.NoBroker), lags)
}
