// Package client is a simulated Kafka client: straight-line task code which speaks real wire frames
// over the simulated network. It impersonates what real clients do under trouble: five produce
// requests in flight, impatient timeouts, and retries of the same batch with the same sequence.
//
// It knows nothing about checkers. What happens to each request is told to an Observer, which the
// scenarios turn into a history.
package client
