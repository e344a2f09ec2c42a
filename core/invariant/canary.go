package invariant

// Canary is a historical bug that a build with the canary tag can put back by name. Each is one
// guarded line in the code. In a production build On is constant false and nothing can be set.
type Canary uint8

const (
	CanaryTruncatesToHighWatermark Canary = iota // 1
	CanaryEndOfAnotherEpoch                      // 2
	CanaryEpochWithoutStart                      // 3
	CanaryCommittedISROnly                       // 4
	CanaryJoinsBelowEpochStart                   // 5
	CanaryAnyEpochFetches                        // 6
	CanarySessionForgetsEpoch                    // 7
	CanaryDivergedCounts                         // 8
	CanaryHighWatermarkFirst                     // 9
	CanaryBrokerEpochIgnored                     // 10
	CanaryEpochReadLate                          // 11
	CanaryLastReplicaStands                      // 12
	CanaryUncleanStartAsClean                    // 13
	CanaryCommitsUnderMinISR                     // 14
	CanaryFencedInSync                           // 15
	CanaryFollowerStateKept                      // 16
	CanaryAckOfAnotherEpoch                      // 17
	CanarySameLeaderTrusted                      // 18
	CanaryEpochsNotCut                           // 19
	CanaryProposedOnce                           // 20
	CanaryEpochZeroForgotten                     // 21
	CanaryEpochForgottenWhenIdle                 // 22
	CanaryResetKeepsHighWatermark                // 23
	CanaryFollowerTakesAnything                  // 24
	CanaryRaftGhostTail                          // 31
	CanaryRaftAckBeforeSync                      // 32
	CanaryRaftVoteLost                           // 33
	CanaryLeadsBeforeOwnTerm                     // 34
	CanaryRaftAloneBeforeSync                    // 35
	CanaryAppliedApart                           // 36
	CanaryReadProofReused                        // 37
	CanaryExpiredOneByOne                        // 38
	CanaryStandbySkipsRecord                     // 39
	CanarySnapshotOffByOne                       // 40
	CanaryPublishedByAnyone                      // 41
	CanaryNoCheckQuorum                          // 42
	CanaryStraysOfHalfAnImage                    // 43
	CanaryReplicaByName                          // 44
	CanarySkipDirSync                            // 46
	CanaryRecoveryPointEarly                     // 48
	CanaryCorruptMiddleIsTheEnd                  // 49
	CanaryAppendAfterFailedSync                  // 50
	CanaryShortWriteAsSuccess                    // 51
	CanaryEndAfterIndex                          // 53
	CanaryAckBeforeSync                          // 57
	CanaryProducerBeforeWrite                    // 61
	CanaryDuplicateAckedEarly                    // 65
	CanarySequenceWrap                           // 67
	CanaryWriteAfterTruncate                     // law of effects
	canaryCount
)

// CanaryInfo describes a canary: the number and name by which it is chosen, and its source.
type CanaryInfo struct {
	ID     string
	Name   string
	Source string
}

