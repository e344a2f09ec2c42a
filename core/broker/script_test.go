package broker

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

var rewrite = flag.Bool("rewrite", false, "write the transcripts of the golden scripts anew")

// TestScripts runs the golden scripts of testdata. A script is a sequence of blocks: commands, a
// line of dashes, and what they caused, until an empty line.
//
//	topic NAME [partitions=N] [CONFIG=VALUE...]
//	delete NAME
//	produce CLIENT TOPIC/PARTITION [acks=all|1|0] [pid=N] [epoch=N] [seq=N] VALUE...
//	fetch CLIENT TOPIC/PARTITION@OFFSET... [session=ID/EPOCH] [min=N] [max=N] [wait=MS] [forget=TOPIC/PARTITION]
//	deliver [N]        perform N outstanding things, or all
//	sent               responses with ranges have left
//	tick MS            time passes
//	fail write|sync    the next operation of this kind fails
//	leader TOPIC/PARTITION EPOCH [BROKER]   the controller bumps the leader epoch
//	kill, stop, start  the process
//	leave              a clean stop begins
//	launch             the process starts, and is not waited for
//
// A script that begins with the line "controllers ADDR..." has these, with the node ids from 11 on:
//
//	leads ADDR [unknown]   this one leads, and the others may not know it
//	refuse [ADDR...]   these refuse connections
//	cut                the link to the controller breaks
//	duplicate on|off   registrations are refused because another broker has this id
//	release            the controller lets a broker go that wants to stop
//	create NAME        the controller creates a topic with one partition
func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.script")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".script"), func(t *testing.T) {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			got := runScript(t, string(content))
			if *rewrite {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(content), got)
		})
	}
}

const dashes = "----"

// runScript runs the commands of a script and returns it with the transcript that came out.
func runScript(t *testing.T, script string) string {
	s := &scriptRun{}
	s.harness = newHarness(t, func(c *Config) {
		first, _, _ := strings.Cut(script, "\n")
		if addrs, ok := strings.CutPrefix(first, "controllers "); ok {
			c.Controllers = nil
			for i, addr := range strings.Fields(addrs) {
				c.Controllers = append(c.Controllers,
					kafka.ControllerAddress{Node: kafka.BrokerID(11 + i), Addr: addr})
			}
		}
	})
	s.watch = s.observe
	s.observe()
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		commands, _, _ := strings.Cut(block, "\n"+dashes)
		s.lines = nil
		for command := range strings.Lines(commands) {
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				s.command(strings.Fields(command))
				s.observe()
			}
		}
		fmt.Fprintf(&out, "%s\n%s\n", commands, dashes)
		for _, line := range s.lines {
			out.WriteString(line + "\n")
		}
		out.WriteString("\n")
	}
	return strings.TrimSpace(out.String()) + "\n"
}

// scriptRun is a run of a script.
type scriptRun struct {
	*harness
	lines []string
	seen  map[string]string // replica to its state
	said  string            // of the broker itself
}

