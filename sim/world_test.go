package sim

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/broker"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
	"stet/core/wire"
	"stet/node"
)

func testNodeConfig() node.Config {
	c := node.Config{
		Broker: broker.DefaultConfig(), Controller: controller.DefaultConfig(),
		RequestBudgetBytes: 16 << 20, MaxFrameBytes: 4 << 20,
	}
	c.Broker.NodeID, c.Controller.NodeID = 1, 1
	c.Broker.Listeners = []broker.Listener{{Name: "PLAINTEXT", Port: 9092}}
	return c
}

// talker is a client that sends one request after another and counts the answers.
type talker struct {
	w         *World
	m         *Machine
	owner     Owner
	conn      env.ConnWriter
	peer      *peer
	acked     int
	correlate int32
}

func newTalker(w *World, m *Machine) *talker {
	_, owner := w.NewClient()
	return &talker{w: w, m: m, owner: owner}
}

// talk produces to a topic until it has so many acknowledgements.
func (k *talker) talk(want int) {
	for k.acked < want {
		if k.conn == nil || len(k.peer.closed) > 0 {
			k.peer = &peer{s: k.w.Scheduler}
			k.conn = k.w.Network.Dial(k.owner, k.m.Place, k.m.Addr, k.peer)
			k.ask(kmsg.NewPtrApiVersionsRequest(), 0)
			k.createTopic()
		}
		if res := k.ask(k.produce(), 7); res != nil {
			switch kafka.ErrorCode(res.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode) {
			case kafka.None:
				k.acked++
			case kafka.UnknownTopicOrPartition:
				k.createTopic()
			}
		}
		k.w.Scheduler.Await(k.w.Entropy.Stream("talker", 0).Delay(0, 2*Millisecond))
	}
}

// createTopic asks for the topic's metadata, which creates it.
func (k *talker) createTopic() {
	topic, name := kmsg.NewMetadataRequestTopic(), "t"
	topic.Topic = &name
	r := kmsg.NewPtrMetadataRequest()
	r.Topics, r.AllowAutoTopicCreation = append(r.Topics, topic), true
	k.ask(r, 4)
}

func (k *talker) produce() kmsg.Request {
	var b record.Builder
	b.Spec = record.Plain()
	value := bytes.Repeat([]byte{byte(k.acked)}, 1+k.acked*31%5000)
	b.Add(record.Record{Value: value, Timestamp: WallEpochMs})
	r := kmsg.NewPtrProduceRequest()
	r.Acks, r.TimeoutMillis = -1, 1000
	topic, part := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	part.Records = b.Build(nil, &record.Scratch{})
	topic.Topic = "t"
	topic.Partitions = append(topic.Partitions, part)
	r.Topics = append(r.Topics, topic)
	return r
}

// ask sends a request and waits for a while for its answer.
func (k *talker) ask(r kmsg.Request, version int16) kmsg.Response {
	r.SetVersion(version)
	k.correlate++
	before := len(k.peer.frames)
	frame := wire.AppendRequest(make([]byte, 4), k.correlate, "talker", r)
	wire.AppendFrameSize(frame[:0], int32(len(frame)-4))
	if _, err := k.conn.Send([]env.Part{{Bytes: frame}}); err != env.OK {
		return nil
	}
	for range 2000 {
		k.w.Scheduler.Await(Millisecond)
		if len(k.peer.frames) > before {
			res, err := wire.DecodeResponse(r.Key(), version, []byte(k.peer.frames[before]))
			if err != nil {
				panic(err)
			}
			return res
		}
		if len(k.peer.closed) > 0 {
			return nil
		}
	}
	k.conn.Close()
	return nil
}

// crashWorld runs a node through kills and power losses while clients produce.
func crashWorld(t testing.TB, seed uint64, arrange func(*World)) (hash string, w *World) {
	w = NewWorld(seed)
	defer w.Close()
	if arrange != nil {
		arrange(w)
	}
	config := testNodeConfig()
	m := w.AddMachine(config)
	m.Start()
	stream := w.Entropy.Stream("scenario", 0)
	var talkers []*talker
	for range 3 {
		k := newTalker(w, m)
		talkers = append(talkers, k)
		w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(150) })
	}
	for range 4 {
		w.Run(stream.Delay(0, 400*Millisecond), nil)
		if stream.Chance(1, 2) {
			m.LosePower(NewRandomFates(stream))
		} else {
			m.Kill()
		}
		w.Run(stream.Delay(0, Second), nil)
		m.Start()
	}
	done := func() bool {
		for _, k := range talkers {
			if w.Scheduler.TaskCount(k.owner) > 0 {
				return false
			}
		}
		return true
	}
	require.False(t, w.Run(5*Minute, done), "every client gets its acknowledgements")
	require.NoError(t, m.Fatal())
	sum, err := w.Finish()
	require.NoError(t, err)
	return sum.String(), w
}

