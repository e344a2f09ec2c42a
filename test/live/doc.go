// Package live checks a running broker through clients that nobody here wrote, and through its
// process: round trips by kcat and franz-go, Kafka's own dump tool over the files, kill -9 under
// load, hostile bytes, and the costs of starting, idling and serving.
//
// The checks are tests behind the build tag live. They start the broker themselves, by a command
// line with {dir} and {port}, so that the same checks judge Apache Kafka:
//
//	go test -tags live ./test/live -broker 'bench/peer.sh serve {dir} {port}'
//
// That the checks of clusters can fail is seen with a bug put back, which a build with the canary tag
// alone can do:
//
//	go build -tags canary -o bin/stet-canary ./cmd/stet
//	go test -tags live ./test/live -run ClusterTopics -rounds 6 -node 'bin/stet-canary serve \
//	    --canary 39 --data-dir {dir} --node-id {node} --listen {listen} --controllers {controllers}'
//
// 34, 36 and 39 were seen to fail it within a few rounds, 41 and 42 were not.
package live
