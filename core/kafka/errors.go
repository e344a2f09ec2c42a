package kafka

import "strconv"

// ErrorCode is an error code of the protocol. Its Error method makes it usable as a Go error, but
// a protocol outcome is a value: handlers put codes into responses, they do not return them up.
type ErrorCode int16

// The error codes of Apache Kafka 4.4 (org.apache.kafka.common.protocol.Errors).
const (
	UnknownServerError                     ErrorCode = -1
	None                                   ErrorCode = 0
	OffsetOutOfRange                       ErrorCode = 1
	CorruptMessage                         ErrorCode = 2
	UnknownTopicOrPartition                ErrorCode = 3
	InvalidFetchSize                       ErrorCode = 4
	LeaderNotAvailable                     ErrorCode = 5
	NotLeaderOrFollower                    ErrorCode = 6
	RequestTimedOut                        ErrorCode = 7
	BrokerNotAvailable                     ErrorCode = 8
	ReplicaNotAvailable                    ErrorCode = 9
	MessageTooLarge                        ErrorCode = 10
	StaleControllerEpoch                   ErrorCode = 11
	OffsetMetadataTooLarge                 ErrorCode = 12
	NetworkException                       ErrorCode = 13
	CoordinatorLoadInProgress              ErrorCode = 14
	CoordinatorNotAvailable                ErrorCode = 15
	NotCoordinator                         ErrorCode = 16
	InvalidTopicException                  ErrorCode = 17
	RecordListTooLarge                     ErrorCode = 18
	NotEnoughReplicas                      ErrorCode = 19
	NotEnoughReplicasAfterAppend           ErrorCode = 20
	InvalidRequiredAcks                    ErrorCode = 21
	IllegalGeneration                      ErrorCode = 22
	InconsistentGroupProtocol              ErrorCode = 23
	InvalidGroupID                         ErrorCode = 24
	UnknownMemberID                        ErrorCode = 25
	InvalidSessionTimeout                  ErrorCode = 26
	RebalanceInProgress                    ErrorCode = 27
	InvalidCommitOffsetSize                ErrorCode = 28
	TopicAuthorizationFailed               ErrorCode = 29
	GroupAuthorizationFailed               ErrorCode = 30
	ClusterAuthorizationFailed             ErrorCode = 31
	InvalidTimestamp                       ErrorCode = 32
	UnsupportedSASLMechanism               ErrorCode = 33
	IllegalSASLState                       ErrorCode = 34
	UnsupportedVersion                     ErrorCode = 35
	TopicAlreadyExists                     ErrorCode = 36
	InvalidPartitions                      ErrorCode = 37
	InvalidReplicationFactor               ErrorCode = 38
	InvalidReplicaAssignment               ErrorCode = 39
	InvalidConfig                          ErrorCode = 40
	NotController                          ErrorCode = 41
	InvalidRequest                         ErrorCode = 42
	UnsupportedForMessageFormat            ErrorCode = 43
	PolicyViolation                        ErrorCode = 44
	OutOfOrderSequenceNumber               ErrorCode = 45
	DuplicateSequenceNumber                ErrorCode = 46
	InvalidProducerEpoch                   ErrorCode = 47
	InvalidTxnState                        ErrorCode = 48
	InvalidProducerIDMapping               ErrorCode = 49
	InvalidTransactionTimeout              ErrorCode = 50
	ConcurrentTransactions                 ErrorCode = 51
	TransactionCoordinatorFenced           ErrorCode = 52
	TransactionalIDAuthorizationFailed     ErrorCode = 53
	SecurityDisabled                       ErrorCode = 54
	OperationNotAttempted                  ErrorCode = 55
	KafkaStorageError                      ErrorCode = 56
	LogDirNotFound                         ErrorCode = 57
	SASLAuthenticationFailed               ErrorCode = 58
	UnknownProducerID                      ErrorCode = 59
	ReassignmentInProgress                 ErrorCode = 60
	DelegationTokenAuthDisabled            ErrorCode = 61
	DelegationTokenNotFound                ErrorCode = 62
	DelegationTokenOwnerMismatch           ErrorCode = 63
	DelegationTokenRequestNotAllowed       ErrorCode = 64
	DelegationTokenAuthorizationFailed     ErrorCode = 65
	DelegationTokenExpired                 ErrorCode = 66
	InvalidPrincipalType                   ErrorCode = 67
	NonEmptyGroup                          ErrorCode = 68
	GroupIDNotFound                        ErrorCode = 69
	FetchSessionIDNotFound                 ErrorCode = 70
	InvalidFetchSessionEpoch               ErrorCode = 71
	ListenerNotFound                       ErrorCode = 72
	TopicDeletionDisabled                  ErrorCode = 73
	FencedLeaderEpoch                      ErrorCode = 74
	UnknownLeaderEpoch                     ErrorCode = 75
	UnsupportedCompressionType             ErrorCode = 76
	StaleBrokerEpoch                       ErrorCode = 77
	OffsetNotAvailable                     ErrorCode = 78
	MemberIDRequired                       ErrorCode = 79
	PreferredLeaderNotAvailable            ErrorCode = 80
	GroupMaxSizeReached                    ErrorCode = 81
	FencedInstanceID                       ErrorCode = 82
	EligibleLeadersNotAvailable            ErrorCode = 83
	ElectionNotNeeded                      ErrorCode = 84
	NoReassignmentInProgress               ErrorCode = 85
	GroupSubscribedToTopic                 ErrorCode = 86
	InvalidRecord                          ErrorCode = 87
	UnstableOffsetCommit                   ErrorCode = 88
	ThrottlingQuotaExceeded                ErrorCode = 89
	ProducerFenced                         ErrorCode = 90
	ResourceNotFound                       ErrorCode = 91
	DuplicateResource                      ErrorCode = 92
	UnacceptableCredential                 ErrorCode = 93
	InconsistentVoterSet                   ErrorCode = 94
	InvalidUpdateVersion                   ErrorCode = 95
	FeatureUpdateFailed                    ErrorCode = 96
	PrincipalDeserializationFailure        ErrorCode = 97
	SnapshotNotFound                       ErrorCode = 98
	PositionOutOfRange                     ErrorCode = 99
	UnknownTopicID                         ErrorCode = 100
	DuplicateBrokerRegistration            ErrorCode = 101
	BrokerIDNotRegistered                  ErrorCode = 102
	InconsistentTopicID                    ErrorCode = 103
	InconsistentClusterID                  ErrorCode = 104
	TransactionalIDNotFound                ErrorCode = 105
	FetchSessionTopicIDError               ErrorCode = 106
	IneligibleReplica                      ErrorCode = 107
	NewLeaderElected                       ErrorCode = 108
	OffsetMovedToTieredStorage             ErrorCode = 109
	FencedMemberEpoch                      ErrorCode = 110
	UnreleasedInstanceID                   ErrorCode = 111
	UnsupportedAssignor                    ErrorCode = 112
	StaleMemberEpoch                       ErrorCode = 113
	MismatchedEndpointType                 ErrorCode = 114
	UnsupportedEndpointType                ErrorCode = 115
	UnknownControllerID                    ErrorCode = 116
	UnknownSubscriptionID                  ErrorCode = 117
	TelemetryTooLarge                      ErrorCode = 118
	InvalidRegistration                    ErrorCode = 119
	TransactionAbortable                   ErrorCode = 120
	InvalidRecordState                     ErrorCode = 121
	ShareSessionNotFound                   ErrorCode = 122
	InvalidShareSessionEpoch               ErrorCode = 123
	FencedStateEpoch                       ErrorCode = 124
	InvalidVoterKey                        ErrorCode = 125
	DuplicateVoter                         ErrorCode = 126
	VoterNotFound                          ErrorCode = 127
	InvalidRegularExpression               ErrorCode = 128
	RebootstrapRequired                    ErrorCode = 129
	StreamsInvalidTopology                 ErrorCode = 130
	StreamsInvalidTopologyEpoch            ErrorCode = 131
	StreamsTopologyFenced                  ErrorCode = 132
	ShareSessionLimitReached               ErrorCode = 133
	GroupDeletionFailed                    ErrorCode = 134
	StreamsTopologyDescriptionUpdateFailed ErrorCode = 135
	ControllerIDNotRegistered              ErrorCode = 136
)

