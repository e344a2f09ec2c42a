package invariant

import "sync/atomic"

// Mark is a coverage mark: a rare path that a campaign must have reached. Add a constant and its
// text; the text is the name that reports print.
type Mark uint8

const (
	MarkSegmentRoll Mark = iota
	MarkTornTailCut
	MarkRecoveryInterrupted
	MarkRecoveryFromSnapshot
	MarkCleanStart
	MarkLogFenced
	MarkLogReopened
	MarkDuplicateBatch
	MarkDuplicatePending
	MarkSequenceGap
	MarkFetchParked
	MarkFetchLocated
	MarkFetchFirstBatchOversized
	MarkSessionIncremental
	MarkSessionEvicted
	MarkProduceParked
	MarkTopicDeleted
	MarkRaftSnapshot
	MarkRaftTornTail
	MarkRaftRestarted
	MarkFileRested

	// From here on it takes several nodes.
	MarkRaftSnapshotInstalled
	MarkRaftTailReplaced
	MarkControllerFailover
	MarkVoterPromoted
	MarkVoterReplaced
	MarkBrokerFenced
	MarkBrokerUnfenced
	MarkBrokerDuplicate
	MarkBrokerDeparture
	MarkStrayRemoved
	MarkLevelRaised
	MarkLevelRefused
	MarkNodeOutdated
	MarkISRShrink
	MarkISRExpand
	MarkFollowerDiverges
	MarkFollowerTruncates
	MarkTruncatedBelowHighWatermark
	MarkBatchOfLeaderRefused
	MarkReplicaFetchInterrupted
	MarkReplicaSessionLost
	MarkLeaderMoved
	MarkLeaderResigned
	MarkFollowerOfFormerLife
	markCount
)

var markNames = [markCount]string{
	MarkSegmentRoll:                 "a segment is rolled",
	MarkTornTailCut:                 "recovery cuts a torn tail",
	MarkRecoveryInterrupted:         "recovery starts over an interrupted recovery",
	MarkRecoveryFromSnapshot:        "recovery loads a producer snapshot",
	MarkCleanStart:                  "a log opens after a clean stop",
	MarkLogFenced:                   "a log is fenced after a failed write or sync",
	MarkLogReopened:                 "a fenced log is recovered and serves again",
	MarkDuplicateBatch:              "a duplicate batch is answered with its first offset",
	MarkDuplicatePending:            "a duplicate arrives while its original is being written",
	MarkSequenceGap:                 "an out-of-order sequence is refused",
	MarkFetchParked:                 "a fetch waits for data",
	MarkFetchLocated:                "a fetch position is looked up in an index",
	MarkFetchFirstBatchOversized:    "a fetch returns one batch larger than its limit",
	MarkSessionIncremental:          "an incremental fetch session leaves a partition out",
	MarkSessionEvicted:              "a fetch session is evicted",
	MarkProduceParked:               "a produce waits for the high watermark",
	MarkTopicDeleted:                "a topic with data is deleted",
	MarkRaftSnapshot:                "a metadata snapshot replaces log entries",
	MarkRaftTornTail:                "recovery cuts a torn tail of the raft log",
	MarkRaftRestarted:               "the controller recovers after a failed write of its log",
	MarkRaftSnapshotInstalled:       "a snapshot of another voter replaces the metadata log",
	MarkRaftTailReplaced:            "a voter's divergent raft log tail is replaced",
	MarkControllerFailover:          "a controller leads after another one",
	MarkVoterPromoted:               "a learner becomes a voter of the quorum",
	MarkVoterReplaced:               "a voter takes the place of one whose directory was lost",
	MarkBrokerFenced:                "a broker is not heard of any more, and is fenced",
	MarkBrokerUnfenced:              "a broker is unfenced",
	MarkBrokerDuplicate:             "a second broker of a node id is refused",
	MarkBrokerDeparture:             "a broker leaves the cluster in order",
	MarkStrayRemoved:                "a replica of a topic that is gone is removed at a start",
	MarkLevelRaised:                 "the feature level of a cluster is raised",
	MarkLevelRefused:                "a feature level is refused that a node does not support",
	MarkNodeOutdated:                "a node is refused that does not support the feature level in force",
	MarkISRShrink:                   "a follower that lags is proposed to leave the ISR",
	MarkISRExpand:                   "a follower is proposed to join the ISR",
	MarkFollowerDiverges:            "a leader finds a follower's log to diverge",
	MarkFollowerTruncates:           "a follower lets its log go to truncate it",
	MarkTruncatedBelowHighWatermark: "a follower truncates below its high watermark",
	MarkBatchOfLeaderRefused:        "a follower refuses a batch of its leader",
	MarkReplicaFetchInterrupted:     "a follower's long poll is interrupted by more to ask",
	MarkReplicaSessionLost:          "a leader has lost a follower's fetch session",
	MarkLeaderMoved:                 "a leader that is followed has another address",
	MarkLeaderResigned:              "a leader whose log has failed gives the leadership up",
	MarkFollowerOfFormerLife:        "a follower's fetch is of a former life of its broker",
	MarkFileRested:                  "a file that rests is closed to make room for another",
}

var markHits [markCount]atomic.Uint64

// Sometimes counts one hit of the mark when cond holds.
func Sometimes(cond bool, m Mark) {
	if cond {
		markHits[m].Add(1)
	}
}

// MarkHits is the count of one mark in this process.
type MarkHits struct {
	Name  string
	Takes Takes
	Hits  uint64
}

// Takes says what it takes to reach a mark.
type Takes uint8

const (
	OneNode   Takes = iota
	ACluster        // several nodes
	Followers       // several replicas of a partition
	// Other is what no scenario has yet: bytes that change on the way, a machine that moves, unclean
	// elections that a topic opts in to, disks of leaders that fail.
	Other
)

func takes(m Mark) Takes {
	switch {
	case m == MarkBatchOfLeaderRefused, m == MarkLeaderMoved, m == MarkTruncatedBelowHighWatermark,
		m == MarkLeaderResigned:
		return Other
	case m >= MarkISRShrink:
		return Followers
	case m >= MarkRaftSnapshotInstalled:
		return ACluster
	}
	return OneNode
}

// Marks returns the counts of all marks since the process started or ResetMarks was called.
func Marks() []MarkHits {
	out := make([]MarkHits, markCount)
	for i := range out {
		out[i] = MarkHits{markNames[i], takes(Mark(i)), markHits[i].Load()}
	}
	return out
}

// ResetMarks sets every count to zero.
func ResetMarks() {
	for i := range markHits {
		markHits[i].Store(0)
	}
}
