//go:build canary

package invariant

// CanaryBuild says whether this build can switch canaries on.
const CanaryBuild = true

var canaryOn [canaryCount]bool

// On says whether the canary is switched on.
func (c Canary) On() bool { return canaryOn[c] }

// SetCanary switches on the canary with this id or name, before anything runs, and says whether
// there is one.
func SetCanary(name string) bool {
	for i, info := range canaryInfos {
		if info.ID == name || info.Name == name {
			canaryOn[i] = true
			return true
		}
	}
	return false
}
