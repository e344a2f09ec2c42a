package shrink

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
	"stet/scenarios/schedule"
	"stet/sim"
)

// largeCluster is a schedule of five machines and two operators.
func largeCluster() *schedule.Schedule {
	s := &schedule.Schedule{Node: schedule.BaseNode(), World: schedule.BaseWorld()}
	s.Scenario = "controller-failover"
	for id := 1; id <= 5; id++ {
		s.Machines = append(s.Machines, schedule.Machine{ID: id, MachineSettings: schedule.MachineSettings{
			Broker: true, Controller: id < 4, Founder: id < 4, Joins: sim.Time(id-1) * sim.Second, Drift: 7,
		}})
	}
	for i := range 2 {
		o := schedule.Operator{ID: 400 + i}
		for n := range 50 {
			o.Operations = append(o.Operations, schedule.Operation{
				Number: n + 1, After: 12345, Kind: schedule.CreateTopic,
				OperationSettings: schedule.OperationSettings{Topic: 3, Partitions: 4, Replicas: 2, Via: 1, ByName: true},
			})
		}
		s.Operators = append(s.Operators, o)
	}
	for i := range 8 {
		s.Faults = append(s.Faults, schedule.Fault{
			At: schedule.Anchor{Since: schedule.Work, Delay: sim.Time(i) * sim.Second},
			Do: schedule.Action{Verb: schedule.Kill, Node: sim.Place(1 + i%5), Down: sim.Second},
		})
	}
	return s
}

// needs fails Q1 as long as two machines, one of them a controller, an operation and a fault are there.
func needs(s *schedule.Schedule) scenarios.Check {
	two, four := s.MachineAt(2), s.MachineAt(4)
	if two == nil || four == nil || !two.Controller || !four.Broker {
		return scenarios.Passed
	}
	faults := 0
	for _, f := range s.Faults {
		if f.Do.Node == 4 {
			faults++
		}
	}
	for _, o := range s.Operators {
		for _, op := range o.Operations {
			if op.Number == 17 && o.ID == 401 && faults > 0 {
				return "Q1"
			}
		}
	}
	return scenarios.Passed
}

func TestAClusterIsMadeSmall(t *testing.T) {
	report, _ := run(t, largeCluster(), 1, needs)
	s := report.After
	require.Equal(t, []schedule.Machine{
		{ID: 2, MachineSettings: schedule.MachineSettings{Controller: true, Founder: true}},
		{ID: 4, MachineSettings: schedule.MachineSettings{Broker: true}},
	}, s.Machines)
	require.Len(t, s.Faults, 1)
	require.Len(t, s.Operators, 1)
	require.Equal(t, []schedule.Operation{{
		Number: 17, Kind: schedule.CreateTopic,
		OperationSettings: schedule.OperationSettings{Topic: 3, Partitions: 1, Replicas: 1},
	}}, s.Operators[0].Operations)
}
