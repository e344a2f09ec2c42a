//go:build slow

package controller

// seedFactor multiplies the seeds of the property tests.
const seedFactor = 20
