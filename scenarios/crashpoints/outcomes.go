package crashpoints

import (
	"fmt"
	"slices"
	"strings"

	"stet/sim"
)

// question is one thing that a power loss decides, with answers from 0, as little as possible
// became durable, to options-1, as much as possible.
type question struct {
	label   string
	options int
}

// outcome is one way a power loss can go: what is decided otherwise than by the rule.
type outcome struct {
	most   bool // the rule: as much as possible, or as little
	except []answer
}

type answer struct {
	label string
	value int
}

// String tells the outcome for reports.
func (o outcome) String() string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "all kept", false: "nothing kept"}[o.most])
	for i, a := range o.except {
		fmt.Fprintf(&b, "%s %s: %d", map[bool]string{true: ", but", false: ","}[i == 0], a.label, a.value)
	}
	return b.String()
}

// fates carries an outcome out, and notes what was asked: sim.PowerFates.
type fates struct {
	outcome
	asked  []question
	chains int
}

func (f *fates) answer(label string, options int) int {
	f.asked = append(f.asked, question{label, options})
	for _, a := range f.except {
		if a.label == label {
			return min(a.value, options-1)
		}
	}
	if f.most {
		return options - 1
	}
	return 0
}

// Kept implements sim.PowerFates: any prefix of a chain.
func (f *fates) Kept(changes []string) int {
	f.chains++
	return f.answer(fmt.Sprintf("names %d (%s)", f.chains, strings.Join(changes, ", ")), len(changes)+1)
}

// Size implements sim.PowerFates: the durable size, the page boundaries next to both ends, or the
// size that processes saw.
func (f *fates) Size(file sim.UnsyncedFile) int64 {
	sizes := sizesOf(file)
	return sizes[f.answer("size of "+fileLabel(file), len(sizes))]
}

func sizesOf(file sim.UnsyncedFile) []int64 {
	low, high := min(file.DurableSize, file.CachedSize), max(file.DurableSize, file.CachedSize)
	sizes := []int64{low}
	for _, boundary := range []int64{(low/sim.PageSize + 1) * sim.PageSize, (high - 1) / sim.PageSize * sim.PageSize} {
		if boundary > sizes[len(sizes)-1] && boundary < high {
			sizes = append(sizes, boundary)
		}
	}
	if high > low {
		sizes = append(sizes, high)
	}
	if file.CachedSize < file.DurableSize {
		slices.Reverse(sizes)
	}
	return sizes
}

// Page implements sim.PowerFates: old or new, and for the last dirty page three ways to be torn in
// the middle of what has changed.
func (f *fates) Page(file sim.UnsyncedFile, index int) sim.PageFate {
	options := []sim.PageFate{sim.Uniform(sim.SectorOld), sim.Uniform(sim.SectorNew)}
	if index == file.Dirty[len(file.Dirty)-1] {
		options = slices.Insert(options, 1, tornPages(file, index)...)
	}
	return options[f.answer(fmt.Sprintf("page %d of %s", index, fileLabel(file)), len(options))]
}

// tornPages are: the front old and the rest new, the front new and the rest garbage, the front new
// and the rest old.
func tornPages(file sim.UnsyncedFile, index int) []sim.PageFate {
	start := int64(index) * sim.PageSize
	low, high := max(start, file.DurableSize), min(start+sim.PageSize, file.CachedSize)
	if low >= high { // overwritten or cut
		low, high = start, start+sim.PageSize
	}
	split := int((low+high)/2-start) / sim.SectorSize
	var back, garbage, front sim.PageFate
	for i := range back {
		switch {
		case i < split:
			front[i], garbage[i] = sim.SectorNew, sim.SectorNew
		default:
			back[i], garbage[i] = sim.SectorNew, sim.SectorGarbage
		}
	}
	return []sim.PageFate{back, garbage, front}
}

// fileLabel is the same for a file before and after it is renamed into place.
func fileLabel(file sim.UnsyncedFile) string { return strings.TrimSuffix(file.Name, ".tmp") }

// outcomesOf lists ways a power loss can go on this disk, at most bound, and counts those that it
// leaves out. When there are more, it takes both extremes, each single deviation from either, then
// pairs of deviations.
//
// The count is an upper bound: a file that exists only under some outcomes of the names counts under
// all of them.
func outcomesOf(d *sim.Disk, bound int) (list []outcome, cut int64) {
	questions := questionsOf(d)
	total := int64(1)
	for _, q := range questions {
		total = min(manyOutcomes, total*int64(q.options))
	}
	if total <= int64(bound) {
		return every(questions), 0
	}
	list = deviations(questions, bound)
	return list, total - int64(len(list))
}

// manyOutcomes is more than anyone wants to know the count of.
const manyOutcomes int64 = 1_000_000_000_000

// addCut adds counts of outcomes that were left out.
func addCut(a, b int64) int64 { return min(manyOutcomes, a+b) }

// questionsOf asks both extremes what a power loss would have to decide.
func questionsOf(d *sim.Disk) (questions []question) {
	for _, most := range []bool{false, true} {
		f := &fates{outcome: outcome{most: most}}
		copyDisk(d).PowerLoss(f)
		for _, q := range f.asked {
			i := slices.IndexFunc(questions, func(other question) bool { return other.label == q.label })
			switch {
			case q.options == 1:
			case i < 0:
				questions = append(questions, q)
			default:
				questions[i].options = max(questions[i].options, q.options)
			}
		}
	}
	return questions
}

// every lists all combinations of answers.
func every(questions []question) (list []outcome) {
	values := make([]int, len(questions))
	for {
		var o outcome
		for i, q := range questions {
			o.except = append(o.except, answer{q.label, values[i]})
		}
		list = append(list, o)
		i := 0
		for ; i < len(values); i++ {
			if values[i]++; values[i] < questions[i].options {
				break
			}
			values[i] = 0
		}
		if i == len(values) {
			return list
		}
	}
}

// deviations lists the extremes, what deviates from one of them in one answer, then in two.
func deviations(questions []question, bound int) []outcome {
	list := []outcome{{most: false}, {most: true}}
	var singles [2][]answer
	for _, q := range questions {
		for value := range q.options {
			if value > 0 {
				singles[0] = append(singles[0], answer{q.label, value})
			}
			if value < q.options-1 {
				singles[1] = append(singles[1], answer{q.label, value})
			}
		}
	}
	for i, most := range []bool{false, true} {
		for _, a := range singles[i] {
			list = append(list, outcome{most, []answer{a}})
		}
	}
	for j := range singles[0] {
		for i := range j {
			for most, answers := range singles {
				if len(list) >= bound {
					return list[:bound]
				}
				if j < len(answers) && answers[i].label != answers[j].label {
					list = append(list, outcome{most == 1, []answer{answers[i], answers[j]}})
				}
			}
		}
	}
	return list[:min(bound, len(list))]
}
