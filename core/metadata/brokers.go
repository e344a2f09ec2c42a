package metadata

import (
	"bytes"
	"math"
	"slices"

	"stet/core/kafka"
)

// Registration is a broker that wants to belong to the cluster.
type Registration struct {
	ClusterID string // that the broker knows; empty: none yet
	Broker    Broker // Epoch and Fenced are not read
}

// RegisterBroker decides on a registration. A process that is registered already keeps its epoch:
// then there are no records and epoch is valid. Otherwise the epoch is the index of the entry that
// the records become. A new life of a broker starts fenced, and the leader epochs of what it leads
// are bumped with it.
func RegisterBroker(image *Image, r *Registration) (
	records []Record, epoch kafka.BrokerEpoch, code kafka.ErrorCode,
) {
	if r.ClusterID != "" && r.ClusterID != image.ClusterID() {
		return nil, -1, kafka.InconsistentClusterID
	}
	if r.Broker.ID < 0 || len(r.Broker.Endpoints) == 0 {
		return nil, -1, kafka.InvalidRegistration
	}
	old := image.Broker(r.Broker.ID)
	if old != nil && old.Incarnation == r.Broker.Incarnation {
		return nil, old.Epoch, kafka.None
	}
	b := r.Broker
	b.Epoch, b.Fenced = brokerEpochFromIndex, true
	slices.SortFunc(b.Directories, func(x, y DirectoryID) int { return bytes.Compare(x[:], y[:]) })
	records = []Record{&BrokerRecord{b}}
	if old != nil {
		records = append(records, &LeaderEpochsRecord{b.ID})
	}
	return records, -1, kafka.None
}

// Beat is what a broker says of itself in a heartbeat.
type Beat struct {
	Broker    kafka.BrokerID
	Epoch     kafka.BrokerEpoch
	Index     Index // up to which it has applied the metadata log
	WantFence bool
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

// Heartbeat decides on a heartbeat. A fenced broker is unfenced when it wants to be and has applied
// the log up to its own registration, so that it acts on nothing older than itself.
func Heartbeat(image *Image, beat *Beat) (records []Record, code kafka.ErrorCode) {
	if code := CheckBroker(image, beat.Broker, beat.Epoch); code != kafka.None {
		return nil, code
	}
	b := image.Broker(beat.Broker)
	caughtUp := beat.Index >= Index(b.Epoch)
	if b.Fenced && !beat.WantFence && caughtUp {
		return []Record{&BrokerFenceRecord{b.ID, b.Epoch, false}}, kafka.None
	}
	return nil, kafka.None
}

// AllocateProducerIDs gives the next block of producer ids to a broker. No id is given twice.
func AllocateProducerIDs(image *Image, broker kafka.BrokerID, epoch kafka.BrokerEpoch) (
	records []Record, block ProducerIDBlock, code kafka.ErrorCode,
) {
	if code := CheckBroker(image, broker, epoch); code != kafka.None {
		return nil, block, code
	}
	first := image.NextProducerID()
	if first > math.MaxInt64-ProducerIDBlockSize {
		return nil, block, kafka.UnknownServerError
	}
	block = ProducerIDBlock{first, ProducerIDBlockSize}
	return []Record{&ProducerIDsRecord{first + ProducerIDBlockSize, broker, epoch}}, block, kafka.None
}
