// Bench measures brokers side by side: Stet, Apache Kafka, or any other that speaks the protocol.
//
//	bench produce --address A --topic T ...   send pre-encoded batches, print what was acknowledged
//	bench consume --address A --topic T ...   read partitions directly, print what was read
//	bench compare --broker CMD --against CMD  both, on each broker in turn, in a world of their own
//	bench image --controller CMD --broker CMD metadata of many partitions: what it costs a controller,
//	                                          and a broker that hosts none of them
//
// compare follows a fairness recipe, the same for both brokers: a private network namespace whose
// loopback routes use cubic, a memory cgroup that bounds heap and page cache together, the broker
// on core 0 and the client on core 1, the first bytes discarded, CPU time from /proc, and the
// order A B B A. A broker's command contains {dir} and {port}.
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func([]string) error{
		"produce": produce, "consume": consume, "compare": compare,
		"image": image,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "bench: usage: bench produce|consume|compare [flags]; -h after one lists them")
		os.Exit(1)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
