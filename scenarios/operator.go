package scenarios

import (
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
	"stet/linearizability/metadata"
	"stet/scenarios/schedule"
	"stet/sim"
	"stet/sim/client"
)

// operator carries out the operations of one operator of the schedule.
type operator struct {
	*clusterRun
	id     int
	todo   []schedule.Operation
	admin  *client.Administrator // of brokers
	voters *client.Administrator // of controllers
	known  map[int]kafka.TopicID // ids of topics, as last told
	number int                   // of the operation under way, 0 for none
	give   int                   // how often an operation is tried at most
}

// maxTries is how often an operator tries an operation that is not answered: it gives up in the end,
// and what it asked for may come later.
const maxTries = 6

// operatorsFrom and the probe have places of their own.
const (
	firstOperator = 400
	probeOperator = 490

	upgradeOperator = 491
)

func (r *clusterRun) newOperator(id int, impatience sim.Interval) *operator {
	place, owner := r.world.ClientAt(id)
	h := &client.Host{
		Scheduler: r.world.Scheduler, Network: r.world.Network, Owner: owner,
		Name: fmt.Sprintf("sim-%d", id), Stream: r.world.Entropy.Stream("client", place),
		Observer: troubles{r.findings}, RequestTimeout: impatience, Pause: r.plan.Clients.Pause,
	}
	o := &operator{
		clusterRun: r, id: id, known: map[int]kafka.TopicID{}, give: maxTries,
		admin: &client.Administrator{Host: h}, voters: &client.Administrator{Host: h},
	}
	for _, m := range r.machines {
		if m.Addr != "" {
			o.admin.Servers = append(o.admin.Servers, client.Server{Place: m.Place, Addr: m.Addr})
		}
		if m.ControllerAddr != "" {
			o.voters.Servers = append(o.voters.Servers, client.Server{Place: m.Place, Addr: m.ControllerAddr})
		}
	}
	return o
}

// troubles counts what a client was told and should not have been.
type troubles struct{ *findings }

func (troubles) AttemptStarted(*client.Send)               {}
func (troubles) AttemptEnded(*client.Send, client.Attempt) {}
func (troubles) SendReturned(*client.Send)                 {}
func (troubles) PollInvoked(*client.Poll)                  {}
func (troubles) PollReturned(*client.Poll)                 {}
func (troubles) ListInvoked(*client.List)                  {}
func (troubles) ListReturned(*client.List)                 {}

// Trouble implements client.Observer.
func (t troubles) Trouble(text string) { t.fails("H10", "%s", text) }

// operate starts the operators.
func (r *clusterRun) operate() {
	for i := range r.plan.Operators {
		p := &r.plan.Operators[i]
		o := r.newOperator(p.ID, r.plan.Clients.Impatience)
		o.todo = p.Operations
		r.operators = append(r.operators, o)
		r.busy++
		r.world.Scheduler.Spawn(0, o.admin.Host.Owner, o.admin.Host.Name, func() {
			o.run()
			r.busy--
		})
	}
}

func (o *operator) String() string {
	return fmt.Sprintf("operator o%d: at operation %d", o.id, o.number)
}

func (o *operator) run() {
	for i := range o.todo {
		op := &o.todo[i]
		o.world.Scheduler.Await(op.After)
		o.number = op.Number
		if op.Via > 0 {
			o.admin.Prefer(sim.Place(op.Via))
		}
		for try := 1; try <= o.give; try++ {
			if !o.saboteur.healed {
				o.saboteur.director.requested(schedule.Request{
					Producer: o.id, Send: op.Number, Try: try, Operator: true,
				})
			}
			if o.carryOut(op) {
				break
			}
			h := o.admin.Host
			o.world.Scheduler.Await(h.Stream.Delay(h.Pause.Low, h.Pause.High))
		}
	}
	o.number = 0
	o.admin.Close()
	o.voters.Close()
}

// topicOf is the name of a topic of the schedule.
func topicOf(n int) string { return "t" + strconv.Itoa(n) }

