//go:build !slow

package controller

// seedFactor multiplies the seeds of the property tests: seconds are enough for every change.
const seedFactor = 1
