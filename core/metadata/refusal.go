package metadata

import (
	"fmt"

	"stet/core/kafka"
)

// refusal is an outcome other than success: a code, and a text for people.
type refusal struct {
	code kafka.ErrorCode
	text string
}

func refuse(code kafka.ErrorCode, format string, args ...any) refusal {
	return refusal{code, fmt.Sprintf(format, args...)}
}

func (r refusal) refused() bool { return r.code != kafka.None }
