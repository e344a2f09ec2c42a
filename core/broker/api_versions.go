package broker

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions (key 18), versions 0 to 5. A version that is not spoken is answered as version 0
// with error 35. v5 carries the cluster and node that the client believes it speaks to (KIP-1242).
func (b *Broker) apiVersions(r *env.Request, o origin, m *kmsg.ApiVersionsRequest) {
	answer := wire.NewApiVersionsResponse(wire.BrokerListener)
	b.addFeatures(answer)
	switch {
	case r.Version >= 3 && !(wire.ValidClientSoftware(m.ClientSoftwareName) &&
		wire.ValidClientSoftware(m.ClientSoftwareVersion)):
		answer = kmsg.NewPtrApiVersionsResponse()
		answer.ErrorCode = int16(kafka.InvalidRequest)
	case r.Version >= 5 && b.elsewhere(m):
		answer = kmsg.NewPtrApiVersionsResponse()
		answer.ErrorCode = int16(kafka.RebootstrapRequired)
	}
	b.reply(o, answer)
}

// addFeatures tells the levels of behaviour (KIP-584), as of this broker's image.
func (b *Broker) addFeatures(answer *kmsg.ApiVersionsResponse) {
	for _, f := range b.config.Levels.Advertised() {
		wire.AddSupportedFeature(answer, f.Name, f.Min, f.Max)
	}
	answer.FinalizedFeaturesEpoch = int64(b.image.Index())
	for _, f := range b.image.FinalizedFeatures() {
		wire.AddFinalizedFeature(answer, f.Name, f.Level)
	}
}

// elsewhere says whether the client means another cluster or node, as when an address was reused.
func (b *Broker) elsewhere(m *kmsg.ApiVersionsRequest) bool {
	id := b.image.ClusterID()
	return m.ClusterID != nil && *m.ClusterID != "" && id != "" && *m.ClusterID != id ||
		m.NodeID >= 0 && m.NodeID != int32(b.config.NodeID)
}

func (b *Broker) unsupportedApiVersions(o origin) {
	start := b.out.Mark()
	b.out.Bytes = wire.AppendUnsupportedApiVersions(b.out.Bytes, o.correlation)
	b.respond(o, start)
}
