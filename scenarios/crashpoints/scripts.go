package crashpoints

import "fmt"

// All returns the scripts in the order of reports.
func All() []*Script { return []*Script{&roll, &truncate, &tornTail, &checkpoint, &metadata} }

// Find returns the scripts of a name: one of them, all, or truncate, which has torn-tail with it as the
// truncation that a single node has. It returns none for a name that there is not.
func Find(name string) (found []*Script) {
	for _, s := range All() {
		if name == "all" || name == s.Name || name == truncate.Name && s == &tornTail {
			found = append(found, s)
		}
	}
	return found
}

// Job is a part of an enumeration, for a process of its own.
type Job struct {
	Script, Mode string
	Shard        int
}

// Shards is the number of parts of each script in each mode. It is fixed, so that counts do not
// depend on how many processes there are.
const Shards = 4

// Jobs returns the parts of these scripts, in the order of reports.
func Jobs(scripts []*Script) (jobs []Job) {
	for _, s := range scripts {
		for _, mode := range []string{FlushMode, DefaultMode} {
			for shard := range Shards {
				jobs = append(jobs, Job{s.Name, mode, shard})
			}
		}
	}
	return jobs
}

// String gives script/mode/shard.
func (j Job) String() string { return fmt.Sprintf("%s/%s/%d", j.Script, j.Mode, j.Shard) }

// ParseJob reads what String gives, and says false for anything else.
func ParseJob(text string) (Job, bool) {
	for _, j := range Jobs(All()) {
		if j.String() == text {
			return j, true
		}
	}
	return Job{}, false
}

// Run does a part.
func (j Job) Run(o Options) *Result {
	o.Shard, o.Shards = j.Shard, Shards
	for _, s := range All() {
		if s.Name == j.Script {
			return Enumerate(s, j.Mode, o)
		}
	}
	panic("no script " + j.Script)
}
