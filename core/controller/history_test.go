package controller

import (
	"hash/fnv"
	"testing"

	"stet/core/metadata"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// history judges what all controllers of a cluster say and are, over all their lives.
type history struct {
	t         *testing.T
	leaders   map[uint64]int            // term to node
	images    map[metadata.Index]uint64 // index to the hash of the image
	clusterID string                    // of the one cluster
	topics    map[string]*topicHistory  // by name
	committed metadata.Index            // the highest of any image
}

// topicHistory is what clients were told of the creation of one name; nothing is ever deleted.
type topicHistory struct {
	id      [16]byte // of the acknowledged creation, or zero
	at      int      // when: the number of events until then
	refused int      // definite refusals because it exists
}

func newHistory(t *testing.T) history {
	return history{
		t: t, leaders: map[uint64]int{}, images: map[metadata.Index]uint64{},
		topics: map[string]*topicHistory{},
	}
}

// observe looks at a controller between its turns.
func (h *history) observe(m *machine) {
	c := m.c
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
	sum := fnv.New64a()
	sum.Write(image.AppendSnapshot(nil))
	hash := sum.Sum64()
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

// created notes the answer to a creation of one topic.
func (h *history) created(name string, answer *kmsg.CreateTopicsResponse) (known bool) {
	require.Len(h.t, answer.Topics, 1)
	told := answer.Topics[0]
	k := h.topics[name]
	if k == nil {
		k = &topicHistory{}
		h.topics[name] = k
	}
	switch told.ErrorCode {
	case 0:
		require.Zero(h.t, k.id, "topic %s is created twice", name)
		k.id = told.TopicID
		return true
	case 36:
		k.refused++
		return true
	}
	return false
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
			} else if k.refused > 0 {
				require.NotNil(h.t, topic, "node %d: topic %s existed and is gone", m.node, name)
			}
		}
	}
}