func TestNodeSurvivesCrashesAndOneSeedHasOneHash(t *testing.T) {
	for seed := range uint64(6) {
		first, w := crashWorld(t, seed, nil)
		second, _ := crashWorld(t, seed, nil)
		require.Equal(t, first, second)
		require.Greater(t, w.Scheduler.EventCount(), uint64(1000))
		require.Greater(t, w.Machines[0].Disk.Counts().Writes, uint64(100))
		t.Logf("seed %d: %d events, %v simulated, %s, disk %+v", seed, w.Scheduler.EventCount(),
			w.Scheduler.Now(), first, w.Machines[0].Disk.Counts())
	}
}

func TestTraceDoesNotChangeTheRun(t *testing.T) {
	plain, _ := crashWorld(t, 3, nil)
	var out bytes.Buffer
	traced, _ := crashWorld(t, 3, func(w *World) { w.Trace.WriteTo(&out, Header{}, true) })
	require.Equal(t, plain, traced)
	require.Greater(t, bytes.Count(out.Bytes(), []byte("\n")), 1000)
}

func TestHashSeesADrawOutsideOfTheRun(t *testing.T) {
	plain, _ := crashWorld(t, 3, nil)
	other, _ := crashWorld(t, 3, func(w *World) { w.Entropy.Stream("another", 0).Uint64() })
	require.NotEqual(t, plain, other)
}

const childSeed = "STET_SIM_TEST_SEED"

// TestChildPrintsItsHash is the other process of TestHashIsTheSameInEveryProcess.
func TestChildPrintsItsHash(t *testing.T) {
	text := os.Getenv(childSeed)
	if text == "" {
		t.Skip("runs as a child only")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err)
	hash, _ := crashWorld(t, seed, nil)
	fmt.Printf("\nhash=%s\n", hash)
}

func TestHashIsTheSameInEveryProcess(t *testing.T) {
	want, _ := crashWorld(t, 5, nil)
	for _, setting := range []string{
		"GOMAXPROCS=1", "GOGC=20", "TZ=Asia/Kathmandu",
		"PADDING=" + string(bytes.Repeat([]byte("x"), 8<<10)),
	} {
		cmd := exec.Command(os.Args[0], "-test.run=TestChildPrintsItsHash$", "-test.v")
		cmd.Env = append(os.Environ(), setting, childSeed+"=5")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "hash="+want, setting[:4])
	}
}

func TestPauseLooksToTheNodeLikeNoTime(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	m.Start()
	require.False(t, w.Run(Minute, m.Ready))
	k := newTalker(w, m)
	w.Scheduler.Spawn(0, k.owner, "talker", func() { k.talk(30) })
	w.Run(300*Millisecond, nil)
	before, turns := k.acked, m.Node().Loop(node.BrokerLoop).Turns()
	m.Pause(Second)
	w.Run(900*Millisecond, nil)
	require.Equal(t, turns, m.Node().Loop(node.BrokerLoop).Turns())
	require.LessOrEqual(t, k.acked, before+1)
	w.Run(Minute, nil)
	require.Equal(t, 30, k.acked)
}

func TestCleanStopEndsTheProcess(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	m.Start()
	require.False(t, w.Run(Minute, m.Ready))
	m.Stop()
	require.False(t, w.Run(Minute, func() bool { return !m.Running() }))
	require.NoError(t, m.Fatal())
	m.Start()
	require.False(t, w.Run(Minute, m.Ready))
	require.Equal(t, 2, m.Lives())
}

func TestWorldClosesAfterAPanic(t *testing.T) {
	w := NewWorld(1)
	defer func() {
		require.Error(t, recover().(error))
		w.Close()
		require.NotPanics(t, func() { NewWorld(2).Close() }, "the seat is free again")
	}()
	m := w.AddMachine(testNodeConfig())
	m.Start()
	m.Disk.Plan = explosive{}
	w.Run(Minute, nil)
}

// explosive is a plan that is wrong.
type explosive struct{}

func (explosive) Decide(op DiskOp) DiskFault {
	if op.Kind == DiskWrite {
		panic("boom")
	}
	return DiskFault{}
}

func TestBootIDChangesOnPowerLossOnly(t *testing.T) {
	w := NewWorld(1)
	defer w.Close()
	m := w.AddMachine(testNodeConfig())
	first := m.bootID
	m.Start()
	w.Run(Second, nil)
	m.Kill()
	require.Equal(t, first, m.bootID)
	m.LosePower(KeepNothing{})
	require.NotEqual(t, first, m.bootID)
	require.Len(t, m.bootID, 36)
}
