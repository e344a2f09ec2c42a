package shrink

import "slices"

// minimise applies as many of count edits as can be applied. fails is asked for the first of n
// candidates that still fails, and gives n if none does; a candidate is the edits that it has
// applied, by their numbers, ascending. minimise returns those of the last candidate that failed.
//
// It tries all edits at once, then halves, quarters, and so on to chunks of the smallest size, of
// those that are left. The smallest are tried again until none of them can be applied.
func minimise(count, smallest int, first func(n int, candidate func(i int) []int) int) (applied []int) {
	left := make([]int, count)
	for i := range left {
		left[i] = i
	}
	for size := count; size > 0; {
		before := len(left)
		applied, left = sweep(applied, left, size, first)
		switch {
		case size > smallest:
			size = max(smallest, min((size+1)/2, len(left)))
		case len(left) == before:
			return applied
		}
		if len(left) == 0 {
			return applied
		}
	}
	return applied
}

// sweep tries each chunk of so many edits once, on top of those that were taken before it.
func sweep(applied, left []int, size int, first func(int, func(int) []int) int) (_, _ []int) {
	for at := 0; at < len(left); {
		chunk := func(i int) []int { return left[at+i*size : min(at+(i+1)*size, len(left))] }
		with := func(i int) []int {
			out := slices.Concat(applied, chunk(i))
			slices.Sort(out)
			return out
		}
		n := (len(left) - at + size - 1) / size
		i := first(n, with)
		if i == n {
			break
		}
		taken := chunk(i)
		applied = with(i)
		at += i * size
		left = slices.Concat(left[:at], left[at+len(taken):])
	}
	return applied, left
}
