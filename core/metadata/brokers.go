package metadata

import (
	"bytes"
	"slices"

	"stet/core/invariant"
	"stet/core/kafka"
)

// Registration is a broker that wants to belong to the cluster.
type Registration struct {
	ClusterID string // that the broker knows; empty: none yet
	Broker    Broker // Epoch, Fenced and StoppingFrom are not read

	// PreviousEpoch is the epoch of the broker's former life if that ended cleanly and its replicas
	// hold all that they held; else -1.
	PreviousEpoch kafka.BrokerEpoch
}

// RegisterBroker decides on a registration. A process that is registered already keeps its epoch:
// then there are no records and epoch is valid. Otherwise the epoch is the index of the entry that
// the records become. A new life of a broker starts fenced, and what the former one led gets another
// leader, or none, with it. If the former life did not end cleanly, its replicas are taken out of ISR
// and ELR everywhere in the same entry (KIP-966).
//
// live says that the registered life of the broker has been heard of, by this controller, within the
// session timeout. Then another process with its id is refused, unless it has a directory of the
// registered one open: a directory is open in one process at a time, so the former one is gone, and
// its successor need not wait until its session is over.
func RegisterBroker(image *Image, r *Registration, live bool) (
	records []Record, epoch kafka.BrokerEpoch, code kafka.ErrorCode,
) {
	if r.ClusterID != "" && r.ClusterID != image.ClusterID() {
		return nil, -1, kafka.InconsistentClusterID
	}
	if r.Broker.ID < 0 || len(r.Broker.Endpoints) == 0 {
		return nil, -1, kafka.InvalidRegistration
	}
	if !Supports(r.Broker.Features, image.Features().Level) {
		invariant.Sometimes(true, invariant.MarkNodeOutdated)
		return nil, -1, kafka.UnsupportedVersion
	}
	old := image.Broker(r.Broker.ID)
	switch {
	case old != nil && old.Incarnation == r.Broker.Incarnation:
		return nil, old.Epoch, kafka.None
	case old != nil && live && !shareDirectory(old, &r.Broker):
		invariant.Sometimes(true, invariant.MarkBrokerDuplicate)
		return nil, -1, kafka.DuplicateBrokerRegistration
	}
	b := r.Broker
	b.Epoch, b.Fenced, b.StoppingFrom = brokerEpochFromIndex, true, 0
	slices.SortFunc(b.Directories, func(x, y DirectoryID) int { return bytes.Compare(x[:], y[:]) })
	e := event{
		active: activeBrokers(image, []kafka.BrokerID{b.ID}, kafka.NoBroker), damage: damageOf(old, r),
	}
	return append([]Record{&BrokerRecord{b}}, e.records(image)...), -1, kafka.None
}

func shareDirectory(a, b *Broker) bool {
	return slices.ContainsFunc(a.Directories, func(id DirectoryID) bool {
		return id != DirectoryID{} && slices.Contains(b.Directories, id)
	})
}

// damageOf tells what a broker lost since its former life, if one is known: everything, unless that
// ended cleanly; else what lay in directories that are gone (KIP-858). Where a replica without an
// assigned directory lay is not known, so the loss of any directory is one of all such replicas.
func damageOf(old *Broker, r *Registration) damage {
	d := damage{hit: true, broker: r.Broker.ID, rehome: true}
	if len(r.Broker.Directories) == 1 {
		d.home = r.Broker.Directories[0]
	}
	d.all = old == nil || r.PreviousEpoch != old.Epoch
	if invariant.CanaryUncleanStartAsClean.On() {
		d.all = old == nil
	}
	d.sound = slices.Clone(r.Broker.Directories)
	lost := func(id DirectoryID) bool { return !slices.Contains(r.Broker.Directories, id) }
	if old != nil && !slices.ContainsFunc(old.Directories, lost) {
		d.sound = append(d.sound, DirectoryID{})
	}
	return d
}

// FenceBrokers takes leadership and the place in every ISR from all these brokers at once. Those that
// are not registered, or fenced already, are passed over.
func FenceBrokers(image *Image, ids []kafka.BrokerID) []Record {
	if invariant.CanaryExpiredOneByOne.On() && len(ids) > 1 {
		return append(FenceBrokers(image, ids[:1]), FenceBrokers(image, ids[1:])...)
	}
	var records []Record
	for b := range image.Brokers() {
		if slices.Contains(ids, b.ID) && !b.Fenced {
			records = append(records, &BrokerStateRecord{ID: b.ID, Epoch: b.Epoch, Fenced: true})
		}
	}
	if len(records) == 0 {
		return nil
	}
	e := event{active: activeBrokers(image, ids, kafka.NoBroker)}
	return append(records, e.records(image)...)
}

// UnregisterBroker forgets a broker, alive or not. What its replicas hold can not be known any more
// when it comes back, so they leave ISR and ELR.
func UnregisterBroker(image *Image, id kafka.BrokerID) ([]Record, kafka.ErrorCode) {
	b := image.Broker(id)
	if b == nil {
		return nil, kafka.BrokerIDNotRegistered
	}
	e := event{
		active: activeBrokers(image, []kafka.BrokerID{id}, kafka.NoBroker),
		damage: damage{hit: true, broker: id, all: true},
	}
	return append(e.records(image), &BrokerRemovalRecord{id, b.Epoch}), kafka.None
}
