package sim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Divergence is the first line in which two traces of one seed differ.
type Divergence struct {
	Line int    // from 1, the header
	A, B string // the lines, empty behind the end of a trace
}

// String prints both lines under each other.
func (d Divergence) String() string {
	return fmt.Sprintf("line %d:\n  %s\n  %s", d.Line, d.A, d.B)
}

// FirstDivergence compares two traces line by line, but for their headers, and says whether they
// differ.
func FirstDivergence(a, b io.Reader) (d Divergence, differ bool, err error) {
	x, y := bufio.NewReader(a), bufio.NewReader(b)
	for line := 1; ; line++ {
		p, errP := x.ReadBytes('\n')
		q, errQ := y.ReadBytes('\n')
		for _, err := range []error{errP, errQ} {
			if err != nil && !errors.Is(err, io.EOF) {
				return d, false, fmt.Errorf("trace, line %d: %w", line, err)
			}
		}
		if line > 1 && !bytes.Equal(p, q) {
			trim := func(s []byte) string { return string(bytes.TrimSuffix(s, []byte("\n"))) }
			return Divergence{line, trim(p), trim(q)}, true, nil
		}
		if errP != nil && errQ != nil {
			return d, false, nil
		}
	}
}
