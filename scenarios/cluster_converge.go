package scenarios

import (
	"bytes"
	"fmt"
	"slices"

	"stet/core/controller"
	"stet/core/kafka"
	"stet/core/metadata"
)

// formed says whether the cluster answers: a controller leads, and all brokers that are there from
// the start are registered and not fenced, by its image.
func (r *clusterRun) formed() bool {
	active := r.watch.active()
	if active == nil {
		r.missing = "no controller leads"
		return false
	}
	image := controllerOf(active).Image()
	for i := range r.plan.Machines {
		m := &r.plan.Machines[i]
		if m.Joins > 0 || !m.Broker {
			continue
		}
		if b := image.Broker(kafka.BrokerID(m.ID)); b == nil || !b.Active() {
			r.missing = fmt.Sprintf("broker %d is not active", m.ID)
			return false
		}
	}
	return true
}

// converged is L6: one controller leads, every machine runs, every broker is registered and active,
// and all that are members, or brokers, have the same image. It is asked after each event, so images are
// compared only once all are equally far.
func (r *clusterRun) converged() bool {
	r.missing = ""
	active := r.watch.active()
	if active == nil {
		r.missing = "no controller leads"
		return false
	}
	leader := controllerOf(active)
	for _, m := range r.machines {
		plan := r.plan.MachineAt(m.Place)
		switch {
		case r.watch.outdated(m): // it is refused, and gives up
		case m.Node() == nil:
			r.missing = fmt.Sprintf("%s does not run", m.Place)
		case plan.Controller && controllerOf(m) != leader && !r.follows(leader, controllerOf(m)):
			r.missing = fmt.Sprintf("the controller of %s is not as far as that of %s", m.Place, active.Place)
		case plan.Broker && !r.serves(leader.Image(), kafka.BrokerID(m.Place)):
			r.missing = fmt.Sprintf("the broker of %s is not active", m.Place)
		case plan.Broker && brokerOf(m).Image().Index() != leader.Image().Index():
			r.missing = fmt.Sprintf("the broker of %s is not as far as the controller", m.Place)
		}
		if r.missing != "" {
			return false
		}
	}
	return r.agree(leader)
}

// agree says whether all that are as far as the leader have the same image.
func (r *clusterRun) agree(leader *controller.Controller) bool {
	want := leader.Image().AppendSnapshot(nil)
	differs := func(image *metadata.Image) bool {
		return image.Index() == leader.Image().Index() && !bytes.Equal(image.AppendSnapshot(nil), want)
	}
	for _, m := range r.machines {
		plan := r.plan.MachineAt(m.Place)
		switch {
		case r.watch.outdated(m):
		case plan.Controller && differs(controllerOf(m).Image()):
			r.missing = fmt.Sprintf("the controller of %s has another image than that of the leader", m.Place)
			return false
		case plan.Broker && differs(brokerOf(m).Image()):
			r.missing = fmt.Sprintf("the broker of %s has another image than the controller", m.Place)
			return false
		}
	}
	return true
}

// follows says whether a controller is as far as the leader, or is no member and so need not be.
func (r *clusterRun) follows(leader, c *controller.Controller) bool {
	q := c.Voter()
	if q == nil {
		return !r.mustBeMember(leader, 0)
	}
	voter := q.Status().Voter
	members := leader.Voter().Members()
	if !slices.Contains(members.Voters, voter) {
		return !r.mustBeMember(leader, voter)
	}
	return !c.Ready() && leader.Image().Index() == c.Image().Index()
}

// mustBeMember says whether a controller that is no member is to become one: those join by themselves
// unless that is off, or an operator may have removed them.
func (r *clusterRun) mustBeMember(*controller.Controller, uint64) bool {
	return r.plan.Node.Controller.AutoJoin
}

// serves says whether a broker is registered and active.
func (r *clusterRun) serves(image *metadata.Image, id kafka.BrokerID) bool {
	b := image.Broker(id)
	return b != nil && b.Active()
}
