package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/core/wire"
)

// brokerReplicas is what one broker says of its replicas of a topic.
type brokerReplicas struct {
	broker int32
	fenced bool
	err    error
	status []wire.ReplicaStatus
}

// mostStatusBytes bounds an answer that is taken from a broker.
const mostStatusBytes = 64 << 20

// askReplicas asks every broker that is registered. Whoever does not answer has an error.
func askReplicas(ctx context.Context, client *kgo.Client, topic string) ([]brokerReplicas, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = true
	cluster, err := req.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(cluster.ErrorCode)
	}
	if err != nil {
		return nil, err
	}
	out := make([]brokerReplicas, len(cluster.Brokers))
	var all sync.WaitGroup
	for i, b := range cluster.Brokers {
		out[i].broker, out[i].fenced = b.NodeID, b.IsFenced
		all.Go(func() {
			addr := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
			out[i].status, out[i].err = askStatus(ctx, addr, topic)
		})
	}
	all.Wait()
	return out, nil
}

// askStatus asks one broker, over a connection of its own: clients' libraries do not know the key.
func askStatus(ctx context.Context, addr, topic string) ([]wire.ReplicaStatus, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	body := wire.AppendRequest(nil, 1, "stet", &wire.ReplicaStatusRequest{Topic: topic})
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > mostStatusBytes {
		return nil, fmt.Errorf("an answer of %d bytes", n)
	}
	frame := make([]byte, n)
	if _, err := io.ReadFull(conn, frame); err != nil {
		return nil, err
	}
	answer, err := wire.DecodeResponse(wire.KeyReplicaStatus, 0, frame)
	if err != nil {
		return nil, err
	}
	status := answer.(*wire.ReplicaStatusResponse)
	return status.Replicas, kerr.ErrorForCode(status.ErrorCode)
}

// printReplica prints what is known of one replica: by the metadata, and by its broker if that answers.
func printReplica(p *printer, d *partitionDescription, id int32, all []brokerReplicas) {
	pairs := []any{"partition", d.Partition, "replica", id, "standing", standing(d, id)}
	for i := range all {
		b := &all[i]
		if b.broker != id {
			continue
		}
		pairs = append(pairs, "fenced", b.fenced)
		if b.err != nil {
			p.line(append(pairs, "state", "unreachable", "error", b.err.Error())...)
			return
		}
		for j := range b.status {
			if s := &b.status[j]; s.Partition == d.Partition {
				p.line(append(pairs, statusPairs(s)...)...)
				return
			}
		}
		p.line(append(pairs, "state", "absent")...)
		return
	}
	p.line(append(pairs, "state", "unregistered")...)
}

func statusPairs(s *wire.ReplicaStatus) []any {
	role := "follower"
	if s.Leading {
		role = "leader"
	}
	return []any{
		"role", role, "state", s.State, "logStart", s.LogStart, "logEnd", s.LogEnd,
		"highWatermark", s.HighWatermark, "synced", s.Synced, "leaderEpoch", s.LeaderEpoch,
		"latestEpoch", s.LatestEpoch, "cleanStart", s.CleanStart,
	}
}

func kmsgID(id [16]byte) string { return kafka.TopicID(id).String() }
