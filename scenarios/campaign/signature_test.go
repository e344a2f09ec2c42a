package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stet/scenarios"
)

func TestSignaturesLeaveOutWhatASeedDecides(t *testing.T) {
	for _, c := range []struct {
		check         scenarios.Check
		first, second string
		signature     string
	}{
		{
			"S1", "orders-3: synced to 17, but the medium has it to 12: ", "orders-0: synced to 5, but the medium has it to 0: ",
			"orders-#: synced to #, but the medium has it to #:",
		},
		{"H3", "value 1.17 seen at [3 4 9]", "value 2.4 seen at [1, 2]", "value # seen at [#]"},
		{
			"L8", "every send is answered: not within 5m0s after the faults ended (events 51234)",
			"every send is answered: not within 1.5s after the faults ended (events 7)",
			"every send is answered: not within # after the faults ended (events #)",
		},
		{
			"R12", `group "a-7" has digest 9f86d081884c7d65`, `group "b" has digest 0xdeadbeef`,
			`group "…" has digest #`,
		},
		{"R9", "delta -4 at -12", "delta 4 at 9", "delta # at #"},
	} {
		for _, text := range []string{c.first, c.second} {
			r := &scenarios.Result{Check: c.check, Evidence: []string{"X9: of another check", string(c.check) + ": " + text}}
			require.Equal(t, c.signature, Signature(r), text)
		}
	}
}

func TestThePanicsOfTwoPlacesAreTwoClasses(t *testing.T) {
	stack := func(function string) *Class {
		return newClass(&scenarios.Result{Check: scenarios.Panic, Evidence: []string{
			"panic: assertion failed: base 12 is below 15\ngoroutine 1 [running]:\n" +
				"runtime/debug.Stack()\n\t/go/debug/stack.go:26 +0x5e\n" +
				"stet/scenarios.Run.func1()\n\t/stet/scenarios/run.go:46 +0x79\n" +
				"panic({0x9a1b20?, 0xc000214f00?})\n\t/go/runtime/panic.go:783 +0x132\n" +
				"stet/core/invariant.Alwaysf(...)\n\t/stet/core/invariant/invariant.go:29\n" +
				function + "(0xc0001b2000, {0xc00021a000, 0x3})\n\t/stet/x.go:77 +0x4c5\n",
		}})
	}
	a, b := stack("stet/core/commitlog.(*Log).Append"), stack("stet/core/partition.(*leader).append")
	require.Equal(t, "assertion failed: base # is below # in stet/core/commitlog.(*Log).Append", a.Signature)
	require.NotEqual(t, a.ID, b.ID)
	require.Equal(t, a.ID, stack("stet/core/commitlog.(*Log).Append").ID)
}

func TestOneTextUnderTwoChecksIsTwoClasses(t *testing.T) {
	class := func(c scenarios.Check) *Class {
		return newClass(&scenarios.Result{Check: c, Evidence: []string{string(c) + ": gone"}})
	}
	require.NotEqual(t, class("S1").ID, class("S2").ID)
	require.Empty(t, Signature(&scenarios.Result{Check: "S1"}), "a failure without evidence has a class too")
}