// carryOut makes one request, or those of a write or a read, and says whether the operation is over.
func (o *operator) carryOut(op *schedule.Operation) bool {
	name := topicOf(op.Topic)
	broker := strconv.Itoa(op.Node)
	switch op.Kind {
	case schedule.CreateTopic:
		return o.settled(o.create(op, name))
	case schedule.ProbeTopic:
		return o.settled(o.ledger.ask(metadata.Operation{
			Client: o.id, Kind: metadata.Probe, Resource: topicResource(name),
		}, func(*metadata.Operation) kafka.ErrorCode {
			_, code := o.admin.CreateTopic(client.NewTopic{Name: name, Partitions: 1, Replicas: 1, Validate: true})
			return code
		}))
	case schedule.DeleteTopic:
		return o.settled(o.remove(op, name))
	case schedule.GrowTopic:
		return o.settled(o.ledger.ask(metadata.Operation{
			Client: o.id, Kind: metadata.Grow, Resource: topicResource(name), Partitions: op.Partitions,
		}, func(*metadata.Operation) kafka.ErrorCode { return o.admin.GrowTopic(name, op.Partitions) }))
	case schedule.SetTopic:
		return o.settled(o.set(topicResource(name), kmsg.ConfigResourceTypeTopic, o.topicKey(op), markBase))
	case schedule.GetTopic:
		return o.settled(o.get(topicResource(name), kmsg.ConfigResourceTypeTopic, o.topicKey(op)))
	case schedule.SetBroker:
		r := metadata.Resource{Type: "broker", Name: broker}
		return o.settled(o.set(r, kmsg.ConfigResourceTypeBroker, brokerKey, brokerBase))
	case schedule.GetBroker:
		r := metadata.Resource{Type: "broker", Name: broker}
		return o.settled(o.get(r, kmsg.ConfigResourceTypeBroker, brokerKey))
	case schedule.Write:
		return o.cargo.write(o, op, name)
	case schedule.ReadAll:
		return o.cargo.read(o, name)
	case schedule.AddVoter, schedule.RemoveVoter:
		return o.changeVoters(op)
	case schedule.Upgrade:
		o.upgrade(op)
	case schedule.RaiseLevel, schedule.LowerLevel:
		code := o.setLevel(op)
		return o.settled(code) || code == kafka.InvalidUpdateVersion
	case schedule.Identify:
		return o.settled(o.identify())
	}
	return true
}

// topicKey is the setting that an operation is about.
func (o *operator) topicKey(op *schedule.Operation) string {
	if op.ByName {
		return otherKey
	}
	return topicMark
}

// settled says whether a code ends an operation. A retry is made where a client makes one: when there
// was no answer, or one that says to try again.
func (o *operator) settled(code kafka.ErrorCode) bool {
	return outcomeOf(metadata.Create, code) != metadata.Unknown
}

func (o *operator) create(op *schedule.Operation, name string) kafka.ErrorCode {
	mark := o.ledger.mark(markBase)
	return o.ledger.ask(metadata.Operation{
		Client: o.id, Kind: metadata.Create, Resource: topicResource(name), Partitions: op.Partitions,
		Key: topicMark, Value: mark,
	}, func(h *metadata.Operation) kafka.ErrorCode {
		id, code := o.admin.CreateTopic(client.NewTopic{
			Name: name, Partitions: op.Partitions, Replicas: op.Replicas, Key: topicMark, Value: mark,
		})
		if code == kafka.None {
			h.ID, o.known[op.Topic] = id, id
		}
		return code
	})
}

// remove deletes a topic: that of the id which the operator knows, if it knows one.
func (o *operator) remove(op *schedule.Operation, name string) kafka.ErrorCode {
	id := o.known[op.Topic]
	if op.ByName {
		id = kafka.TopicID{}
	} else if id == (kafka.TopicID{}) {
		layout, _ := o.admin.Layout(name)
		id = layout.ID
	}
	return o.ledger.ask(metadata.Operation{
		Client: o.id, Kind: metadata.Delete, Resource: topicResource(name), ID: id,
	}, func(*metadata.Operation) kafka.ErrorCode {
		code := o.admin.DeleteTopic(name, id)
		if outcomeOf(metadata.Delete, code) != metadata.Unknown {
			delete(o.known, op.Topic)
		}
		return code
	})
}

