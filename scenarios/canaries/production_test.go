package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/invariant"
	"stet/scenarios"
)

const root = "../.."

// switches is the variable that has what is switched on.
const switches = "stet/core/invariant.canaryOn"

func TestAProductionBuildHasNoSwitches(t *testing.T) {
	binary := build(t)
	require.NotContains(t, symbols(t, binary), switches)
	for _, info := range invariant.Canaries() {
		for _, name := range []string{info.ID, info.Name} {
			out := refuse(t, binary, "sim", "worker", "--canary", name)
			require.Contains(t, out, "this build can not put bugs back", name)
		}
	}
	refuse(t, binary, "sim", "run", "--scenario", "disk-faults", "--seed", "1", "--canary", "46")
	refuse(t, binary, "sim", "campaign", "--scenario", "disk-faults", "--seeds", "1..1", "--canary", "46")
	require.Contains(t, refuse(t, binary, "serve", "--canary", "46"), "unknown flag: --canary")
}

func TestACanaryBuildHasThem(t *testing.T) {
	binary := build(t, "-tags", "canary")
	require.Contains(t, symbols(t, binary), switches)
	refuse(t, binary, "sim", "worker", "--canary", "0")
	require.Contains(t, refuse(t, binary, "serve", "--canary", "0"), "no such canary")
	out, err := exec.Command(binary, "sim", "worker", "--canary", "46").CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func build(t *testing.T, args ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "stet")
	cmd := exec.Command("go", append(append([]string{"build", "-o", binary}, args...), "./cmd/stet")...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

func symbols(t *testing.T, binary string) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "nm", binary).Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "stet/core/invariant.markHits", "symbols are there to be seen")
	return string(out)
}

// refuse runs a command that has to end with the code of a wrong usage, and returns what it says.
func refuse(t *testing.T, binary string, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, args...)
	out, _ := cmd.CombinedOutput()
	require.Equal(t, scenarios.ExitUsage, cmd.ProcessState.ExitCode(), "%v: %s", args, out)
	return string(out)
}

// TestEveryCanaryGuardsCode finds the condition of an if that asks for each canary, and no other use.
func TestEveryCanaryGuardsCode(t *testing.T) {
	guarded, used := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") ||
			strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if branch, ok := n.(*ast.IfStmt); ok {
				count(branch.Cond, guarded)
			}
			return true
		})
		count(file, used)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, guarded, used)
	require.Len(t, guarded, len(invariant.Canaries()))
}

// count counts the calls of invariant.CanaryX.On below a node, by CanaryX.
func count(n ast.Node, counts map[string]int) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok || call.Sel.Name != "On" {
			return true
		}
		if c, ok := call.X.(*ast.SelectorExpr); ok && strings.HasPrefix(c.Sel.Name, "Canary") {
			counts[c.Sel.Name]++
		}
		return true
	})
}
