// Package recording writes the events of real turns and runs them again. A recording holds what a
// node was told (headers and facts of requests, results of jobs, completions) and a hash of what
// each turn emitted, but no record payloads. Replaying it through fresh loops must give the same
// hashes: that is the proof that production and simulation run one and the same core.
package recording
