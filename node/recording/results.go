package recording

import (
	"stet/core/broker"
	"stet/core/commitlog"
	"stet/core/controller"
	"stet/core/env"
	"stet/core/kafka"
)

// resultTypes lists what jobs may return and configuration events may carry.
func resultTypes() *deepTypes {
	prototypes := []any{env.OK, kafka.None, broker.Shutdown{}, controller.Shutdown{}}
	prototypes = append(prototypes, commitlog.ResultTypes()...)
	prototypes = append(prototypes, broker.ResultTypes()...)
	prototypes = append(prototypes, controller.ResultTypes()...)
	return newDeepTypes(prototypes...)
}
