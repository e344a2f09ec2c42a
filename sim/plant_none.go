//go:build !plant_maprange && !plant_clock && !plant_random

package sim

// planted delays an event in builds that plant nondeterminism on purpose, to prove that the
// determinism matrix would find it. This build plants none.
func planted() Time { return 0 }
