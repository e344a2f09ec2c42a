package golden

import (
	"strings"

	"stet/core/env"
	"stet/sim"
)

// capacity bounds a disk.
func capacity(s *stage, a *args) {
	m, bytes := s.machine(a), a.next("bytes")
	if n := a.number(bytes); a.ok() {
		if strings.HasPrefix(bytes, "+") {
			n += used(m.Disk)
		}
		m.Disk.Capacity = n
	}
}

// fault plans that a call of a disk goes wrong.
func fault(s *stage, a *args) {
	m := s.machine(a)
	call, ordinal := a.next("a call"), a.next("an ordinal")
	if of := a.next("of"); of != "of" {
		a.fails("%q stands where of should", of)
	}
	rule := sim.DiskRule{Path: longName(a.next("a file"))}
	what, value, _ := strings.Cut(a.next("a fault"), ":")
	if !a.ok() {
		return
	}
	rule.Kind = named(a, call, sim.DiskSyncDir, sim.DiskOpKind.String)
	rule.Fault.Kind = named(a, what, sim.DiskMisdirect, sim.DiskFaultKind.String)
	switch {
	case value == "":
	case rule.Fault.Kind == sim.DiskSlow:
		rule.Fault.Delay = a.asDuration(value)
	default:
		rule.Fault.Bytes = a.number(value)
	}
	switch ordinal {
	case "every":
	case "next":
		rule.Ordinal = m.Disk.Calls(env.Path{Name: rule.Path}, rule.Kind) + 1
	default:
		rule.Ordinal = int(a.number(ordinal))
	}
	plan, _ := m.Disk.Plan.(sim.DiskRules)
	m.Disk.Plan = append(plan, rule)
}

// named finds the kind, up to the last one, that goes by a name with _ for spaces.
func named[K ~uint8](a *args, name string, last K, text func(K) string) K {
	for k := range last + 1 {
		if strings.ReplaceAll(text(k), " ", "_") == name {
			return k
		}
	}
	a.fails("%q is unknown", name)
	return 0
}

// flip has the medium decay.
func flip(s *stage, a *args) {
	m, p := s.machine(a), env.Path{Name: longName(a.next("a file"))}
	off, bit := a.number(a.option("byte", "")), a.number(a.option("bit", "0"))
	if a.ok() && !m.Disk.Flip(p, off, uint(bit)) {
		a.fails("%s has no byte %d", p.Name, off)
	}
}

// used returns the bytes that files take on a disk, in whole pages.
func used(d *sim.Disk) (bytes int64) {
	for _, name := range d.Files(0) {
		content, _ := d.Bytes(env.Path{Name: name})
		bytes += (int64(len(content)) + sim.PageSize - 1) / sim.PageSize * sim.PageSize
	}
	return bytes
}
