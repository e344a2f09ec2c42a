package schedule

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what a schedule of a cluster may ask for.
const (
	maxMachines = 50
	maxTopics   = 1000
	maxRecords  = 10_000
)

// writeCluster writes how the topic is replicated, the machines and operators.
//
//	replicas factor=3 min-isr=2
//	machine n1 broker=true controller=true founder=true
//	operator o400
//	  do 3 +20ms create topic=2 partitions=3 replicas=1
func (s *Schedule) writeCluster(w io.Writer) {
	if len(s.Machines) > 0 {
		fmt.Fprintln(w)
	}
	if s.Replicas.Factor > 0 {
		fmt.Fprintf(w, "replicas%s\n", describe(&s.Replicas, nil))
	}
	for i := range s.Machines {
		m := &s.Machines[i]
		fmt.Fprintf(w, "machine n%d%s\n", m.ID, describe(&m.MachineSettings, &MachineSettings{}))
	}
	for i := range s.Operators {
		fmt.Fprintf(w, "\noperator o%d\n", s.Operators[i].ID)
		for j := range s.Operators[i].Operations {
			o := &s.Operators[i].Operations[j]
			fmt.Fprintf(w, "  do %d +%s %s%s\n", o.Number, span(o.After), o.Kind,
				describe(&o.OperationSettings, &OperationSettings{}))
		}
	}
}

func parseOperation(words []string) (o Operation, err error) {
	if len(words) < 3 || !strings.HasPrefix(words[1], "+") {
		return o, errors.New("do: give NUMBER +AFTER KIND name=value…")
	}
	number, err := strconv.ParseUint(words[0], 10, 31)
	o.Number, o.Kind = int(number), OperationKind(words[2])
	after, err2 := parseSpan(words[1][1:])
	if o.After = after; errors.Join(err, err2) != nil || after < 0 {
		return o, fmt.Errorf("do %s: give NUMBER +AFTER KIND", strings.Join(words[:3], " "))
	}
	if !slices.Contains(operationKinds, o.Kind) {
		return o, fmt.Errorf("do %q: there are %v", o.Kind, operationKinds)
	}
	return o, assign(&o.OperationSettings, words[3:])
}

// checkCluster says what contradicts itself in machines and operators.
func (s *Schedule) checkCluster(once func(id int) error) error {
	var faults []error
	seen := map[int]bool{}
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.ID < 1 || m.ID > maxMachines || seen[m.ID] {
			faults = append(faults, fmt.Errorf("machine n%d: give each a number of its own, 1 to %d", m.ID, maxMachines))
		}
		if seen[m.ID] = true; !m.Broker && !m.Controller || m.Joins < 0 || m.BootLeap < 0 || m.Level < 0 {
			faults = append(faults, fmt.Errorf("machine n%d: give it a role, and nothing below zero", m.ID))
		}
	}
	for i := range s.Operators {
		faults = append(faults, once(s.Operators[i].ID))
		for j := range s.Operators[i].Operations {
			o := &s.Operators[i].Operations[j]
			if o.Topic < 0 || o.Topic > maxTopics || o.Partitions < 0 || o.Partitions > maxPartitions ||
				o.Records < 0 || o.Records > maxRecords {
				faults = append(faults, fmt.Errorf("o%d do %d: at most topic %d, %d partitions, %d records",
					s.Operators[i].ID, o.Number, maxTopics, maxPartitions, maxRecords))
			}
		}
	}
	return errors.Join(faults...)
}

// checkAlone says what of a run of one node only a cluster has.
func (s *Schedule) checkAlone() error {
	for i := range s.Faults {
		f := &s.Faults[i]
		inCluster := f.Do.Verb == Stop || f.Do.Verb == Wipe || f.At.Since != "" ||
			f.At.Request != nil && f.At.Request.Operator
		if inCluster && len(s.Machines) == 0 {
			return fmt.Errorf("fault %s: only in a cluster: give machines", f)
		}
	}
	return nil
}

// Moment is a point of a run that faults may be told from.
type Moment string

// The moments of a cluster's run.
const (
	Start Moment = "start" // the machines are started
	Work  Moment = "work"  // the cluster has formed, and operators begin
)

func (m Moment) known() bool { return m == Start || m == Work }

// parseMoment reads "work +5ms".
func parseMoment(w []string, bad error) (a Anchor, err error) {
	a.Since = Moment(w[0])
	a.Delay, err = parseSpan(strings.TrimPrefix(w[1], "+"))
	if err != nil || w[1][0] != '+' || a.Delay < 0 {
		return Anchor{}, bad
	}
	return a, nil
}

// arrow gives "n1->n2" or "n1<->n2".
func (a *Action) arrow() string {
	if a.Both {
		return a.Node.String() + "<->" + a.Client.String()
	}
	return a.Node.String() + "->" + a.Client.String()
}
