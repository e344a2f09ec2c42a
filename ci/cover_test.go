//go:build slow

package ci

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoverageIsOfWhatTheSeedsRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OUT", dir)
	out, code := run(t, "./cover.sh", "1")
	require.Zero(t, code, out)
	require.Regexp(t, `^cover: ok seeds=1\.\.1 statements=[5-9]\d\.\d% least=stet/\S+ [\d.]+% never=[1-9]\d*$`, lastLine(out))
	require.Regexp(t, `stet/core/commitlog [4-9]\d`, out)
	page, err := os.ReadFile(filepath.Join(dir, "cover.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "core/partition")
}
