package metadata

import "stet/core/kafka"

// The fields of the nodes of a cluster: brokers and voters.

func appendBroker(dst []byte, b *Broker) []byte {
	dst = appendInt(dst, int64(b.ID))
	dst = appendInt(dst, int64(b.Epoch))
	dst = append(dst, b.Incarnation[:]...)
	dst = appendDirectories(dst, b.Directories)
	dst = appendEndpoints(dst, b.Endpoints)
	dst = appendString(dst, b.Rack)
	dst = appendFeatures(dst, b.Features)
	dst = appendBool(dst, b.Fenced)
	return appendInt(dst, int64(b.StoppingFrom))
}

func appendVoter(dst []byte, v *Voter) []byte {
	dst = appendUint(dst, v.ID)
	dst = appendInt(dst, int64(v.Node))
	dst = append(dst, v.Directory[:]...)
	dst = appendEndpoints(dst, v.Endpoints)
	return appendFeatures(dst, v.Features)
}

func appendEndpoints(dst []byte, endpoints []Endpoint) []byte {
	dst = appendUint(dst, uint64(len(endpoints)))
	for _, e := range endpoints {
		dst = appendString(dst, e.Name)
		dst = appendString(dst, e.Host)
		dst = appendUint(dst, uint64(e.Port))
		dst = appendInt(dst, int64(e.SecurityProtocol))
	}
	return dst
}

func appendFeatures(dst []byte, ranges []FeatureRange) []byte {
	dst = appendUint(dst, uint64(len(ranges)))
	for _, f := range ranges {
		dst = appendString(dst, f.Name)
		dst = appendInt(dst, int64(f.Min))
		dst = appendInt(dst, int64(f.Max))
	}
	return dst
}

func (in *reader) broker() Broker {
	b := Broker{ID: in.brokerID(), Epoch: kafka.BrokerEpoch(in.int(64)), Incarnation: in.id()}
	b.Directories = in.directories()
	b.Endpoints = in.endpoints()
	b.Rack = in.string()
	b.Features = in.features()
	b.Fenced, b.StoppingFrom = in.bool(), Index(in.int(64))
	return b
}

func (in *reader) voter() Voter {
	v := Voter{ID: in.uint(64), Node: in.brokerID(), Directory: in.id()}
	v.Endpoints, v.Features = in.endpoints(), in.features()
	return v
}

func (in *reader) endpoints() (out []Endpoint) {
	for range in.count(4) {
		e := Endpoint{Name: in.string(), Host: in.string()}
		e.Port, e.SecurityProtocol = uint16(in.uint(16)), int16(in.int(16))
		out = append(out, e)
	}
	return out
}

func (in *reader) features() (out []FeatureRange) {
	for range in.count(3) {
		f := FeatureRange{Name: in.string(), Min: int16(in.int(16)), Max: int16(in.int(16))}
		out = append(out, f)
	}
	return out
}
