package scenarios

import (
	"cmp"
	"slices"
	"strings"

	"stet/core/invariant"
)

// Scenario is a workload, faults and checks, as data that a seed decides.
type Scenario struct {
	Name        string
	Description string
	// Floors are what a campaign has to reach.
	Floors Floors
	// adapt turns the plan that every scenario draws into this one's.
	adapt func(d draw, p *plan)
	// cluster does that for runs of a cluster; the others have none.
	cluster func(d draw, p *clusterPlan)
	// replication does that for runs whose topic is replicated.
	replication func(d draw, p *replicationPlan)
	// mayExcuse says that the faults may take acknowledged records.
	mayExcuse bool
}

// All lists the scenarios in the order of their names.
func All() []*Scenario {
	return []*Scenario{diskFaults(), idempotentRetries(), singleNodeKill(), singleNodePowerLoss()}
}

// Clusters lists those of clusters, whose generator is not frozen yet: All does not have them.
func Clusters() []*Scenario {
	return []*Scenario{
		clockChaos(), controllerDiskLoss(), controllerFailover(), deleteRecreate(), membershipChange(),
		mixedVersions(), quorumPartition(),
	}
}

// Replication lists those whose topic is replicated, with a generator of their own.
func Replication() []*Scenario {
	return []*Scenario{
		asymmetricPartition(), failover(), fastElections(), isrChurn(), kitchenSink(), partitionedLeader(), pauses(),
		powerLossAll(), powerLossOneAtATime(), rollingRestart(),
	}
}

// Marks lists the coverage marks that a campaign over the scenarios of these names is there to reach:
// what one node does, what it takes several for, what it takes several replicas for.
func Marks(names []string) (marks []string) {
	groups := map[invariant.Takes][]*Scenario{
		invariant.OneNode: All(), invariant.ACluster: Clusters(), invariant.Followers: Replication(),
	}
	for _, m := range invariant.Marks() {
		named := func(s *Scenario) bool { return slices.Contains(names, s.Name) }
		if slices.ContainsFunc(groups[m.Takes], named) {
			marks = append(marks, m.Name)
		}
	}
	return marks
}

// Find returns the scenario of a name, or nil and the names that are near to it.
func Find(name string) (*Scenario, []string) {
	var names []string
	for _, s := range slices.Concat(All(), Clusters(), Replication()) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(distance(name, a), distance(name, b))
	})
	near := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return distance(name, n) > len(n)/2 && !strings.Contains(n, name)
	})
	if len(near) == 0 || name == "" {
		return nil, names
	}
	return nil, near
}

// distance counts the letters that have to be changed to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
