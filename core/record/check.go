package record

import "hash/crc32"

// First finds the first batch in b, by its length alone, and returns it and what follows. The
// batch may be part of b's end only: ProblemTooShort then, and ProblemEmpty when b is empty.
func First(b []byte) (batch View, rest []byte, p Problem) {
	if len(b) < HeaderSize {
		if len(b) == 0 {
			return nil, b, ProblemEmpty
		}
		return nil, b, ProblemTooShort
	}
	size := View(b).SizeBytes()
	switch {
	case size < HeaderSize || size > MaxSizeBytes:
		return nil, b, ProblemLength
	case size > int64(len(b)):
		return nil, b, ProblemTooShort
	}
	return View(b[:size:size]), b[size:], NoProblem
}

// Check verifies size, magic and CRC of exactly one batch: what recovery and followers verify
// before a batch enters a log. It does not look at the records.
func Check(b []byte) Problem {
	batch, rest, p := First(b)
	switch {
	case p != NoProblem:
		return p
	case len(rest) > 0:
		return ProblemTrailing
	case batch.Magic() != Magic:
		return ProblemMagic
	case !batch.crcMatches():
		return ProblemCRC
	}
	return NoProblem
}

// Inspect is Check together with what the header says and the marker of a control batch. It
// does not walk or decompress the records of other batches.
func Inspect(b []byte) Facts {
	if p := Check(b); p != NoProblem {
		return refused(b, p)
	}
	facts := headerFacts(View(b))
	facts.readControl(View(b))
	return facts
}

// refused gives the facts of a batch that Check refuses: the header, if there is one.
func refused(b []byte, p Problem) Facts {
	facts := Facts{FirstUnkeyed: -1, ProblemIndex: -1, Control: Control{Type: NoControl}}
	if len(b) >= HeaderSize && p != ProblemLength {
		facts = headerFacts(View(b))
	}
	facts.Problem = p
	return facts
}

func (v View) crcMatches() bool {
	return crc32.Checksum(v[attributesAt:], castagnoli) == v.CRC()
}
