package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ApiVersions (key 18), versions 0 to 5, on the controller's listener. A version that is not spoken
// is answered as version 0 with error 35.
func (c *Controller) apiVersions(r *env.Request, m *kmsg.ApiVersionsRequest) {
	answer := wire.NewApiVersionsResponse(wire.ControllerListener)
	for _, f := range c.config.Levels.Advertised() {
		wire.AddSupportedFeature(answer, f.Name, f.Min, f.Max)
	}
	answer.FinalizedFeaturesEpoch = int64(c.image.Index())
	for _, f := range c.image.FinalizedFeatures() {
		wire.AddFinalizedFeature(answer, f.Name, f.Level)
	}
	if r.Version >= 3 && !(wire.ValidClientSoftware(m.ClientSoftwareName) &&
		wire.ValidClientSoftware(m.ClientSoftwareVersion)) {
		answer = kmsg.NewPtrApiVersionsResponse()
		answer.ErrorCode = int16(kafka.InvalidRequest)
	}
	c.respond(originOf(r), answer)
}

func (c *Controller) unsupportedApiVersions(r *env.Request) {
	start := c.out.Mark()
	c.out.Bytes = wire.AppendUnsupportedApiVersions(c.out.Bytes, r.Correlation)
	c.out.Conn = append(c.out.Conn, env.ConnOp{
		Op: env.ConnRespond, Conn: r.Conn, Slot: r.Slot, Head: c.out.SpanFrom(start),
	})
}
