package sim

// Tape is what one stream decided in a run, in order. Played back, it makes the decisions of another
// run of the same schedule, whatever the seed's own stream would say: a change that moves random
// draws does not move them.
type Tape struct {
	Stream string // purpose@place
	Values []int64
}

// tape is the tape of one stream in a run.
type tape struct {
	recording bool
	recorded  []int64

	playing bool
	values  []int64 // to play
	next    int
	// moved counts decisions that the tape had a value for that is not possible any more.
	moved int
}

func (t *tape) decide(drawn, low, high, steady int64) int64 {
	v := drawn
	switch {
	case !t.playing:
	case t.next < len(t.values):
		v = t.values[t.next]
		t.next++
		if v < low || v > high {
			t.moved++
			v = min(max(v, low), high)
		}
	default:
		v = steady
	}
	if t.recording {
		t.recorded = append(t.recorded, v)
	}
	return v
}

// RecordTapes has every stream tape its decisions from now on.
func (e *Entropy) RecordTapes() {
	e.recording = true
	e.retape()
}

// PlayTapes has every stream decide as its tape says from now on. A stream whose tape
// is at its end, or that has none, decides steadily: delays are in the middle of their range, chances
// do not come, indexes are 0.
func (e *Entropy) PlayTapes(tapes []Tape) {
	e.playing = map[string][]int64{}
	for _, t := range tapes {
		e.playing[t.Stream] = t.Values
	}
	e.retape()
}

// retape gives the streams that there are new tapes.
func (e *Entropy) retape() {
	for _, s := range e.streams {
		s.tape = e.newTape(s.source.name)
	}
}

// Tapes returns what the streams have decided since RecordTapes, in the order of their first use,
// without those that decided nothing.
func (e *Entropy) Tapes() (tapes []Tape) {
	for _, s := range e.streams {
		if s.tape != nil && len(s.tape.recorded) > 0 {
			tapes = append(tapes, Tape{s.source.name, s.tape.recorded})
		}
	}
	return tapes
}

// MovedDecisions counts the decisions for which a tape had a value that was not possible any more.
func (e *Entropy) MovedDecisions() (n int) {
	for _, s := range e.streams {
		if s.tape != nil {
			n += s.tape.moved
		}
	}
	return n
}

// newTape returns the tape of a new stream, nil if nothing is taped or played.
func (e *Entropy) newTape(name string) *tape {
	if !e.recording && e.playing == nil {
		return nil
	}
	return &tape{recording: e.recording, playing: e.playing != nil, values: e.playing[name]}
}
