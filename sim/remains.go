package sim

import (
	"fmt"
	"slices"
	"strings"

	"stet/core/invariant"
)

// Remains is what a power loss left, told by its meaning: chains of directory changes, sizes and
// pages by the names of files. It is PowerFates for another run: what it does not mention is lost.
type Remains struct {
	Names []NamesKept
	Files []FileKept
}

// NamesKept is how many changes of a chain became durable. Chains with the same first change are
// told apart by their order.
type NamesKept struct {
	First string // the first change, as "create 00000000000000000000.log"
	Kept  int
}

// FileKept is what became durable of a file.
type FileKept struct {
	Name  string
	Size  int64
	Pages []PageKept // without those that were dropped whole
}

// PageKept is what became of one page.
type PageKept struct {
	Index int
	Fate  PageFate
}

// fatesRecorder notes what other fates decide.
type fatesRecorder struct {
	PowerFates
	remains *Remains
}

// RecordFates returns fates that decide as f does and note it in r.
func RecordFates(f PowerFates, r *Remains) PowerFates { return &fatesRecorder{f, r} }

// Kept implements PowerFates.
func (r *fatesRecorder) Kept(changes []string) int {
	kept := r.PowerFates.Kept(changes)
	r.remains.Names = append(r.remains.Names, NamesKept{changes[0], kept})
	return kept
}

// Size implements PowerFates.
func (r *fatesRecorder) Size(f UnsyncedFile) int64 {
	size := r.PowerFates.Size(f)
	r.remains.Files = append(r.remains.Files, FileKept{Name: f.Name, Size: size})
	return size
}

// Page implements PowerFates.
func (r *fatesRecorder) Page(f UnsyncedFile, index int) PageFate {
	fate := r.PowerFates.Page(f, index)
	if fate != Uniform(SectorOld) {
		last := &r.remains.Files[len(r.remains.Files)-1]
		last.Pages = append(last.Pages, PageKept{index, fate})
	}
	return fate
}

// Fates returns fates that leave what r says, for one power loss.
func (r *Remains) Fates() PowerFates { return &remainsFates{remains: r, asked: map[string]int{}} }

// remainsFates counts the chains that it was asked for by their first change.
type remainsFates struct {
	remains *Remains
	asked   map[string]int
}

// Kept implements PowerFates.
func (r *remainsFates) Kept(changes []string) int {
	invariant.Always(len(changes) > 0, "a chain has changes")
	nth := r.asked[changes[0]]
	r.asked[changes[0]]++
	for _, n := range r.remains.Names {
		if n.First != changes[0] {
			continue
		}
		if nth == 0 {
			return min(max(n.Kept, 0), len(changes))
		}
		nth--
	}
	return 0
}

// Size implements PowerFates. A size that is not possible is moved to the nearest that is.
func (r *remainsFates) Size(f UnsyncedFile) int64 {
	at := r.file(f.Name)
	if at < 0 {
		return f.DurableSize
	}
	low, high := min(f.DurableSize, f.CachedSize), max(f.DurableSize, f.CachedSize)
	return min(max(r.remains.Files[at].Size, low), high)
}

// Page implements PowerFates.
func (r *remainsFates) Page(f UnsyncedFile, index int) PageFate {
	if at := r.file(f.Name); at >= 0 {
		for _, p := range r.remains.Files[at].Pages {
			if p.Index == index {
				return p.Fate
			}
		}
	}
	return Uniform(SectorOld)
}

func (r *remainsFates) file(name string) int {
	return slices.IndexFunc(r.remains.Files, func(f FileKept) bool { return f.Name == name })
}

// ParsePageFate reads what PageFate.String writes.
func ParsePageFate(text string) (p PageFate, err error) {
	letters := "ong"
	if len(text) == 1 {
		text = strings.Repeat(text, sectorCount)
	}
	if len(text) != sectorCount {
		return p, fmt.Errorf("fate %q: give 1 or %d letters", text, sectorCount)
	}
	for i := range p {
		f := strings.IndexByte(letters, text[i])
		if f < 0 {
			return p, fmt.Errorf("fate %q: letters are o, n and g", text)
		}
		p[i] = SectorFate(f)
	}
	return p, nil
}
