package scenarios

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"stet/core/commitlog"
	"stet/core/env"
	"stet/sim"
	"stet/sim/client"
)

// expendable says whether a machine may lose its directory: it is the budget of faults that a majority
// of the voters keeps theirs, and one that has lost it counts until it is a voter again.
func (w *clusterWatch) expendable(m *sim.Machine) bool {
	active := w.active()
	if active == nil || !w.plan.MachineAt(m.Place).Controller {
		return false
	}
	members := controllerOf(active).Voter().Members()
	if len(members.VotersOutgoing) > 0 {
		return false
	}
	holding := 0
	for _, other := range w.machines {
		c := controllerOf(other)
		if other != m && c != nil && c.Voter() != nil &&
			slices.Contains(members.Voters, c.Voter().Status().Voter) {
			holding++
		}
	}
	return holding > len(members.Voters)/2
}

// voterAt tells what an operator reads off a machine: the directory id, and where its controller
// listens.
func (w *clusterWatch) voterAt(p sim.Place) (client.Voter, bool) {
	for _, m := range w.machines {
		if m.Place != p || m.ControllerAddr == "" {
			continue
		}
		b, ok := m.Disk.Bytes(env.Path{Name: commitlog.MetaPropertiesName})
		if !ok {
			break
		}
		props, err := commitlog.DecodeMetaProperties(b)
		if err != nil {
			break
		}
		v := client.Voter{Node: int32(p)}
		if id, err := base64.RawURLEncoding.DecodeString(props.DirectoryID); err == nil {
			copy(v.Directory[:], id)
		}
		host, port, _ := strings.Cut(m.ControllerAddr, ":")
		n, err := strconv.ParseUint(port, 10, 16)
		v.Host, v.Port = host, uint16(n)
		return v, err == nil
	}
	return client.Voter{}, false
}