var canaryInfos = [canaryCount]CanaryInfo{
	CanaryTruncatesToHighWatermark: {"1", "truncates-to-high-watermark", "KIP-101, KAFKA-1211"},
	CanaryEndOfAnotherEpoch:        {"2", "truncates-to-end-of-another-epoch", "KIP-279, KAFKA-6361"},
	CanaryEpochWithoutStart:        {"3", "leads-without-epoch-start", "KAFKA-7415"},
	CanaryCommittedISROnly:         {"4", "high-watermark-over-committed-isr", "KIP-497"},
	CanaryJoinsBelowEpochStart:     {"5", "joins-isr-below-epoch-start", "KAFKA-7128"},
	CanaryAnyEpochFetches:          {"6", "fetch-of-any-leader-epoch", "KIP-320"},
	CanarySessionForgetsEpoch:      {"7", "session-forgets-epoch", "KAFKA-9338"},
	CanaryDivergedCounts:           {"8", "diverged-fetch-counts", "KAFKA-13141"},
	CanaryHighWatermarkFirst:       {"9", "high-watermark-before-truncation", "KAFKA-14704"},
	CanaryBrokerEpochIgnored:       {"10", "broker-epoch-ignored", "KIP-903, KAFKA-14617"},
	CanaryEpochReadLate:            {"11", "broker-epoch-read-late", "KAFKA-15221"},
	CanaryLastReplicaStands:        {"12", "last-replica-stands", "KIP-966"},
	CanaryUncleanStartAsClean:      {"13", "unclean-start-as-clean", "KAFKA-18635, KAFKA-15586"},
	CanaryCommitsUnderMinISR:       {"14", "commits-under-min-isr", "KAFKA-15583"},
	CanaryFencedInSync:             {"15", "fenced-replica-in-sync", "KIP-841, KAFKA-13916"},
	CanaryFollowerStateKept:        {"16", "follower-state-outlives-epoch", "KIP-497, specification 6.5.4"},
	CanaryAckOfAnotherEpoch:        {"17", "acknowledged-by-another-epoch", "own"},
	CanarySameLeaderTrusted:        {"18", "same-leader-is-trusted", "KAFKA-7164"},
	CanaryEpochsNotCut:             {"19", "epochs-are-not-cut-at-the-end", "KAFKA-10706"},
	CanaryProposedOnce:             {"20", "isr-is-proposed-once", "KAFKA-12686, KAFKA-12751, KAFKA-13091"},
	CanaryEpochZeroForgotten:       {"21", "epoch-zero-is-forgotten", "KAFKA-10432"},
	CanaryEpochForgottenWhenIdle:   {"22", "epoch-forgotten-when-idle", "KAFKA-15510"},
	CanaryResetKeepsHighWatermark:  {"23", "reset-keeps-high-watermark", "KAFKA-9491"},
	CanaryFollowerTakesAnything:    {"24", "follower-takes-anything", "KAFKA-18723"},
	CanaryRaftGhostTail:            {"31", "replay-keeps-a-ghost-tail", "etcd #22442"},
	CanaryRaftAckBeforeSync:        {"32", "raft-acknowledges-before-sync", "KAFKA-10533"},
	CanaryRaftVoteLost:             {"33", "snapshot-loses-the-vote", "raft, CockroachDB #24854"},
	CanaryLeadsBeforeOwnTerm:       {"34", "leads-before-its-own-term", "KAFKA-12619, Raft figure 8"},
	CanaryRaftAloneBeforeSync:      {"35", "alone-applies-before-sync", "etcd #14370"},
	CanaryAppliedApart:             {"36", "applied-index-apart-from-state", "etcd #13766"},
	CanaryReadProofReused:          {"37", "proof-of-leadership-reused", "etcd #20418"},
	CanaryExpiredOneByOne:          {"38", "expired-sessions-one-by-one", "KAFKA-13173"},
	CanaryStandbySkipsRecord:       {"39", "standby-skips-a-record", "KAFKA-14275, KAFKA-14203, KAFKA-13104"},
	CanarySnapshotOffByOne:         {"40", "snapshot-index-off-by-one", "KAFKA-14618, KAFKA-14238"},
	CanaryPublishedByAnyone:        {"41", "metadata-published-before-lead", "KAFKA-14857, KAFKA-15345"},
	CanaryNoCheckQuorum:            {"42", "no-check-quorum", "KAFKA-15489, etcd #8243"},
	CanaryStraysOfHalfAnImage:      {"43", "strays-by-half-an-image", "NATS #7556, #4410, #6188, #5382"},
	CanaryReplicaByName:            {"44", "replica-matched-by-name", "KAFKA-14616, KIP-516"},
	CanarySkipDirSync:              {"46", "skip-directory-sync", "KAFKA-3968, etcd #6368"},
	CanaryRecoveryPointEarly:       {"48", "recovery-point-before-sync", "KAFKA-10101"},
	CanaryCorruptMiddleIsTheEnd:    {"49", "corrupt-middle-is-the-end", "NATS #7549, BookKeeper #2908"},
	CanaryAppendAfterFailedSync:    {"50", "append-after-failed-sync", "KAFKA-10778, fsyncgate"},
	CanaryShortWriteAsSuccess:      {"51", "short-write-as-success", "KAFKA-17181"},
	CanaryEndAfterIndex:            {"53", "log-end-moves-after-index-write", "KAFKA-7866"},
	CanaryAckBeforeSync:            {"57", "acknowledge-before-sync", "NATS #7564"},
	CanaryProducerBeforeWrite:      {"61", "producer-state-before-write", "KAFKA-6683"},
	CanaryDuplicateAckedEarly:      {"65", "duplicate-acknowledged-early", "own"},
	CanarySequenceWrap:             {"67", "sequence-does-not-wrap", "KAFKA-7692"},
	CanaryWriteAfterTruncate:       {"W1", "write-lands-after-truncate", "law of effects"},
}

// Canaries lists all canaries in the order of their constants.
func Canaries() []CanaryInfo { return canaryInfos[:] }
