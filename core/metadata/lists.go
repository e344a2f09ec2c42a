package metadata

import "stet/core/kafka"

// lists are what a reader has read of lists of brokers and of directories, by their bytes. The many
// partitions of a snapshot have few different ones, and share their memory.
type lists struct {
	brokers     map[string][]kafka.BrokerID
	directories map[string][]DirectoryID
}

// brokers reads a list of brokers, which is read only.
func (in *reader) brokers() []kafka.BrokerID {
	n := in.count(1)
	if n == 0 {
		return nil
	}
	start := in.rest
	for range n {
		in.brokerID()
	}
	read := start[:len(start)-len(in.rest)]
	if known := in.known.brokers[string(read)]; known != nil || in.bad {
		return known
	}
	again := reader{rest: read}
	ids := make([]kafka.BrokerID, n)
	for i := range ids {
		ids[i] = again.brokerID()
	}
	if in.known.brokers == nil {
		in.known.brokers = map[string][]kafka.BrokerID{}
	}
	in.known.brokers[string(read)] = ids
	return ids
}

// directories reads a list of directories, which is read only.
func (in *reader) directories() []DirectoryID {
	n := in.count(16)
	if n == 0 {
		return nil
	}
	read := in.rest[:16*n]
	in.rest = in.rest[16*n:]
	if known := in.known.directories[string(read)]; known != nil {
		return known
	}
	ids := make([]DirectoryID, n)
	for i := range ids {
		copy(ids[i][:], read[16*i:])
	}
	if in.known.directories == nil {
		in.known.directories = map[string][]DirectoryID{}
	}
	in.known.directories[string(read)] = ids
	return ids
}