// String gives Kafka's name of the code, for example NOT_LEADER_OR_FOLLOWER.
func (e ErrorCode) String() string {
	if s := nameOf(e); s != "" {
		return s
	}
	return "ERROR_" + strconv.Itoa(int(e))
}

// Error makes a code a Go error.
func (e ErrorCode) Error() string { return e.String() }

// Retriable says whether Kafka's clients retry on the code.
func (e ErrorCode) Retriable() bool {
	switch e {
	case CorruptMessage, UnknownTopicOrPartition, LeaderNotAvailable, NotLeaderOrFollower, RequestTimedOut, ReplicaNotAvailable, NetworkException, CoordinatorLoadInProgress, CoordinatorNotAvailable, NotCoordinator, NotEnoughReplicas, NotEnoughReplicasAfterAppend, NotController, ConcurrentTransactions, KafkaStorageError, FetchSessionIDNotFound, InvalidFetchSessionEpoch, ListenerNotFound, FencedLeaderEpoch, UnknownLeaderEpoch, OffsetNotAvailable, PreferredLeaderNotAvailable, EligibleLeadersNotAvailable, ElectionNotNeeded, UnstableOffsetCommit, ThrottlingQuotaExceeded, UnknownTopicID, InconsistentTopicID, FetchSessionTopicIDError, ShareSessionNotFound, InvalidShareSessionEpoch, ShareSessionLimitReached:
		return true
	}
	return false
}

