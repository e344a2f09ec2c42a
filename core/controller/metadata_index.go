package controller

import (
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/wire"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// MetadataIndex (Stet's own key), version 0: up to where the metadata log is committed. Like every
// answer that proposes nothing, this one waits until it is certain that this node has led meanwhile,
// so that the index has everything that any controller has answered before the request came.

func (c *Controller) metadataIndex(r *env.Request) {
	refuse := func(code kafka.ErrorCode) kmsg.Response {
		return &wire.MetadataIndexResponse{ErrorCode: int16(code), Index: -1}
	}
	if !c.admits(r, refuse) {
		return
	}
	answer := &wire.MetadataIndexResponse{Index: int64(c.image.Index())}
	c.decided(r, nil, answer, refuse, nil)
}