func (s *scriptRun) say(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

// observe notes what has changed since the last call.
func (s *scriptRun) observe() {
	now := map[string]string{}
	for _, r := range s.broker.host.all {
		name := fmt.Sprint(r.Name())
		if s.broker.host.find(r.TopicID, r.Partition) != r {
			name += " (former)"
		}
		now[name] = fmt.Sprintf("%s hw=%d end=%d", r.State(), r.HighWatermark(), r.LogEndOffset())
		if now[name] != s.seen[name] {
			s.say("%s: %s", name, now[name])
		}
	}
	s.seen = now
	s.observeBroker()
	for _, r := range s.take() {
		s.response(r)
	}
	for _, c := range s.closed {
		s.say("c%d: connection closed", c)
	}
	s.closed = nil
}

// observeBroker notes where a broker in a cluster stands.
func (s *scriptRun) observeBroker() {
	if s.config.Controllers[0].Addr == "" {
		return
	}
	for _, addr := range s.dialled {
		s.say("dials %s", addr)
	}
	s.dialled = s.dialled[:0]
	r, now := &s.broker.register, "not registered"
	switch {
	case s.broker.Fatal() != nil:
		now = "fatal: " + s.broker.Fatal().Error()
	case s.broker.Stopped():
		now = "stopped"
	case r.caughtUp && s.broker.departure.under:
		now = "wants to stop"
	case r.caughtUp:
		now = fmt.Sprintf("serves under epoch %d", r.epoch)
	case r.known:
		now = fmt.Sprintf("registered under epoch %d", r.epoch)
	}
	if now != s.said {
		s.say("%s", now)
	}
	s.said = now
}

func (s *scriptRun) response(r reply) {
	switch m := r.response.(type) {
	case *kmsg.ProduceResponse:
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				s.say("c%d: produce %s/%d %s base=%d", r.conn, s.topic(t.TopicID), p.Partition,
					kafka.ErrorCode(p.ErrorCode), p.BaseOffset)
			}
		}
	case *kmsg.FetchResponse:
		s.say("c%d: fetch %s session=%d", r.conn, kafka.ErrorCode(m.ErrorCode), s.session(m.SessionID))
		for i := range m.Topics {
			for j := range m.Topics[i].Partitions {
				p := &m.Topics[i].Partitions[j]
				f := readFetched(p)
				s.say("    %s/%d %s hw=%d %q", s.topic(m.Topics[i].TopicID), p.Partition, f.code,
					f.highWatermark, f.values)
			}
		}
	case *kmsg.CreateTopicsResponse, *kmsg.DeleteTopicsResponse:
	default:
		s.say("c%d: %T", r.conn, m)
	}
}

// session numbers sessions in the order in which they are opened, for scripts.
func (s *scriptRun) session(id int32) int {
	for i, o := range s.broker.sessions.order {
		if o.id == id {
			return i + 1
		}
	}
	return 0
}

func (s *scriptRun) topic(id kafka.TopicID) string {
	if topic := s.controller.image.TopicByID(id); topic != nil {
		return topic.Name
	}
	return "?"
}

func (s *scriptRun) command(words []string) {
	settings := map[string]string{}
	var plain []string
	for _, w := range words[1:] {
		if name, value, ok := strings.Cut(w, "="); ok {
			settings[name] = value
		} else {
			plain = append(plain, w)
		}
	}
	number := func(name string, otherwise int64) int64 {
		if v, ok := settings[name]; ok {
			n, err := strconv.ParseInt(v, 10, 64)
			require.NoError(s.t, err)
			return n
		}
		return otherwise
	}
	switch words[0] {
	case "topic":
		partitions := int32(number("partitions", 1))
		delete(settings, "partitions")
		var configs []string
		for name, value := range settings {
			configs = append(configs, name, value)
		}
		s.createTopic(plain[0], partitions, configs...)
	case "delete":
		s.controller.delete(s.controller.image.Topic(plain[0]).ID)
		s.controller.publish(s.harness)
	case "produce":
		s.produceCommand(plain, settings, number)
	case "fetch":
		s.fetchCommand(plain, settings, number)
	case "deliver":
		if len(plain) == 0 {
			s.deliver()
			return
		}
		n, err := strconv.Atoi(plain[0])
		require.NoError(s.t, err)
		for range n {
			s.step()
		}
	case "sent":
		s.sent()
	case "tick":
		ms, err := strconv.ParseInt(plain[0], 10, 64)
		require.NoError(s.t, err)
		s.tick(ms)
	case "fail":
		s.failOp = plain[0]
	case "leader":
		s.leaderCommand(plain)
	case "controllers":
	case "leads", "refuse", "cut", "duplicate", "release", "create":
		s.controllerCommand(words[0], plain)
	case "leave":
		s.turn(env.Event{Kind: env.EventConfig, Res: Shutdown{}})
	case "launch":
		s.launch()
	case "kill":
		s.kill()
	case "stop":
		s.stop()
	case "start":
		s.start()
	default:
		s.t.Fatalf("unknown command %q", words[0])
	}
}

