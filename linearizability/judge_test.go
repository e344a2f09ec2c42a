package linearizability_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	lin "stet/linearizability"
	"stet/linearizability/legal"
	"stet/linearizability/tamper"
)

func TestNoCheckIsVacuousOverACampaign(t *testing.T) {
	sum := map[string]int64{}
	everywhere := map[lin.ID]int{}
	for seed := range uint64(30) {
		h := legal.History(rand.New(rand.NewPCG(seed, 8)), legal.Everything(500))
		verdict := lin.Judge(h, lin.Options{})
		for _, c := range verdict.Counters() {
			sum[c.Name] += c.Count
		}
		for _, id := range verdict.Vacuous() {
			everywhere[id]++
		}
	}
	for id, n := range everywhere {
		if n == 30 {
			t.Errorf("%s never had anything to check", id)
		}
	}
	for _, part := range []string{
		"H11.latest", "H11.latest-bound", "H11.earliest", "H11.by-time",
		"H11.max-timestamp", "H7.inside-send", "H7.between-sends", "H8.between-polls",
		"H2-ack.value-seen", "H2.compared",
	} {
		if sum[part] == 0 {
			t.Errorf("%s never happened", part)
		}
	}
}

func TestBothCheckersAgreeOnWholeHistories(t *testing.T) {
	illegal := 0
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 9))
		h := legal.History(random, legal.Everything(100+random.IntN(400)))
		kind := tamper.Kinds()[random.IntN(len(tamper.Kinds()))]
		if damaged, ok := kind.Apply(h, random); ok {
			h = damaged
		}
		verdict := lin.Judge(h, lin.Options{})
		guided := slices.ContainsFunc(verdict.Counters(), func(c lin.Counter) bool {
			return c.Name == "A4."+lin.RelaxedInversions && c.Count > 0
		})
		porcupine := slices.Contains(verdict.Failed, lin.PorcupineOrder)
		if guided != porcupine {
			t.Fatalf("seed %d, %s: offset-guided %t, Porcupine %t", seed, kind.Name, guided, porcupine)
		}
		if guided {
			illegal++
		}
	}
	if illegal < 100 {
		t.Fatalf("only %d histories were out of order", illegal)
	}
}

func TestJudgeIsDeterministicAndLeavesTheHistoryAlone(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 10))
		h := legal.History(random, legal.Everything(300))
		kind := tamper.Kinds()[int(seed)%len(tamper.Kinds())]
		if damaged, ok := kind.Apply(h, random); ok {
			h = damaged
		}
		before := encode(t, h)
		first, second := lin.Judge(h, lin.Options{}), lin.Judge(h, lin.Options{})
		if !reflect.DeepEqual(first, second) {
			t.Fatalf("seed %d: two judgements of one history differ", seed)
		}
		if !reflect.DeepEqual(before, encode(t, h)) {
			t.Fatalf("seed %d: the history was changed", seed)
		}
	}
}

func TestChecksCanBeLeftOut(t *testing.T) {
	var s story
	s.sends(1, 10, 20, okAt(0))
	s.ends(0, 0)
	s.wantBroken(t, lin.LostWrite, lin.Unseen)
	verdict := lin.Judge(&s.h, lin.Options{Without: []lin.ID{lin.LostWrite}})
	if verdict.First != lin.Unseen || len(verdict.Reports) != len(lin.Checkers())-1 {
		t.Fatalf("first is %s of %d reports", verdict.First, len(verdict.Reports))
	}
}

func TestRecorderFaultsAreNotBlamedOnTheSystem(t *testing.T) {
	for name, spoil := range map[string]func(*lin.History){
		"value sent twice":      func(h *lin.History) { h.Sends = append(h.Sends, h.Sends[0]) },
		"send without records":  func(h *lin.History) { h.Sends[0].Records = nil },
		"send ends too early":   func(h *lin.History) { h.Sends[0].Return = 5 },
		"poll ends too early":   func(h *lin.History) { h.Polls[0].Return = 5 },
		"step below the first":  func(h *lin.History) { h.Sends[0].Invoke = 0 },
		"listing ends too soon": func(h *lin.History) { h.Lists[0].Return = 5 },
	} {
		var s story
		a := s.sends(1, 10, 20, okAt(0)).Records[0]
		s.lists(30, 40, -1, 1, -1)
		s.ends(0, 1, at(0, a))
		s.wantLegal(t)
		spoil(&s.h)
		if verdict := lin.Judge(&s.h, lin.Options{}); verdict.First != lin.Malformed {
			t.Errorf("%s: first failing check is %q", name, verdict.First)
		}
	}
}

func TestMonitorIsQuietOnLegalHistoriesAndSeesWhatJudgeSees(t *testing.T) {
	online := []lin.ID{lin.InconsistentOffset, lin.UncommittedRead, lin.FetchForm}
	seen := map[lin.ID]int{}
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 11))
		h := legal.History(random, legal.Everything(300))
		if violations := lin.NewMonitor(h).Observe(); len(violations) > 0 {
			t.Fatalf("seed %d: %s", seed, violations[0])
		}
		kind := tamper.Kinds()[int(seed)%len(tamper.Kinds())]
		damaged, ok := kind.Apply(h, random)
		if !ok {
			continue
		}
		failed := lin.Judge(damaged, lin.Options{}).Failed
		for _, v := range lin.NewMonitor(damaged).Observe() {
			seen[v.Check]++
			if !slices.Contains(online, v.Check) || !slices.Contains(failed, v.Check) {
				t.Fatalf("seed %d, %s: the judge does not share %s", seed, kind.Name, v)
			}
		}
	}
	for _, id := range online {
		if seen[id] == 0 {
			t.Errorf("the monitor never saw %s", id)
		}
	}
}
