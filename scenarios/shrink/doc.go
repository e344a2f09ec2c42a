// Package shrink makes a schedule that fails a check small, while it still fails the same check.
//
// What can be made simpler is listed in passes: each is a number of edits that are independent of
// one another, such as "leave out this fault" or "this setting as it always is". A pass tries them
// in chunks, large ones first (delta debugging: Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002). Passes follow one another until none of them gets any further.
//
// Candidates run in several processes. Of those that still fail, the first in the order of
// candidates is taken, whichever ends first, so the result does not depend on how many there are;
// it depends on the clock only when the budget is spent.
package shrink