func client(t *testing.T, name string) env.ConnID {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
	require.NoError(t, err)
	return env.ConnID(n)
}

func splitPartition(t *testing.T, name string) (string, int32) {
	topic, id, ok := strings.Cut(name, "/")
	require.True(t, ok, name)
	n, err := strconv.Atoi(id)
	require.NoError(t, err)
	return topic, int32(n)
}

func (s *scriptRun) produceCommand(plain []string, settings map[string]string,
	number func(string, int64) int64,
) {
	spec := record.Plain()
	if _, ok := settings["pid"]; ok {
		spec.ProducerID = kafka.ProducerID(number("pid", 0))
		spec.ProducerEpoch = kafka.ProducerEpoch(number("epoch", 0))
		spec.BaseSequence = kafka.Sequence(number("seq", 0))
	}
	acks := int64(-1)
	if settings["acks"] != "all" {
		acks = number("acks", -1)
	}
	topic, id := splitPartition(s.t, plain[1])
	s.ask(client(s.t, plain[0]), s.produceRequest(topic, id, int16(acks),
		batch(spec, s.now.WallMs, plain[2:]...)))
}

func (s *scriptRun) fetchCommand(plain []string, settings map[string]string,
	number func(string, int64) int64,
) {
	m := s.fetchRequest("", 0)
	m.MaxWaitMillis = int32(number("wait", 500))
	m.MinBytes = int32(number("min", 1))
	m.MaxBytes = int32(number("max", 50<<20))
	if session, ok := settings["session"]; ok {
		place, epoch, _ := strings.Cut(session, "/")
		n, err := strconv.Atoi(place)
		require.NoError(s.t, err)
		if n > 0 && n <= len(s.broker.sessions.order) {
			m.SessionID = s.broker.sessions.order[n-1].id
		} else {
			m.SessionID = int32(n)
		}
		e, err := strconv.Atoi(epoch)
		require.NoError(s.t, err)
		m.SessionEpoch = int32(e)
	}
	for _, w := range plain[1:] {
		name, offset, _ := strings.Cut(w, "@")
		topic, id := splitPartition(s.t, name)
		n, err := strconv.ParseInt(offset, 10, 64)
		require.NoError(s.t, err)
		one := s.fetchRequest(topic, n, id)
		m.Topics = append(m.Topics, one.Topics...)
	}
	if name, ok := settings["forget"]; ok {
		topic, id := splitPartition(s.t, name)
		f := kmsg.NewFetchRequestForgottenTopic()
		f.TopicID, f.Partitions = s.controller.image.Topic(topic).ID, []int32{id}
		m.ForgottenTopics = append(m.ForgottenTopics, f)
	}
	s.ask(client(s.t, plain[0]), m)
}

func (s *scriptRun) controllerCommand(name string, plain []string) {
	c := s.controller
	switch name {
	case "leads":
		c.leader, c.hintless = plain[0], len(plain) > 1
	case "refuse":
		c.down = map[string]bool{}
		for _, addr := range plain {
			c.down[addr] = true
		}
	case "cut":
		s.turn(env.Event{Kind: env.EventConnClosed, Conn: s.link, Err: env.EReset})
	case "duplicate":
		c.duplicate = plain[0] == "on"
	case "release":
		c.release = true
	case "create":
		c.create(&kmsg.CreateTopicsRequestTopic{Topic: plain[0], NumPartitions: 1})
		c.publish(s.harness)
	}
}

func (s *scriptRun) leaderCommand(plain []string) {
	name, id := splitPartition(s.t, plain[0])
	epoch, err := strconv.Atoi(plain[1])
	require.NoError(s.t, err)
	leader := s.config.NodeID
	if len(plain) > 2 {
		n, err := strconv.Atoi(plain[2])
		require.NoError(s.t, err)
		leader = kafka.BrokerID(n)
	}
	s.controller.lead(name, kafka.PartitionID(id), kafka.LeaderEpoch(epoch), leader)
	s.controller.publish(s.harness)
}
