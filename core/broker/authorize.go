package broker

import (
	"stet/core/env"
	"stet/core/kafka"
)

// operation is what a request wants to do with a resource.
type operation uint8

const (
	opRead operation = iota
	opWrite
	opCreate
	opDelete
	opDescribe
	opIdempotentWrite
	opAlter
	opAlterConfigs
	opDescribeConfigs
)

// resourceKind is what an operation is about.
type resourceKind uint8

const (
	resourceTopic resourceKind = iota
	resourceCluster
	resourceTransactionalID
)

// Authorize says whether the principal of a connection may do it: None, or why not. Every handler
// asks it and nothing else, so that access control has one place. All is allowed so far.
func (b *Broker) Authorize(_ *env.ConnInfo, _ operation, _ resourceKind,
	_ string,
) kafka.ErrorCode {
	return kafka.None
}
