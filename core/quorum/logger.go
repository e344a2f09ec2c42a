package quorum

import (
	"fmt"

	"go.etcd.io/raft/v3"

	"stet/core/invariant"
)

// logger turns raft's panics into assertions and drops the rest: what is worth a line is traced by
// the controller.
type logger struct{}

var _ raft.Logger = logger{}

func (logger) Debug(...any)            {}
func (logger) Debugf(string, ...any)   {}
func (logger) Error(...any)            {}
func (logger) Errorf(string, ...any)   {}
func (logger) Info(...any)             {}
func (logger) Infof(string, ...any)    {}
func (logger) Warning(...any)          {}
func (logger) Warningf(string, ...any) {}

func (logger) Fatal(v ...any)                 { broken(fmt.Sprint(v...)) }
func (logger) Fatalf(format string, v ...any) { broken(fmt.Sprintf(format, v...)) }
func (logger) Panic(v ...any)                 { broken(fmt.Sprint(v...)) }
func (logger) Panicf(format string, v ...any) { broken(fmt.Sprintf(format, v...)) }

func broken(what string) { invariant.Always(false, "raft: "+what) }
