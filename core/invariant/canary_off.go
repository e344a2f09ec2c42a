//go:build !canary

package invariant

// CanaryBuild says whether this build can switch canaries on.
const CanaryBuild = false

// On says whether the canary is switched on: never, in this build.
func (c Canary) On() bool { return false }

// SetCanary refuses in a build without the canary tag.
func SetCanary(string) bool { return false }
