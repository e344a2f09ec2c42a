package sim

// lossStyle is how power loss treats the pages of one file.
type lossStyle int

const (
	dropAll lossStyle = iota
	keepAll
	keepSome  // each page by itself
	keepLater // from some page on: the order that recovery code least expects
	keepFirst
	lossStyleCount
)

// RandomFates draws what power loss leaves. A style is drawn for each file, so that the rare
// patterns (everything but the first page, nothing at all) are as frequent as the mixed ones.
type RandomFates struct {
	Stream *Stream
	// TornOf16 of 16 dirty pages are torn by sectors, GarbageOf16 of 16 sectors of those are garbage.
	TornOf16, GarbageOf16 uint64

	style lossStyle
	pivot int
}

// NewRandomFates returns fates with the usual shares: a fifth of the pages torn.
func NewRandomFates(s *Stream) *RandomFates {
	return &RandomFates{Stream: s, TornOf16: 3, GarbageOf16: 3}
}

// Kept implements PowerFates.
func (r *RandomFates) Kept(changes []string) int {
	switch r.Stream.Index(3) {
	case 0:
		return 0
	case 1:
		return len(changes)
	}
	return int(r.Stream.Between(0, int64(len(changes))))
}

// Size implements PowerFates.
func (r *RandomFates) Size(f UnsyncedFile) int64 {
	r.style = lossStyle(r.Stream.Index(int(lossStyleCount)))
	r.pivot = 0
	if len(f.Dirty) > 0 {
		r.pivot = f.Dirty[r.Stream.Index(len(f.Dirty))]
	}
	switch r.Stream.Index(3) {
	case 0:
		return f.DurableSize
	case 1:
		return f.CachedSize
	}
	if f.CachedSize < f.DurableSize { // a truncation happened or did not
		return f.CachedSize
	}
	return r.Stream.Between(f.DurableSize, f.CachedSize)
}

// Page implements PowerFates.
func (r *RandomFates) Page(_ UnsyncedFile, index int) PageFate {
	if r.Stream.Chance(r.TornOf16, 16) {
		return r.torn()
	}
	keep := false
	switch r.style {
	case keepAll:
		keep = true
	case keepSome:
		keep = r.Stream.Chance(1, 2)
	case keepLater:
		keep = index > r.pivot
	case keepFirst:
		keep = index < r.pivot
	}
	if keep {
		return Uniform(SectorNew)
	}
	return Uniform(SectorOld)
}

func (r *RandomFates) torn() (p PageFate) {
	for i := range p {
		switch {
		case r.Stream.Chance(r.GarbageOf16, 16):
			p[i] = SectorGarbage
		case r.Stream.Chance(1, 2):
			p[i] = SectorNew
		}
	}
	return p
}

// KeepNothing is the power loss that loses all it may.
type KeepNothing struct{}

// Kept implements PowerFates.
func (KeepNothing) Kept([]string) int { return 0 }

// Size implements PowerFates.
func (KeepNothing) Size(f UnsyncedFile) int64 { return f.DurableSize }

// Page implements PowerFates.
func (KeepNothing) Page(UnsyncedFile, int) PageFate { return Uniform(SectorOld) }

// KeepAll is the power loss that happens to lose nothing.
type KeepAll struct{}

// Kept implements PowerFates.
func (KeepAll) Kept(changes []string) int { return len(changes) }

// Size implements PowerFates.
func (KeepAll) Size(f UnsyncedFile) int64 { return f.CachedSize }

// Page implements PowerFates.
func (KeepAll) Page(UnsyncedFile, int) PageFate { return Uniform(SectorNew) }
