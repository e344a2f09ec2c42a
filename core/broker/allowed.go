package broker

import "stet/core/kafka"

// allowed splits what is asked for into what may be done, and the refusals of the rest.
func allowed[Q, A any](all []Q, judge func(*Q) kafka.ErrorCode,
	refuse func(asked *Q, code kafka.ErrorCode, why *string) A,
) (kept []Q, refused []A) {
	for i := range all {
		if code := judge(&all[i]); code != kafka.None {
			refused = append(refused, refuse(&all[i], code, nil))
		} else {
			kept = append(kept, all[i])
		}
	}
	return kept, refused
}

// refuseAll appends the refusals of everything that is asked for.
func refuseAll[Q, A any](refused []A, asked []Q, code kafka.ErrorCode, why *string,
	refuse func(asked *Q, code kafka.ErrorCode, why *string) A,
) []A {
	for i := range asked {
		refused = append(refused, refuse(&asked[i], code, why))
	}
	return refused
}
