package commitlog

import (
	"stet/core/env"
	"stet/core/kafka"
)

// opKind says what an outstanding effect other than the write of a batch is for.
type opKind uint8

const (
	opOpen      opKind = iota + 1 // open or create a file
	opSync                        // sync of a segment's log; covers an end
	opSyncDir                     // sync of the directory that holds a segment's log
	opIndex                       // write of index entries
	opIndexSync                   // sync of an index of a segment that is being sealed
	opSeal                        // job
	opLocate                      // job
)

// op is an outstanding effect or job.
type op struct {
	token   env.Token
	kind    opKind
	segment *segment
	covers  kafka.Offset // opSync: what was written when it was emitted
	entry   batchRef     // opIndex: the first batch whose entry is written
}

// ops are the outstanding operations. There are never many.
type ops struct{ items []op }

// take removes the operation with this token.
func (o *ops) take(token env.Token) (op, bool) {
	for i := range o.items {
		if o.items[i].token == token {
			taken := o.items[i]
			o.items = append(o.items[:i], o.items[i+1:]...)
			return taken, true
		}
	}
	return op{}, false
}

// indexWrites counts the index writes of a segment that are under way.
func (o *ops) indexWrites(s *segment) int {
	n := 0
	for i := range o.items {
		if o.items[i].segment == s && o.items[i].kind == opIndex {
			n++
		}
	}
	return n
}

// start registers an operation and returns its token.
func (l *Log) start(o op) env.Token {
	o.token = l.handles.NextToken()
	l.ops.items = append(l.ops.items, o)
	return o.token
}
