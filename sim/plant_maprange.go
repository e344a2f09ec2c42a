//go:build plant_maprange

package sim

// planted depends on the order of a map.
func planted() Time {
	for t := range map[Time]bool{0: true, 1: true, 2: true, 3: true} {
		return t
	}
	return 0
}
