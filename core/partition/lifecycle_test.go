package partition

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/core/kafka"
)

// A creation that fails may have made the directory, or a part of what lies in it.
func TestWhatAFailedCreationLeftIsDeletedToo(t *testing.T) {
	topic, logConfig := kafka.DefaultTopicConfig(), commitlog.DefaultConfig()
	id := Identity{Topic: "t", TopicID: kafka.TopicID{1}, Broker: 1}
	r := New(id, commitlog.NewHandles(0, 1), &topic, &logConfig, false, Checkpointed{}, false)
	var out env.Effects
	r.Create(&out)
	require.Len(t, out.Jobs, 1)
	r.OnJobDone(&env.Event{Kind: env.EventJobDone, Token: out.Jobs[0].Token, Res: errors.New("EIO")}, &out)
	require.Equal(t, Absent, r.State())
	out.Reset()
	r.Delete([16]byte{2}, &out)
	require.Len(t, out.Jobs, 1)
	require.IsType(t, &commitlog.DeleteJob{}, out.Jobs[0].Job)
	r.OnJobDone(&env.Event{Kind: env.EventJobDone, Token: out.Jobs[0].Token}, &out)
	require.Equal(t, Gone, r.State())
}

func TestWhatWasNeverCreatedIsGoneAtOnce(t *testing.T) {
	topic, logConfig := kafka.DefaultTopicConfig(), commitlog.DefaultConfig()
	r := New(Identity{Topic: "t"}, commitlog.NewHandles(0, 1), &topic, &logConfig, false, Checkpointed{}, false)
	var out env.Effects
	r.Delete([16]byte{2}, &out)
	require.Empty(t, out.Jobs)
	require.Equal(t, Gone, r.State())
}
