package controller

import (
	"hash/fnv"
	"testing"

	"stet/core/env"
	"stet/core/metadata"
	"stet/core/quorum"
	"stet/core/wire"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// history judges what all controllers of a cluster say and are, over all their lives.
type history struct {
	t         *testing.T
	leaders   map[uint64]int            // term to node
	images    map[metadata.Index]uint64 // index to the hash of the image
	voters    []uint64                  // of the quorum as of votersAt, the latest that is known
	votersAt  uint64
	clusterID string                   // of the one cluster
	topics    map[string]*topicHistory // by name
	committed metadata.Index           // the highest of any image
	entries   map[int64]string         // as brokers were told
}

// topicHistory is what clients were told of the creation of one name; nothing is ever deleted.
type topicHistory struct {
	id    [16]byte // of the acknowledged creation, or zero
	known env.Mono // when somebody was first told that it exists
}

func newHistory(t *testing.T) history {
	return history{
		t: t, leaders: map[uint64]int{}, images: map[metadata.Index]uint64{},
		topics: map[string]*topicHistory{}, entries: map[int64]string{},
	}
}

// observe looks at a controller between its turns.
func (h *history) observe(m *machine) {
	c := m.c
	m.voter = c.voter
	if q := c.life.quorum; q != nil {
		at := q.Applied().Index
		if members := q.Members(); at > h.votersAt || len(h.voters) == 0 {
			h.voters, h.votersAt = members.Voters, at
		}
	}
	if c.term != 0 {
		other, known := h.leaders[c.term]
		require.True(h.t, !known || other == m.node, "two leaders in term %d", c.term)
		h.leaders[c.term] = m.node
	}
	image := c.Image()
	if image == m.image {
		return
	}
	if m.image != nil {
		require.GreaterOrEqual(h.t, image.Index(), m.image.Index(), "an image goes back")
	}
	m.image = image
	if image.Index() == 0 {
		return
	}
	hash := hashOf(image)
	if other, known := h.images[image.Index()]; known {
		require.Equal(h.t, other, hash, "two images of entry %d", image.Index())
	}
	h.images[image.Index()] = hash
	h.committed = max(h.committed, image.Index())
	if id := image.ClusterID(); id != "" {
		require.True(h.t, h.clusterID == "" || h.clusterID == id, "there are two clusters")
		h.clusterID = id
	}
}

func hashOf(image *metadata.Image) uint64 {
	sum := fnv.New64a()
	sum.Write(image.AppendSnapshot(nil))
	return sum.Sum64()
}

// created notes the answer to a creation of one topic, or to the question whether it could be.
func (h *history) created(
	name string, validate bool, asked, now env.Mono, answer *kmsg.CreateTopicsResponse,
) {
	require.Len(h.t, answer.Topics, 1)
	told := answer.Topics[0]
	k := h.topics[name]
	if k == nil {
		k = &topicHistory{known: env.Never}
		h.topics[name] = k
	}
	switch told.ErrorCode {
	case 0:
		require.GreaterOrEqual(h.t, k.known, asked, "topic %s was there before it was asked for", name)
		if !validate {
			require.Zero(h.t, k.id, "topic %s is created twice", name)
			k.id = told.TopicID
			k.known = min(k.known, now)
		}
	case 36:
		k.known = min(k.known, now)
	}
}

// acknowledged counts the creations that were.
func (h *history) acknowledged() (n int) {
	for _, name := range sortedKeys(h.topics) {
		if h.topics[name].id != [16]byte{} {
			n++
		}
	}
	return n
}

// fetched compares what a broker was told of the log with what others were told, and returns up to
// where it has it now.
func (h *history) fetched(have int64, a *wire.MetadataFetchResponse) int64 {
	if a.ErrorCode != 0 {
		require.Empty(h.t, a.Entries)
		require.Nil(h.t, a.Snapshot)
		return have
	}
	if a.Snapshot != nil {
		image, err := metadata.DecodeSnapshot(a.Snapshot)
		require.NoError(h.t, err)
		require.EqualValues(h.t, a.SnapshotIndex, image.Index())
		require.Equal(h.t, h.images[image.Index()], hashOf(image))
		have = a.SnapshotIndex
	}
	if len(a.Entries) > 0 {
		have = max(have, quorum.FirstEntry-1) // before the first entry there is nothing to tell
	}
	for i := range a.Entries {
		e := &a.Entries[i]
		require.Equal(h.t, have+1, e.Index)
		require.LessOrEqual(h.t, e.Index, int64(h.committed), "an entry is shown that is not committed")
		known, ok := h.entries[e.Index]
		require.True(h.t, !ok || known == string(e.Record), "two entries of index %d", e.Index)
		h.entries[e.Index] = string(e.Record)
		have++
	}
	return have
}

// converged checks that every acknowledged creation is in the image of every controller.
func (h *history) converged(s *cluster) {
	for _, m := range s.machines {
		if m.c == nil {
			continue
		}
		for _, name := range sortedKeys(h.topics) {
			k := h.topics[name]
			topic := m.c.Image().Topic(name)
			if k.id != [16]byte{} {
				require.NotNil(h.t, topic, "node %d: topic %s was acknowledged and is gone", m.node, name)
				require.EqualValues(h.t, k.id, topic.ID)
			} else if k.known != env.Never {
				require.NotNil(h.t, topic, "node %d: topic %s existed and is gone", m.node, name)
			}
		}
	}
}
