package campaign

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Progress shows how far a campaign is: on a terminal one line that is written over, else a line
// now and then.
type Progress struct {
	out      io.Writer
	terminal bool
	every    time.Duration
	budget   time.Duration // of the campaign, 0 for none
	start    time.Time
	last     time.Time
	shown    bool // a line is on the terminal
}

// lineWidth is what a terminal is taken to show without a break.
const lineWidth = 100

// NewProgress shows progress on out. A budget bounds the time that is still to come.
func NewProgress(out io.Writer, terminal bool, budget time.Duration) *Progress {
	p := &Progress{out: out, terminal: terminal, every: 5 * time.Second, budget: budget, start: time.Now()}
	if terminal {
		p.every = 200 * time.Millisecond
	}
	return p
}

// IsTerminal says whether a file is a terminal or another device of characters.
func IsTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Show shows the line, unless the last one is too young.
func (p *Progress) Show(s *Summary) {
	now := time.Now()
	if now.Sub(p.last) < p.every {
		return
	}
	p.last = now
	line := p.line(s, now.Sub(p.start))
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	if letters := []rune(line); len(letters) > lineWidth {
		line = string(letters[:lineWidth-1]) + "…"
	}
	fmt.Fprint(p.out, "\r\x1b[K", line)
	p.shown = true
}

// Clear takes the line off the terminal, before something else is printed.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown, p.last = false, time.Time{}
	}
}

// line is the state of a campaign that has run for some time.
func (p *Progress) line(s *Summary, spent time.Duration) string {
	fresh := s.Runs() - s.Resumed
	rate := float64(fresh) / max(spent.Seconds(), 1e-9)
	missed, all := s.MissedMarks(), len(s.marks)
	line := fmt.Sprintf("campaign %d/%d seeds_per_s=%.1f failed=%d classes=%d marks=%d/%d eta=%s",
		s.Runs(), s.Total, rate, s.Failed, len(s.classes), all-len(missed), all, p.eta(s, rate, spent))
	if len(missed) > 0 {
		line += " missing: " + strings.Join(missed, ", ")
	}
	return line
}

// eta is the time still to come, "?" before anything has ended.
func (p *Progress) eta(s *Summary, rate float64, spent time.Duration) string {
	if rate == 0 {
		return "?"
	}
	left := time.Duration(float64(s.Total-s.Runs()) / rate * float64(time.Second))
	if p.budget > 0 {
		left = min(left, max(0, p.budget-spent))
	}
	return left.Round(time.Second).String()
}
