package recording

import (
	"fmt"
	"runtime/debug"
)

// commitOfBuild returns the commit that this build was made of, or "" if it does not know.
func commitOfBuild() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// checkCommit refuses the recording of another commit: its bytes would be misread, or its turns
// differ for no fault of the node's. Builds that do not know their commit are taken at their word.
func checkCommit(recorded, own string) error {
	if recorded != "" && own != "" && recorded != own {
		return fmt.Errorf("recording of commit %s: this build is of %s", recorded, own)
	}
	return nil
}
