package campaign

import "runtime/debug"

// commit is the revision that the executable was built from, "" if it does not know.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	var revision, changes string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changes = "+changes"
		}
	}
	return revision + changes
}
