// Package invariant holds the assertions of the core: Always for what must hold, Sometimes for
// paths that a campaign must reach, Slow for expensive checks behind a build tag, and the switches
// that put historical bugs (canaries) back in builds made to be caught.
//
// Assertions stay on in production. Nothing here is ever read by a decision, except a canary
// switch in a canary build.
package invariant

import "fmt"

// Violation is the value that a failed assertion panics with.
type Violation struct{ What string }

// Error makes a Violation an error, so that a recovered panic prints well.
func (v Violation) Error() string { return "assertion failed: " + v.What }

// Always panics with a Violation unless cond holds. State one fact; what must not allocate.
func Always(cond bool, what string) {
	if !cond {
		panic(Violation{what})
	}
}

// Alwaysf is Always with a formatted text. The arguments are evaluated in any case, so it is for
// cold paths.
func Alwaysf(cond bool, format string, args ...any) {
	if !cond {
		panic(Violation{fmt.Sprintf(format, args...)})
	}
}

// Unreachable panics; use it in the default branch of a closed switch.
func Unreachable(what string) { panic(Violation{"unreachable: " + what}) }
