package controller

import (
	"slices"
	"strconv"
	"strings"

	"stet/core/kafka"
	"stet/core/metadata"
	"stet/core/wire"
)

// controllerListener is the name under which controllers tell each other their addresses.
const controllerListener = "CONTROLLER"

// controllerEndpoints makes an endpoint of host:port, or none.
func controllerEndpoints(addr string) []metadata.Endpoint {
	host, port, err := kafka.SplitHostPort(addr)
	if err != nil {
		return nil
	}
	return []metadata.Endpoint{{Name: controllerListener, Host: host, Port: uint16(port)}}
}

// addressOf is the inverse of controllerEndpoints: "" without an endpoint.
func addressOf(endpoints []metadata.Endpoint) string {
	if len(endpoints) == 0 {
		return ""
	}
	host, port := endpoints[0].Host, strconv.Itoa(int(endpoints[0].Port))
	if strings.IndexByte(host, ':') >= 0 {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// sameVoter says whether the metadata says the same of a voter.
func sameVoter(a, b *metadata.Voter) bool {
	return a.ID == b.ID && a.Node == b.Node && a.Directory == b.Directory &&
		slices.Equal(a.Endpoints, b.Endpoints) && slices.Equal(a.Features, b.Features)
}

// levels makes the feature range of a controller out of what its hello says.
func levels(o *wire.QuorumController) []metadata.FeatureRange {
	return []metadata.FeatureRange{{Name: metadata.FeatureName, Min: o.MinLevel, Max: o.MaxLevel}}
}
