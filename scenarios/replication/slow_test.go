//go:build slow

package replication

// propertyChecks is how many schedules are drawn.
const propertyChecks = 300
