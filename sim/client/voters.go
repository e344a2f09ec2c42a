package client

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

// Voter names a voter of the metadata quorum: a controller in one life of its directory.
type Voter struct {
	Node      int32
	Directory [16]byte
	// Host and Port are of its controller listener.
	Host string
	Port uint16
}

// AddVoter asks for a voter to be added.
func (a *Administrator) AddVoter(v Voter) kafka.ErrorCode {
	r := kmsg.NewPtrAddRaftVoterRequest()
	r.TimeoutMillis, r.VoterID, r.VoterDirectoryID = 5000, v.Node, v.Directory
	l := kmsg.NewAddRaftVoterRequestListener()
	l.Name, l.Host, l.Port = "CONTROLLER", v.Host, v.Port
	r.Listeners = append(r.Listeners, l)
	res, ok := a.ask(r).(*kmsg.AddRaftVoterResponse)
	if !ok {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.ErrorCode)
}

// RemoveVoter asks for a voter to be removed.
func (a *Administrator) RemoveVoter(v Voter) kafka.ErrorCode {
	r := kmsg.NewPtrRemoveRaftVoterRequest()
	r.VoterID, r.VoterDirectoryID = v.Node, v.Directory
	res, ok := a.ask(r).(*kmsg.RemoveRaftVoterResponse)
	if !ok {
		return kafka.NetworkException
	}
	return kafka.ErrorCode(res.ErrorCode)
}

// Voters are what DescribeQuorum tells: the leader's node, -1 for none, and the nodes and directories
// of the voters.
type Voters struct {
	Leader int32
	Voters []Voter
}

// Quorum asks who the voters are.
func (a *Administrator) Quorum() (Voters, kafka.ErrorCode) {
	r := kmsg.NewPtrDescribeQuorumRequest()
	r.Version = 2
	t := kmsg.NewDescribeQuorumRequestTopic()
	t.Topic = "__cluster_metadata"
	t.Partitions = append(t.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	r.Topics = append(r.Topics, t)
	res, ok := a.ask(r).(*kmsg.DescribeQuorumResponse)
	out := Voters{Leader: -1}
	if !ok {
		return out, kafka.NetworkException
	}
	if code := kafka.ErrorCode(res.ErrorCode); code != kafka.None || len(res.Topics) != 1 ||
		len(res.Topics[0].Partitions) != 1 {
		return out, code
	}
	p := &res.Topics[0].Partitions[0]
	out.Leader = p.LeaderID
	for _, v := range p.CurrentVoters {
		out.Voters = append(out.Voters, Voter{Node: v.ReplicaID, Directory: v.ReplicaDirectoryID})
	}
	return out, kafka.ErrorCode(p.ErrorCode)
}
