package linearizability_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	lin "stet/linearizability"
	"stet/linearizability/legal"
)

func encode(t *testing.T, h *lin.History) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := lin.Write(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHistorySurvivesItsFile(t *testing.T) {
	for seed := range uint64(50) {
		h := legal.History(rand.New(rand.NewPCG(seed, 6)), legal.Everything(400))
		h.Scenario, h.Seed = "codec", seed<<60|seed
		h.Partitions[0].Partition.ID[3] = 9
		file := encode(t, h)
		back, err := lin.Read(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(h, back) {
			t.Fatalf("seed %d: the history that was read differs from the one that was written", seed)
		}
		if !bytes.Equal(file, encode(t, back)) {
			t.Fatalf("seed %d: the same history gives other bytes", seed)
		}
	}
}

func TestCutOrForeignFilesAreRefused(t *testing.T) {
	h := legal.History(rand.New(rand.NewPCG(1, 6)), legal.Everything(100))
	file := string(encode(t, h))
	lines := strings.SplitAfter(file, "\n")
	for name, broken := range map[string]string{
		"empty":             "",
		"no head":           strings.Join(lines[1:], ""),
		"no end":            strings.Join(lines[:len(lines)-2], ""),
		"a line is missing": strings.Join(append(lines[:3:3], lines[4:]...), ""),
		"another version":   strings.Replace(file, `"version":1`, `"version":2`, 1),
		"an unknown field":  strings.Replace(file, `"seed":`, `"sead":`, 1),
		"an unknown line":   strings.Replace(file, `{"send":`, `{"sent":`, 1),
	} {
		if _, err := lin.Read(strings.NewReader(broken)); err == nil {
			t.Errorf("%s: is accepted", name)
		}
	}
}

func TestValueSurvivesItsBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for size := range 200 {
		v := lin.Value{
			Client: lin.ClientID(random.Int32()), Seq: random.Int64(),
			Nonce: random.Uint64(), Invoke: lin.Step(random.Int64()),
		}
		b := lin.AppendValue(nil, v, size)
		if got := lin.ParseValue(b); got != v || len(b) != max(size, lin.ValueSizeBytes) {
			t.Fatalf("size %d: %s became %s", size, v, got)
		}
		b[random.IntN(len(b))] ^= 1 << random.IntN(8)
		if got := lin.ParseValue(b); got.Client != lin.GarbageClient {
			t.Fatalf("size %d: a flipped bit gives %s", size, got)
		}
		if got := lin.ParseValue(b[:random.IntN(len(b))]); got.Client != lin.GarbageClient {
			t.Fatalf("size %d: a torn value gives %s", size, got)
		}
	}
}

func FuzzReadHistory(f *testing.F) {
	h := legal.History(rand.New(rand.NewPCG(2, 6)), legal.Everything(60))
	var b bytes.Buffer
	if err := lin.Write(&b, h); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		h, err := lin.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		lin.Judge(h, lin.Options{Without: []lin.ID{lin.PorcupineOrder}})
	})
}
