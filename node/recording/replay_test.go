package recording

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/node"
)

// streams is randomness for tests.
func streams(seed [32]byte) func(env.Use) *rand.Rand {
	return func(u env.Use) *rand.Rand {
		seed[0] = byte(u)
		return rand.New(rand.NewChaCha8(seed))
	}
}

// recordTicks records a node that is started and told the time, and nothing else.
func recordTicks(t require.TestingT, turns int) []byte {
	var seed [32]byte
	config := node.Config{Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig()}
	config.Broker.NodeID, config.Controller.NodeID = 1, 1
	var file bytes.Buffer
	r, err := NewRecorder(&file, seed, &config, env.Identity{BootID: "boot"})
	require.NoError(t, err)
	draw := streams(seed)
	cores := [node.LoopCount]node.Core{
		broker.New(&config.Broker, env.Identity{BootID: "boot"}, draw),
		controller.New(&config.Controller, env.Identity{BootID: "boot"}, draw),
	}
	var out env.Effects
	for i := range turns {
		l := node.LoopID(i) % node.LoopCount
		now, in := env.Now{Mono: env.Mono(i)}, []env.Event{{Kind: env.EventTick}}
		out.Reset()
		r.Turning(l, now, in)
		cores[l].Turn(now, in, &out)
		r.Turned(l, &out)
	}
	require.NoError(t, r.Close())
	return file.Bytes()
}

// ends returns where the first line and each turn of a recording end.
func ends(recording []byte) []int {
	at := bytes.IndexByte(recording, '\n') + 1
	out := []int{at}
	for at < len(recording) {
		at += 4 + int(binary.BigEndian.Uint32(recording[at:]))
		out = append(out, at)
	}
	return out
}

func TestARecordingCutAnywhereReplaysAsFarAsItGoes(t *testing.T) {
	whole := recordTicks(t, 6)
	turns := ends(whole)
	require.Len(t, turns, 7)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(turns[0], len(whole)).Draw(t, "n")
		complete := int64(0)
		for complete < 6 && turns[complete+1] <= n {
			complete++
		}
		res, err := Replay(bytes.NewReader(whole[:n]), streams)
		require.NoError(t, err)
		require.Equal(t, Result{Turns: complete, Events: complete}, res)
	})
}

func TestARecordingCutInItsFirstLineIsRefused(t *testing.T) {
	whole := recordTicks(t, 1)
	first := ends(whole)[0]
	for _, n := range []int{0, 1, first / 2, first - 1} {
		_, err := Replay(bytes.NewReader(whole[:n]), streams)
		require.ErrorContains(t, err, "no recording")
	}
}

func TestAChangedHashIsReportedWithItsTurn(t *testing.T) {
	whole := recordTicks(t, 6)
	turns := ends(whole)
	for turn := 1; turn <= 6; turn++ {
		changed := bytes.Clone(whole)
		changed[turns[turn]-1] ^= 1
		res, err := Replay(bytes.NewReader(changed), streams)
		require.NoError(t, err)
		require.Contains(t, res.Divergent, "turn "+string(rune('0'+turn))+" of the ")
		require.EqualValues(t, turn, res.Turns, "the replay ends there")
	}
}

func TestARecordingIsKnownByItsFirstLine(t *testing.T) {
	whole := recordTicks(t, 1)
	require.True(t, Is(whole[:ends(whole)[0]]))
	for _, line := range []string{"", "{", `{"stet":"dev","scenario":"s"}`, `{"seed":"0"}`} {
		require.False(t, Is([]byte(line)), line)
	}
}

func TestARecordingOfAnotherFormatIsRefused(t *testing.T) {
	whole := recordTicks(t, 1)
	changed := bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":2`), 1)
	_, err := Replay(bytes.NewReader(changed), streams)
	require.ErrorContains(t, err, "format 2")
}

func TestARecordingOfAnotherCommitIsRefused(t *testing.T) {
	require.ErrorContains(t, checkCommit("abc", "def"), "commit abc: this build is of def")
	require.NoError(t, checkCommit("abc", "abc"))
	require.NoError(t, checkCommit("", "def"), "a build that does not know its commit")
	require.NoError(t, checkCommit("abc", ""))
}

func TestALyingTurnSizeIsRefused(t *testing.T) {
	whole := recordTicks(t, 1)
	binary.BigEndian.PutUint32(whole[ends(whole)[0]:], 1<<31)
	_, err := Replay(bytes.NewReader(whole), streams)
	require.ErrorContains(t, err, "a turn of")
}
