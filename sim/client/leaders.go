package client

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/sim"
)

// Leaders is what one client of a cluster knows of who leads the partitions of its topic. It learns by
// Metadata, and by what brokers that do not lead any more say of who does (KIP-951), and takes nothing
// back that an older answer says: leader epochs only grow.
type Leaders struct {
	host    *Host
	servers []Server
	known   []leading // by partition
	home    *Conn     // for questions that any broker answers
	stale   bool      // there is a reason to ask again
	askAt   sim.Time  // not before
}

// leading is the leader of a partition.
type leading struct {
	server Server // Addr is empty when nobody is known
	epoch  int32
}

// newLeaders returns what a client knows at first; nil for a client of one broker, which needs nothing.
func newLeaders(h *Host, partitions int32) *Leaders {
	if len(h.Servers) == 0 {
		return nil
	}
	l := &Leaders{host: h, servers: h.Servers, known: make([]leading, partitions), stale: true}
	for i := range l.known {
		l.known[i].epoch = int32(kafka.NoLeaderEpoch)
	}
	return l
}

// of returns the leader of a partition. A client of one broker takes that for it.
func (l *Leaders) of(p kafka.PartitionID) (Server, bool) {
	if l == nil {
		return Server{}, true
	}
	s := l.known[p].server
	return s, s.Addr != ""
}

// epoch returns the leader epoch that a client says it knows.
func (l *Leaders) epoch(p kafka.PartitionID) int32 {
	if l == nil {
		return int32(kafka.NoLeaderEpoch)
	}
	return l.known[p].epoch
}

// suspect notes that the leader may be another. It is asked for once a pause is over.
func (l *Leaders) suspect() {
	if l != nil && !l.stale {
		l.stale = true
		l.askAt = l.host.Scheduler.Now() + l.host.Stream.Delay(l.host.Pause.Low, l.host.Pause.High)
	}
}

// refused takes what a broker answered instead of serving a partition: a code, and where the leader is,
// "" if it says nothing of that.
func (l *Leaders) refused(code kafka.ErrorCode, p kafka.PartitionID, epoch int32, addr string) {
	if l == nil || code == kafka.None {
		return
	}
	switch code {
	case kafka.NotLeaderOrFollower, kafka.FencedLeaderEpoch:
		if !l.learn(p, l.server(addr), epoch) {
			l.suspect()
		}
	case kafka.UnknownLeaderEpoch, kafka.UnknownTopicOrPartition, kafka.UnknownTopicID,
		kafka.LeaderNotAvailable, kafka.KafkaStorageError, kafka.OffsetNotAvailable:
		l.suspect()
	}
}

// learn takes a leader of a later epoch than the known one. It says whether it was one.
func (l *Leaders) learn(p kafka.PartitionID, s Server, epoch int32) bool {
	known := &l.known[p]
	if s.Addr == "" || epoch <= known.epoch {
		return false
	}
	known.server, known.epoch = s, epoch
	return true
}

func (l *Leaders) server(addr string) Server {
	i := slices.IndexFunc(l.servers, func(s Server) bool { return s.Addr == addr })
	if i < 0 {
		return Server{}
	}
	return l.servers[i]
}

func addr(host string, port int32) string { return fmt.Sprintf("%s:%d", host, port) }

// wake returns when the leaders are to be asked for.
func (l *Leaders) wake() sim.Time {
	if l == nil || !l.stale {
		return sim.Never
	}
	return l.askAt
}

// refresh asks for the leaders if there is a reason to. The running task is suspended meanwhile. It
// says whether any is known.
func (l *Leaders) refresh() bool {
	if l.stale && l.host.Scheduler.Now() >= l.askAt {
		l.stale = false
		if !l.ask() {
			l.suspect()
		}
	}
	return slices.ContainsFunc(l.known, func(x leading) bool { return x.server.Addr != "" })
}

// anyBroker returns a connection to some broker, nil if there is none.
func (l *Leaders) anyBroker() *Conn {
	if l.home == nil || l.home.Closed() {
		l.home = l.host.dialTo(l.servers[l.host.Stream.Index(len(l.servers))])
		if !l.home.Hello(3) {
			l.home.Close()
			return nil
		}
	}
	return l.home
}

// ask makes one request. It says whether every partition has a leader by the answer.
func (l *Leaders) ask() bool {
	c := l.anyBroker()
	if c == nil {
		return false
	}
	res, code := c.metadata(12)
	if code != kafka.None {
		if code == kafka.NetworkException || l.host.Stream.Chance(1, 4) {
			c.Close() // the next broker may know more
		}
		return false
	}
	all := true
	for i := range res.Topics[0].Partitions {
		p := &res.Topics[0].Partitions[i]
		if int(p.Partition) >= len(l.known) {
			l.host.Observer.Trouble("Metadata with a partition that the topic does not have")
			continue
		}
		if p.ErrorCode != 0 || p.Leader < 0 {
			all = false
			continue
		}
		at := slices.IndexFunc(res.Brokers, func(b kmsg.MetadataResponseBroker) bool { return b.NodeID == p.Leader })
		if at < 0 {
			all = false
			continue
		}
		b := &res.Brokers[at]
		l.learn(kafka.PartitionID(p.Partition), l.server(addr(b.Host, b.Port)), p.LeaderEpoch)
	}
	return all
}

// close ends the connection for questions.
func (l *Leaders) close() {
	if l != nil && l.home != nil {
		l.home.Close()
	}
}
