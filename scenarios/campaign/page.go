package campaign

import (
	_ "embed"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"ms":      func(d time.Duration) int64 { return d.Milliseconds() },
	"percent": percent,
	"join":    strings.Join,
}).Parse(pageText))

// page is what page.html shows.
type page struct {
	*Report
	Commit   string
	Marks    []string
	Missed   map[string]bool // marks
	Counters []string        // names, over all scenarios
}

// writePage writes one page that needs nothing else.
func (r *Report) writePage(w io.Writer) error {
	p := page{
		Report: r, Commit: commit(), Marks: r.marks, Missed: map[string]bool{},
		Counters: slices.Sorted(maps.Keys(r.Totals.Counters)),
	}
	for _, name := range r.MissedMarks() {
		p.Missed[name] = true
	}
	return pageTemplate.Execute(w, p)
}
