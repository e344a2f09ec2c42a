package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
)

// modelFile is the little that a program may rely on, byte by byte.
type modelFile struct {
	cache  []byte          // what reads must return
	synced []byte          // durable at the last sync
	may    []map[byte]bool // what each byte may be after power loss, since the last sync
	sizes  [2]int          // the least and the largest size since the last sync
}

func (m *modelFile) note() {
	for len(m.may) < len(m.cache) {
		m.may = append(m.may, map[byte]bool{0: true})
	}
	for i, b := range m.cache {
		m.may[i][b] = true
	}
	for i := len(m.cache); i < len(m.may); i++ {
		m.may[i][0] = true
	}
	m.sizes[0], m.sizes[1] = min(m.sizes[0], len(m.cache)), max(m.sizes[1], len(m.cache))
}

func (m *modelFile) sync() {
	m.synced = append([]byte(nil), m.cache...)
	m.may, m.sizes = nil, [2]int{len(m.cache), len(m.cache)}
	m.note()
}

func (m *modelFile) write(p []byte, off int) {
	for len(m.cache) < off+len(p) {
		m.cache = append(m.cache, 0)
	}
	copy(m.cache[off:], p)
	m.note()
}

func (m *modelFile) truncate(size int) {
	for len(m.cache) < size {
		m.cache = append(m.cache, 0)
	}
	m.cache = m.cache[:size]
	m.note()
}

// diskMachine drives one file with random operations and crashes and compares with the model.
type diskMachine struct {
	bench *bench
	model modelFile
	file  env.File
	seed  uint64
}

func (m *diskMachine) do(f func(f env.File)) {
	m.bench.do(func(d env.Disk) {
		if m.file == nil {
			m.file, _ = d.Open(name("a"), env.OpenWrite)
		}
		f(m.file)
	})
}

func (m *diskMachine) Write(r *rapid.T) {
	off := rapid.IntRange(0, 3*PageSize).Draw(r, "off")
	p := make([]byte, rapid.IntRange(0, 2*PageSize).Draw(r, "len"))
	fill := rapid.Byte().Draw(r, "fill")
	for i := range p {
		p[i] = fill + byte(i/100)
	}
	m.do(func(f env.File) {
		cut := len(p) / 3
		n, err := f.WriteAt([][]byte{p[:cut], p[cut:]}, int64(off))
		require.Equal(r, env.OK, err)
		require.EqualValues(r, len(p), n)
	})
	if len(p) > 0 {
		m.model.write(p, off)
	}
}

func (m *diskMachine) Truncate(r *rapid.T) {
	size := rapid.IntRange(0, 4*PageSize).Draw(r, "size")
	m.do(func(f env.File) { require.Equal(r, env.OK, f.Truncate(int64(size))) })
	m.model.truncate(size)
}

func (m *diskMachine) Sync(r *rapid.T) {
	m.do(func(f env.File) { require.Equal(r, env.OK, f.Sync()) })
	m.model.sync()
	durable, _ := m.bench.disk.DurableBytes(name("a"))
	require.Equal(r, string(m.model.cache), string(durable))
}

func (m *diskMachine) Kill(*rapid.T) { m.bench.kill(); m.file = nil }

func (m *diskMachine) LosePower(r *rapid.T) {
	m.seed++
	fates := NewRandomFates(NewEntropy(m.seed).Stream("fates", 1))
	fates.GarbageOf16 = 0
	m.bench.losePower(fates)
	m.file = nil
	got, ok := m.bench.disk.Bytes(name("a"))
	require.True(r, ok)
	low, high := m.model.sizes[0], m.model.sizes[1]
	require.True(r, len(got) >= low && len(got) <= high, "%d of [%d, %d]", len(got), low, high)
	for i, b := range got {
		require.True(r, m.model.may[i][b], "byte %d is %x", i, b)
	}
	m.model.cache = got
	m.model.sync()
}

func (m *diskMachine) Check(r *rapid.T) {
	got, _ := m.bench.disk.Bytes(name("a"))
	require.Equal(r, string(m.model.cache), string(got))
}

func TestDiskKeepsItsPromisesUnderRandomUse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := &diskMachine{bench: newBench(t, rapid.Uint64().Draw(r, "seed"))}
		p := DefaultDiskProfile()
		p.WriteBack = rapid.Uint64Range(0, 256).Draw(r, "write back")
		m.bench.disk.SetProfile(p)
		m.bench.disk.Put(name("a"), nil)
		m.model.sync()
		m.seed = rapid.Uint64().Draw(r, "fates")
		r.Repeat(rapid.StateMachineActions(m))
		m.bench.s.Close()
	})
}

// Every name that may come out of a chain of changes does, and no other.
func TestChainsKeepPrefixesAndAreIndependent(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		b := newBench(t, seed)
		b.do(func(d env.Disk) {
			create(t, d, "x", "")
			create(t, d, "y", "")
			require.Equal(t, env.OK, d.Rename(name("x"), name("z")))
			require.Equal(t, env.OK, d.Remove(name("y")))
		})
		b.losePower(NewRandomFates(NewEntropy(seed).Stream("fates", 1)))
		seen[fmt.Sprint(b.disk.Files(0))] = true
	}
	require.Equal(t, map[string]bool{
		"[]": true, "[x]": true, "[y]": true, "[z]": true,
		"[x y]": true, "[y z]": true,
	}, seen)
}

func TestDirectorySyncMakesTheWholeChainDurable(t *testing.T) {
	b := newBench(t, 1)
	b.do(func(d env.Disk) {
		d.Mkdir(name("d"))
		d.SyncDir(name(""))
		create(t, d, "x", "")
		require.Equal(t, env.OK, d.Rename(name("x"), name("d/x")))
		create(t, d, "y", "")
		require.Equal(t, env.OK, d.SyncDir(name("d")))
	})
	b.losePower(KeepNothing{})
	require.Equal(t, []string{"d/x"}, b.disk.Files(0), "y is of another chain")
}
