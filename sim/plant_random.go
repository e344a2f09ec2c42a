//go:build plant_random

package sim

import "math/rand/v2"

// planted depends on the process's own randomness.
func planted() Time { return Time(rand.IntN(4)) }
