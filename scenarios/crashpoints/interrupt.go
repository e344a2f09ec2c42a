package crashpoints

import "stet/sim"

// interrupt starts a node on the disk and kills it at a disk operation of its start, or cuts the
// power, and says whether there was such an operation.
func (t *trial) interrupt(target int, power sim.PowerFates) bool {
	w := &window{
		scheduler: t.world.Scheduler, disk: t.machine.Disk, open: true, target: target,
		moment: moment{when: early},
	}
	w.strike = func() {
		if power != nil {
			t.machine.LosePower(power)
		} else {
			t.machine.Kill()
		}
	}
	t.machine.Disk.Plan = w
	t.machine.Start()
	t.world.Run(startTime, func() bool { return w.struck || t.served() && t.machine.Disk.InFlight() == 0 })
	t.machine.Disk.Plan = sim.NoDiskFaults{}
	return w.struck
}

// served says whether the node has recovered all its logs.
func (t *trial) served() bool {
	if !t.machine.Ready() {
		return t.machine.Fatal() != nil
	}
	for _, topic := range t.ledger.topics {
		if r := replicaOf(t.machine, topic.name); r != nil && r.Log() == nil {
			return false
		}
	}
	return true
}
