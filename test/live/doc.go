// Package live checks a running broker through clients that nobody here wrote, and through its
// process: round trips by kcat and franz-go, Kafka's own dump tool over the files, kill -9 under
// load, hostile bytes, and the costs of starting, idling and serving.
//
// The checks are tests behind the build tag live. They start the broker themselves, by a command
// line with {dir} and {port}, so that the same checks judge Apache Kafka:
//
//	go test -tags live ./test/live -broker 'bench/peer.sh serve {dir} {port}'
package live