func nameOf(e ErrorCode) string {
	switch e {
	case UnknownServerError:
		return "UNKNOWN_SERVER_ERROR"
	case None:
		return "NONE"
	case OffsetOutOfRange:
		return "OFFSET_OUT_OF_RANGE"
	case CorruptMessage:
		return "CORRUPT_MESSAGE"
	case UnknownTopicOrPartition:
		return "UNKNOWN_TOPIC_OR_PARTITION"
	case InvalidFetchSize:
		return "INVALID_FETCH_SIZE"
	case LeaderNotAvailable:
		return "LEADER_NOT_AVAILABLE"
	case NotLeaderOrFollower:
		return "NOT_LEADER_OR_FOLLOWER"
	case RequestTimedOut:
		return "REQUEST_TIMED_OUT"
	case BrokerNotAvailable:
		return "BROKER_NOT_AVAILABLE"
	case ReplicaNotAvailable:
		return "REPLICA_NOT_AVAILABLE"
	case MessageTooLarge:
		return "MESSAGE_TOO_LARGE"
	case StaleControllerEpoch:
		return "STALE_CONTROLLER_EPOCH"
	case OffsetMetadataTooLarge:
		return "OFFSET_METADATA_TOO_LARGE"
	case NetworkException:
		return "NETWORK_EXCEPTION"
	case CoordinatorLoadInProgress:
		return "COORDINATOR_LOAD_IN_PROGRESS"
	case CoordinatorNotAvailable:
		return "COORDINATOR_NOT_AVAILABLE"
	case NotCoordinator:
		return "NOT_COORDINATOR"
	case InvalidTopicException:
		return "INVALID_TOPIC_EXCEPTION"
	case RecordListTooLarge:
		return "RECORD_LIST_TOO_LARGE"
	case NotEnoughReplicas:
		return "NOT_ENOUGH_REPLICAS"
	case NotEnoughReplicasAfterAppend:
		return "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
	case InvalidRequiredAcks:
		return "INVALID_REQUIRED_ACKS"
	case IllegalGeneration:
		return "ILLEGAL_GENERATION"
	case InconsistentGroupProtocol:
		return "INCONSISTENT_GROUP_PROTOCOL"
	case InvalidGroupID:
		return "INVALID_GROUP_ID"
	case UnknownMemberID:
		return "UNKNOWN_MEMBER_ID"
	case InvalidSessionTimeout:
		return "INVALID_SESSION_TIMEOUT"
	case RebalanceInProgress:
		return "REBALANCE_IN_PROGRESS"
	case InvalidCommitOffsetSize:
		return "INVALID_COMMIT_OFFSET_SIZE"
	case TopicAuthorizationFailed:
		return "TOPIC_AUTHORIZATION_FAILED"
	case GroupAuthorizationFailed:
		return "GROUP_AUTHORIZATION_FAILED"
	case ClusterAuthorizationFailed:
		return "CLUSTER_AUTHORIZATION_FAILED"
	case InvalidTimestamp:
		return "INVALID_TIMESTAMP"
	case UnsupportedSASLMechanism:
		return "UNSUPPORTED_SASL_MECHANISM"
	case IllegalSASLState:
		return "ILLEGAL_SASL_STATE"
	case UnsupportedVersion:
		return "UNSUPPORTED_VERSION"
	case TopicAlreadyExists:
		return "TOPIC_ALREADY_EXISTS"
	case InvalidPartitions:
		return "INVALID_PARTITIONS"
	case InvalidReplicationFactor:
		return "INVALID_REPLICATION_FACTOR"
	case InvalidReplicaAssignment:
		return "INVALID_REPLICA_ASSIGNMENT"
	case InvalidConfig:
		return "INVALID_CONFIG"
	case NotController:
		return "NOT_CONTROLLER"
	case InvalidRequest:
		return "INVALID_REQUEST"
	case UnsupportedForMessageFormat:
		return "UNSUPPORTED_FOR_MESSAGE_FORMAT"
	case PolicyViolation:
		return "POLICY_VIOLATION"
	case OutOfOrderSequenceNumber:
		return "OUT_OF_ORDER_SEQUENCE_NUMBER"
	case DuplicateSequenceNumber:
		return "DUPLICATE_SEQUENCE_NUMBER"
	case InvalidProducerEpoch:
		return "INVALID_PRODUCER_EPOCH"
	case InvalidTxnState:
		return "INVALID_TXN_STATE"
	case InvalidProducerIDMapping:
		return "INVALID_PRODUCER_ID_MAPPING"
	case InvalidTransactionTimeout:
		return "INVALID_TRANSACTION_TIMEOUT"
	case ConcurrentTransactions:
		return "CONCURRENT_TRANSACTIONS"
	case TransactionCoordinatorFenced:
		return "TRANSACTION_COORDINATOR_FENCED"
	case TransactionalIDAuthorizationFailed:
		return "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
	case SecurityDisabled:
		return "SECURITY_DISABLED"
	case OperationNotAttempted:
		return "OPERATION_NOT_ATTEMPTED"
	case KafkaStorageError:
		return "KAFKA_STORAGE_ERROR"
	case LogDirNotFound:
		return "LOG_DIR_NOT_FOUND"
	case SASLAuthenticationFailed:
		return "SASL_AUTHENTICATION_FAILED"
	case UnknownProducerID:
		return "UNKNOWN_PRODUCER_ID"
	case ReassignmentInProgress:
		return "REASSIGNMENT_IN_PROGRESS"
	case DelegationTokenAuthDisabled:
		return "DELEGATION_TOKEN_AUTH_DISABLED"
	case DelegationTokenNotFound:
		return "DELEGATION_TOKEN_NOT_FOUND"
	case DelegationTokenOwnerMismatch:
		return "DELEGATION_TOKEN_OWNER_MISMATCH"
	case DelegationTokenRequestNotAllowed:
		return "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"
	case DelegationTokenAuthorizationFailed:
		return "DELEGATION_TOKEN_AUTHORIZATION_FAILED"
	case DelegationTokenExpired:
		return "DELEGATION_TOKEN_EXPIRED"
	case InvalidPrincipalType:
		return "INVALID_PRINCIPAL_TYPE"
	case NonEmptyGroup:
		return "NON_EMPTY_GROUP"
	case GroupIDNotFound:
		return "GROUP_ID_NOT_FOUND"
	case FetchSessionIDNotFound:
		return "FETCH_SESSION_ID_NOT_FOUND"
	case InvalidFetchSessionEpoch:
		return "INVALID_FETCH_SESSION_EPOCH"
	case ListenerNotFound:
		return "LISTENER_NOT_FOUND"
	case TopicDeletionDisabled:
		return "TOPIC_DELETION_DISABLED"
	case FencedLeaderEpoch:
		return "FENCED_LEADER_EPOCH"
	case UnknownLeaderEpoch:
		return "UNKNOWN_LEADER_EPOCH"
	case UnsupportedCompressionType:
		return "UNSUPPORTED_COMPRESSION_TYPE"
	case StaleBrokerEpoch:
		return "STALE_BROKER_EPOCH"
	case OffsetNotAvailable:
		return "OFFSET_NOT_AVAILABLE"
	case MemberIDRequired:
		return "MEMBER_ID_REQUIRED"
	case PreferredLeaderNotAvailable:
		return "PREFERRED_LEADER_NOT_AVAILABLE"
	case GroupMaxSizeReached:
		return "GROUP_MAX_SIZE_REACHED"
	case FencedInstanceID:
		return "FENCED_INSTANCE_ID"
	case EligibleLeadersNotAvailable:
		return "ELIGIBLE_LEADERS_NOT_AVAILABLE"
	case ElectionNotNeeded:
		return "ELECTION_NOT_NEEDED"
	case NoReassignmentInProgress:
		return "NO_REASSIGNMENT_IN_PROGRESS"
	case GroupSubscribedToTopic:
		return "GROUP_SUBSCRIBED_TO_TOPIC"
	case InvalidRecord:
		return "INVALID_RECORD"
	case UnstableOffsetCommit:
		return "UNSTABLE_OFFSET_COMMIT"
	case ThrottlingQuotaExceeded:
		return "THROTTLING_QUOTA_EXCEEDED"
	case ProducerFenced:
		return "PRODUCER_FENCED"
	case ResourceNotFound:
		return "RESOURCE_NOT_FOUND"
	case DuplicateResource:
		return "DUPLICATE_RESOURCE"
	case UnacceptableCredential:
		return "UNACCEPTABLE_CREDENTIAL"
	case InconsistentVoterSet:
		return "INCONSISTENT_VOTER_SET"
	case InvalidUpdateVersion:
		return "INVALID_UPDATE_VERSION"
	case FeatureUpdateFailed:
		return "FEATURE_UPDATE_FAILED"
	case PrincipalDeserializationFailure:
		return "PRINCIPAL_DESERIALIZATION_FAILURE"
	case SnapshotNotFound:
		return "SNAPSHOT_NOT_FOUND"
	case PositionOutOfRange:
		return "POSITION_OUT_OF_RANGE"
	case UnknownTopicID:
		return "UNKNOWN_TOPIC_ID"
	case DuplicateBrokerRegistration:
		return "DUPLICATE_BROKER_REGISTRATION"
	case BrokerIDNotRegistered:
		return "BROKER_ID_NOT_REGISTERED"
	case InconsistentTopicID:
		return "INCONSISTENT_TOPIC_ID"
	case InconsistentClusterID:
		return "INCONSISTENT_CLUSTER_ID"
	case TransactionalIDNotFound:
		return "TRANSACTIONAL_ID_NOT_FOUND"
	case FetchSessionTopicIDError:
		return "FETCH_SESSION_TOPIC_ID_ERROR"
	case IneligibleReplica:
		return "INELIGIBLE_REPLICA"
	case NewLeaderElected:
		return "NEW_LEADER_ELECTED"
	case OffsetMovedToTieredStorage:
		return "OFFSET_MOVED_TO_TIERED_STORAGE"
	case FencedMemberEpoch:
		return "FENCED_MEMBER_EPOCH"
	case UnreleasedInstanceID:
		return "UNRELEASED_INSTANCE_ID"
	case UnsupportedAssignor:
		return "UNSUPPORTED_ASSIGNOR"
	case StaleMemberEpoch:
		return "STALE_MEMBER_EPOCH"
	case MismatchedEndpointType:
		return "MISMATCHED_ENDPOINT_TYPE"
	case UnsupportedEndpointType:
		return "UNSUPPORTED_ENDPOINT_TYPE"
	case UnknownControllerID:
		return "UNKNOWN_CONTROLLER_ID"
	case UnknownSubscriptionID:
		return "UNKNOWN_SUBSCRIPTION_ID"
	case TelemetryTooLarge:
		return "TELEMETRY_TOO_LARGE"
	case InvalidRegistration:
		return "INVALID_REGISTRATION"
	case TransactionAbortable:
		return "TRANSACTION_ABORTABLE"
	case InvalidRecordState:
		return "INVALID_RECORD_STATE"
	case ShareSessionNotFound:
		return "SHARE_SESSION_NOT_FOUND"
	case InvalidShareSessionEpoch:
		return "INVALID_SHARE_SESSION_EPOCH"
	case FencedStateEpoch:
		return "FENCED_STATE_EPOCH"
	case InvalidVoterKey:
		return "INVALID_VOTER_KEY"
	case DuplicateVoter:
		return "DUPLICATE_VOTER"
	case VoterNotFound:
		return "VOTER_NOT_FOUND"
	case InvalidRegularExpression:
		return "INVALID_REGULAR_EXPRESSION"
	case RebootstrapRequired:
		return "REBOOTSTRAP_REQUIRED"
	case StreamsInvalidTopology:
		return "STREAMS_INVALID_TOPOLOGY"
	case StreamsInvalidTopologyEpoch:
		return "STREAMS_INVALID_TOPOLOGY_EPOCH"
	case StreamsTopologyFenced:
		return "STREAMS_TOPOLOGY_FENCED"
	case ShareSessionLimitReached:
		return "SHARE_SESSION_LIMIT_REACHED"
	case GroupDeletionFailed:
		return "GROUP_DELETION_FAILED"
	case StreamsTopologyDescriptionUpdateFailed:
		return "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED"
	case ControllerIDNotRegistered:
		return "CONTROLLER_ID_NOT_REGISTERED"
	}
	return ""
}
