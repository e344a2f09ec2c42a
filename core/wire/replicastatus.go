package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// ReplicaStatusRequest asks a broker, whether it leads or not, for the state of its replicas of a topic.
// It is Stet's own.
//
//	topic string, tags
type ReplicaStatusRequest struct {
	OwnVersion
	Topic string
}

// ReplicaStatusResponse is the answer.
//
//	errorCode int16, replicas [partition int32, state string, leading bool, cleanStart bool, leaderEpoch int32,
//	latestEpoch int32, logStart int64, logEnd int64, synced int64, highWatermark int64, tags], tags
type ReplicaStatusResponse struct {
	OwnVersion
	ErrorCode int16
	Replicas  []ReplicaStatus
}

// ReplicaStatus is what a broker says of one replica. Ends are exclusive, and -1 while the log is not open.
type ReplicaStatus struct {
	Partition   int32
	State       string // online, recovering, damaged, ...
	Leading     bool   // the broker takes itself for the leader
	CleanStart  bool   // the log was closed cleanly before it was opened
	LeaderEpoch int32  // the newest that the broker has heard of; -1: none
	LatestEpoch int32  // the newest in the log; -1: none

	LogStart, LogEnd, Synced, HighWatermark int64
}

const replicaStatusBytes = 72

var (
	_ kmsg.Request  = (*ReplicaStatusRequest)(nil)
	_ kmsg.Response = (*ReplicaStatusResponse)(nil)
)

// Key implements kmsg.Request.
func (*ReplicaStatusRequest) Key() int16 { return KeyReplicaStatus }

// ResponseKind implements kmsg.Request.
func (*ReplicaStatusRequest) ResponseKind() kmsg.Response { return new(ReplicaStatusResponse) }

// AppendTo implements kmsg.Request.
func (q *ReplicaStatusRequest) AppendTo(dst []byte) []byte {
	return append(appendText(dst, q.Topic, true), 0)
}

// ReadFrom implements kmsg.Request.
func (q *ReplicaStatusRequest) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) { q.Topic = string(r.text(true)) })
}

// Key implements kmsg.Response.
func (*ReplicaStatusResponse) Key() int16 { return KeyReplicaStatus }

// RequestKind implements kmsg.Response.
func (*ReplicaStatusResponse) RequestKind() kmsg.Request { return new(ReplicaStatusRequest) }

// AppendTo implements kmsg.Response.
func (q *ReplicaStatusResponse) AppendTo(dst []byte) []byte {
	dst = appendInt16(dst, q.ErrorCode)
	dst = appendLength(dst, len(q.Replicas), true)
	for i := range q.Replicas {
		s := &q.Replicas[i]
		dst = appendInt32(dst, s.Partition)
		dst = appendText(dst, s.State, true)
		dst = appendBool(appendBool(dst, s.Leading), s.CleanStart)
		dst = appendInt32(appendInt32(dst, s.LeaderEpoch), s.LatestEpoch)
		for _, offset := range []int64{s.LogStart, s.LogEnd, s.Synced, s.HighWatermark} {
			dst = appendInt64(dst, offset)
		}
		dst = append(dst, 0)
	}
	return append(dst, 0)
}

// ReadFrom implements kmsg.Response.
func (q *ReplicaStatusResponse) ReadFrom(src []byte) error {
	return readOwn(src, func(r *reader) {
		q.ErrorCode, q.Replicas = r.int16(), nil
		for n := r.list(true, replicaStatusBytes); n > 0 && r.ok(); n-- {
			s := ReplicaStatus{
				Partition: r.int32(), State: string(r.text(true)),
				Leading: r.int8() != 0, CleanStart: r.int8() != 0,
				LeaderEpoch: r.int32(), LatestEpoch: r.int32(),
				LogStart: r.int64(), LogEnd: r.int64(), Synced: r.int64(), HighWatermark: r.int64(),
			}
			r.skipTags(true)
			q.Replicas = append(q.Replicas, s)
		}
	})
}
