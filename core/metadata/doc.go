// Package metadata is what a cluster knows of itself: brokers, topics, partitions, configurations,
// producer ids. It is a pure data structure and the decisions about it.
//
// The metadata log is a sequence of entries, each a batch of versioned records that apply as one
// (record.go, codec.go). An Image is the state after some entry: immutable, and structurally shared
// with the images before and after it, so that keeping an old one costs little (image.go, tree.go,
// partitions.go). The same entries give the same image everywhere: on the controllers, and on the
// brokers that follow the log. Diff says what changed between two images. A snapshot is an image in
// canonical bytes: equal images have equal snapshots, and a snapshot at an index equals a replay up
// to it.
//
// Decisions (the files named after what is decided) take an image and a request and return records
// and an outcome; they change nothing. The controller proposes the records, and answers when they
// are committed.
//
// Who leads and who is in sync is decided in one place (elections.go) for every event of a broker's
// life: registration, heartbeat, fencing, removal (brokers.go, heartbeats.go). Where replicas go is
// decided in place.go.
//
// The tables of settings (package kafka) are shared by the controller, which validates, and the
// broker, which obeys.
package metadata
