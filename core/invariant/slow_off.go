//go:build !slow

package invariant

// Slow turns on checks that cost more than the code they check. Build with -tags slow.
const Slow = false