func (o *operator) set(r metadata.Resource, of kmsg.ConfigResourceType, key string, base int) kafka.ErrorCode {
	value := o.ledger.mark(base)
	return o.ledger.ask(metadata.Operation{
		Client: o.id, Kind: metadata.Set, Resource: r, Key: key, Value: value,
	}, func(*metadata.Operation) kafka.ErrorCode { return o.admin.Set(of, r.Name, key, value) })
}

func (o *operator) get(r metadata.Resource, of kmsg.ConfigResourceType, key string) kafka.ErrorCode {
	return o.ledger.ask(metadata.Operation{
		Client: o.id, Kind: metadata.Read, Resource: r, Key: key,
	}, func(h *metadata.Operation) (code kafka.ErrorCode) {
		h.Value, code = o.admin.Get(of, r.Name, key)
		return code
	})
}

// identify asks for a producer id: nobody gets one that was given before.
func (o *operator) identify() kafka.ErrorCode {
	id, code := o.admin.ProducerID()
	o.findings.counters["client.operations"]++
	if code == kafka.None {
		o.findings.checked("M3")
		if o.ledger.blocks[id] {
			o.findings.fails("M3", "producer id %d is given a second time", id)
		}
		o.ledger.blocks[id] = true
	}
	return code
}

// changeVoters adds or removes the voter of a node. Who removes one looks first whether there are
// enough: fewer than three voters stand no fault.
func (o *operator) changeVoters(op *schedule.Operation) bool {
	now, code := o.voters.Quorum()
	if code != kafka.None {
		return false
	}
	o.findings.counters["client.operations"]++
	for _, v := range now.Voters {
		if v.Node != int32(op.Node) {
			continue
		}
		if op.Kind == schedule.AddVoter || len(now.Voters) <= 3 {
			return true
		}
		if now.Leader > 0 {
			o.voters.Prefer(sim.Place(now.Leader))
		}
		code := o.voters.RemoveVoter(v)
		o.findings.counters["client.remove-voter."+code.String()]++
		return o.settled(code) || code == kafka.VoterNotFound
	}
	if op.Kind == schedule.RemoveVoter {
		return true
	}
	v, ok := o.watch.voterAt(sim.Place(op.Node))
	if !ok {
		return false
	}
	if now.Leader > 0 {
		o.voters.Prefer(sim.Place(now.Leader))
	}
	code = o.voters.AddVoter(v)
	o.findings.counters["client.add-voter."+code.String()]++
	return o.settled(code) || code == kafka.DuplicateVoter
}

// probe has a fresh and patient operator create a topic, read what it has set, and delete it.
func (r *clusterRun) probe() func() bool {
	started, done := false, false
	return func() bool {
		if started {
			return done
		}
		started = true
		o := r.newOperator(probeOperator, sim.Interval{Low: 5 * sim.Second, High: 10 * sim.Second})
		o.give = 1000
		o.todo = []schedule.Operation{
			{Number: 1, Kind: schedule.CreateTopic, OperationSettings: schedule.OperationSettings{Topic: 999, Partitions: 1, Replicas: 1}},
			{Number: 2, Kind: schedule.GetTopic, OperationSettings: schedule.OperationSettings{Topic: 999}},
			{Number: 3, Kind: schedule.Write, OperationSettings: schedule.OperationSettings{Topic: 999, Records: 1}},
			{Number: 4, Kind: schedule.ReadAll, OperationSettings: schedule.OperationSettings{Topic: 999}},
			{Number: 5, Kind: schedule.DeleteTopic, OperationSettings: schedule.OperationSettings{Topic: 999}},
		}
		r.operators = append(r.operators, o)
		r.world.Scheduler.Spawn(0, o.admin.Host.Owner, o.admin.Host.Name, func() {
			o.run()
			done = true
		})
		return false
	}
}
