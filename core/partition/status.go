package partition

import "stet/core/kafka"

// Status is what a replica says of itself to whoever looks after a cluster. Ends are exclusive, and
// kafka.NoOffset while the log is not open.
type Status struct {
	State       State
	Leading     bool
	CleanStart  bool              // the log was closed cleanly before it was opened
	LeaderEpoch kafka.LeaderEpoch // the newest that the metadata have told of
	LatestEpoch kafka.LeaderEpoch // the newest in the log

	LogStart, LogEnd, Synced, HighWatermark kafka.Offset
}

// Status returns the replica's state.
func (r *Replica) Status() Status {
	s := Status{
		State: r.state, Leading: r.Leading(), CleanStart: r.cleanStart,
		LeaderEpoch: r.told, LatestEpoch: kafka.NoLeaderEpoch,
		LogStart: kafka.NoOffset, LogEnd: kafka.NoOffset, Synced: kafka.NoOffset,
		HighWatermark: kafka.NoOffset,
	}
	if r.log != nil {
		s.LatestEpoch, s.LogStart = r.log.LatestEpoch(), r.log.LogStartOffset()
		s.LogEnd, s.Synced, s.HighWatermark = r.log.Written(), r.log.Synced(), r.highWatermark
	}
	return s
}

// EndOfEpoch answers a consumer that looks whether its position is still in the log (KIP-320): the
// largest epoch up to the one that it asks for, and where that ends. current is the epoch that it
// believes in, or kafka.NoLeaderEpoch.
func (r *Replica) EndOfEpoch(epoch, current kafka.LeaderEpoch) (Divergence, kafka.ErrorCode) {
	if code := r.servesAt(current); code != kafka.None {
		return NoDivergence(), code
	}
	found, end := r.log.EndOffsetFor(epoch)
	return Divergence{found, end}, kafka.None
}
