//go:build plant_clock

package sim

import "time"

// planted depends on the machine's clock.
func planted() Time { return Time(time.Now().UnixMicro() & 1) }
