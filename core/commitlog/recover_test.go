package commitlog

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stet/core/commitlog/logtest"
	"stet/core/env"
	"stet/core/kafka"
	"stet/core/record"
)

// filled has several sealed segments and an active one, everything written.
func filled(t *testing.T) *harness {
	config := tinyConfig()
	config.SegmentBytes = 500
	h := started(t, config)
	for i := range 20 {
		h.mustAppend(from(0, kafka.Sequence(2*i), 2))
		h.settle()
	}
	require.Greater(t, h.log.Segments(), 3)
	return h
}

func (h *harness) set(name string, content []byte) {
	h.world.Disk.SetContent(testDir+"/"+name, content)
}

func (h *harness) segmentNames() []string {
	var names []string
	for _, name := range h.world.Disk.Names(testDir) {
		if strings.HasSuffix(name, logSuffix) {
			names = append(names, name)
		}
	}
	return names
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 0x40
	return b
}

func TestRecoveryStopsAtTheFirstFailureWithoutLookingBehindIt(t *testing.T) {
	h := filled(t)
	h.crash(false)
	h.point = 0
	second := h.segmentNames()[1]
	base, _, _ := splitName(second)
	h.set(second, flipped(h.file(second), 70)) // in the records of its first batch
	r := h.open()
	require.Equal(t, base, r.End)
	require.Contains(t, r.CutReason, "checksum")
	require.NotZero(t, r.Cut)
	require.Equal(t, []string{h.segmentNames()[0], second}, h.segmentNames())
	require.Empty(t, h.file(second))
	for _, name := range h.world.Disk.Names(testDir) {
		offset, _, ok := splitName(name)
		require.False(t, ok && offset > r.End, "%s is of a state that was lost", name)
	}
	h.mustAppend(from(0, record.View(h.accepted[len(h.accepted)-1]).LastSequence().Add(1), 1))
	h.settle()
}

func TestFailureBelowTheRecoveryPointIsCorruption(t *testing.T) {
	for _, damage := range []func(h *harness, name string){
		func(h *harness, name string) { h.set(name, flipped(h.file(name), 70)) },
		func(h *harness, name string) { h.set(name, h.file(name)[:len(h.file(name))-3]) },
		func(h *harness, name string) { h.set(name, nil) },
		func(h *harness, name string) { h.set(name, append(h.file(name), make([]byte, 100)...)) },
	} {
		h := filled(t)
		h.point = h.log.RecoveryPoint()
		h.crash(false)
		names := h.segmentNames()
		active := names[len(names)-1]
		h.point = h.log.Written() // as after a clean stop
		h.set(name(h.point, snapshotSuffix), AppendSnapshot(nil, nil))
		damage(h, active)
		before := h.world.Disk.Names(testDir)
		content := h.logBytes()
		r := h.recover()
		if r.Err == nil { // bytes behind the recovery point are a torn tail
			require.Equal(t, h.log.Written(), r.End)
			continue
		}
		require.True(t, r.Corrupt, "%v", r.Err)
		require.False(t, r.Usable())
		require.Equal(t, before, h.world.Disk.Names(testDir), "nothing is changed")
		require.Equal(t, content, h.logBytes())
	}
}

func TestStructureOfSealedSegmentsIsVerified(t *testing.T) {
	for _, damage := range []func(h *harness, name string){
		func(h *harness, name string) { h.set(name, h.file(name)[:len(h.file(name))-1]) },
		func(h *harness, name string) { h.set(name, nil) },
		func(h *harness, name string) { h.set(name, append(h.file(name), 0)) },
		func(h *harness, name string) { h.set(name, make([]byte, len(h.file(name)))) },
	} {
		for _, clean := range []bool{false, true} {
			h := filled(t)
			h.closeCleanly()
			h.clean = clean
			damage(h, h.segmentNames()[1])
			r := h.recover()
			require.True(t, r.Corrupt, "clean %v: %v", clean, r.Err)
		}
	}
}

func TestMissingSegmentsAreNotAnEmptyLog(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	for _, name := range h.segmentNames() {
		require.Equal(t, env.OK, h.world.Disk.Remove(env.Path{Name: testDir + "/" + name}))
	}
	require.True(t, h.recover().Corrupt)
	require.True(t, (&RecoverJob{Path: env.Path{Name: "nowhere-0"}, Config: h.config, TruncateTo: -1}).
		Run(h.world.Disk).(*Recovered).Missing)
}

func TestZeroFilledTailIsCut(t *testing.T) {
	h := filled(t)
	h.crash(false)
	names := h.segmentNames()
	active := names[len(names)-1]
	end := h.log.Written()
	h.set(active, append(h.file(active), make([]byte, 4096)...))
	r := h.open()
	require.Equal(t, end, r.End)
	require.Equal(t, int64(4096), r.Cut)
}

func TestEveryTornTailEndsOnABatch(t *testing.T) {
	h := filled(t)
	h.crash(false)
	names := h.segmentNames()
	active := names[len(names)-1]
	whole := h.file(active)
	accepted, bases := h.accepted, h.bases
	for cut := range whole {
		h.accepted, h.bases = accepted, bases
		h.set(active, whole[:cut])
		r := h.open()
		require.LessOrEqual(t, r.Cut, int64(record.View(accepted[0]).SizeBytes()))
		h.crash(false)
	}
}

func TestEpochMustNotDecrease(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(plain(1, 0, "v"))
	h.mustAppend(plain(1, 0, "v"))
	h.settle()
	h.crash(false)
	all := h.logBytes()
	second := record.View(all[len(h.accepted[0]):])
	record.Stamp(second, env.Patch{Stamp: true, BaseOffset: 1, LeaderEpoch: 0})
	h.set(name(0, logSuffix), all)
	require.Equal(t, kafka.Offset(1), h.recover().End)
}

func TestOffsetsMustFollowUnlessGapsAreAllowed(t *testing.T) {
	for _, gaps := range []bool{false, true} {
		h := started(t, DefaultConfig())
		for range 3 {
			h.mustAppend(plain(1, 0, "v"))
		}
		h.settle()
		h.crash(false)
		size := len(h.accepted[0])
		all := h.logBytes()
		h.set(name(0, logSuffix), append(all[:size:size], all[2*size:]...)) // as compaction leaves it
		h.config.AllowGaps = gaps
		r := h.recover()
		require.NoError(t, r.Err)
		if gaps {
			require.Equal(t, kafka.Offset(3), r.End)
			h.log = Open(h.handles, testDir, h.config, r, &h.out)
			h.settle()
			require.Equal(t, kafka.Offset(2), h.find(1, 1000, true, 3).End-1)
		} else {
			require.Equal(t, kafka.Offset(1), r.End)
		}
	}
}

func TestCorruptSnapshotIsPassedOver(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	for _, name := range h.world.Disk.Names(testDir) {
		if strings.HasSuffix(name, snapshotSuffix) {
			h.set(name, flipped(h.file(name), 12))
		}
	}
	live := h.log.DerivedState()
	r := h.recover()
	require.NoError(t, r.Err)
	require.NotZero(t, r.Snapshots)
	require.Equal(t, kafka.NoOffset, r.Snapshot)
	require.Equal(t, live.Canonical(), r.DerivedState().Canonical())
}

func TestLostIndexesAndEpochsAreRebuilt(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	live := h.log.DerivedState()
	want := map[string][]byte{}
	for _, name := range h.world.Disk.Names(testDir) {
		if strings.HasSuffix(name, "index") || name == epochCheckpointName {
			want[name] = h.file(name)
		}
	}
	for _, damage := range []func(name string){
		func(name string) { h.world.Disk.Remove(env.Path{Name: testDir + "/" + name}) },
		func(name string) { h.set(name, append(h.file(name), make([]byte, 1200)...)) }, // preallocated
		func(name string) { h.set(name, append(h.file(name), 1, 2, 3)) },
		func(name string) { h.set(name, bytes.Repeat([]byte{7}, 24)) },
	} {
		for name := range want {
			damage(name)
		}
		r := h.recover()
		require.NoError(t, r.Err)
		require.Equal(t, live.Canonical(), r.DerivedState().Canonical())
		for name, content := range want {
			require.Equal(t, string(content), string(h.file(name)), name)
		}
	}
}

func TestKafkasDirectoryIsAdopted(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	end := h.log.Assigned()
	for _, name := range h.world.Disk.Names(testDir) {
		if strings.HasSuffix(name, sequencesSuffix) { // Kafka has none
			require.Equal(t, env.OK, h.world.Disk.Remove(env.Path{Name: testDir + "/" + name}))
		}
	}
	names := h.segmentNames()
	base, _, _ := splitName(names[len(names)-1])
	for _, clean := range []bool{true, false} {
		if !clean { // kill -9: the live index files are preallocated
			h.set(name(base, indexSuffix), append(h.file(name(base, indexSuffix)), make([]byte, 1<<16)...))
			h.set(name(base, timeIndexSuffix), make([]byte, 12<<10))
		}
		h.clean = clean
		r := h.recover()
		require.NoError(t, r.Err)
		require.Equal(t, end, r.End)
		window := r.producers.entries()[0].Batches
		require.Equal(t, kafka.Sequence(39), window[len(window)-1].LastSequence)
	}
	h.log = Open(h.handles, testDir, h.config, h.recover(), &h.out)
	h.settle()
	require.True(t, h.mustAppend(from(0, 38, 2)).Duplicate)
}

func TestStrayFilesDoNotStopARoll(t *testing.T) {
	h := started(t, tinyConfig())
	h.mustAppend(plain(2, 0, "v"))
	h.settle()
	h.crash(false)
	h.set(name(2, indexSuffix), nil) // its log's directory entry was lost
	h.set(name(2, timeIndexSuffix), nil)
	h.set("leader-epoch-checkpoint.tmp", []byte("half"))
	h.open()
	require.NotContains(t, h.world.Disk.Names(testDir), name(2, indexSuffix))
	require.NotContains(t, h.world.Disk.Names(testDir), "leader-epoch-checkpoint.tmp")
}

func TestWrongTopicIsRefused(t *testing.T) {
	h := filled(t)
	h.closeCleanly()
	job := h.recoverJob()
	job.TopicID = kafka.TopicID{9}
	r := job.Run(h.world.Disk).(*Recovered)
	require.True(t, r.WrongTopic)
	require.False(t, r.Usable())
}

func TestCreateSurvivesACrashAtEveryOperation(t *testing.T) {
	for _, power := range []bool{false, true} {
		for fuse := 0; ; fuse++ {
			h := newHarness(t, uint64(fuse), DefaultConfig())
			h.world.Disk.Fuse = fuse
			finished := logtest.Attempt(h.create)
			h.crash(power)
			if r := h.recover(); !r.Missing {
				require.NoError(t, r.Err)
				require.Equal(t, testTopicID, r.TopicID)
				require.Zero(t, r.End)
			} else {
				require.False(t, finished, "what CreateJob made is durable")
			}
			h.create()
			h.open()
			if finished {
				break
			}
		}
	}
}

func TestDeleteSurvivesACrashAtEveryOperation(t *testing.T) {
	for _, power := range []bool{false, true} {
		for fuse := 0; ; fuse++ {
			h := filled(t)
			h.closeCleanly()
			h.world.Disk.Fuse = fuse
			finished := logtest.Attempt(func() {
				require.Nil(t, (&DeleteJob{Path: h.path(), UUID: [16]byte{1}}).Run(h.world.Disk))
			})
			h.crash(power)
			for _, name := range h.world.Disk.Names("") {
				if IsDeletedName(name) {
					require.Nil(t, (&RemoveDeletedJob{env.Path{Name: name}}).Run(h.world.Disk))
					continue
				}
				require.False(t, finished)
				require.NoError(t, h.recover().Err, "either the replica is whole, or it is gone")
			}
			if finished {
				require.Empty(t, h.world.Disk.Names(""))
				break
			}
		}
	}
}

func TestDeletedNames(t *testing.T) {
	name := deletedName("orders-0", [16]byte{0xab})
	require.Equal(t, "orders-0.ab000000000000000000000000000000-delete", name)
	require.True(t, IsDeletedName(name))
	require.Len(t, deletedName(strings.Repeat("t", 250), [16]byte{}), 255)
	for _, other := range []string{
		"orders-0", "orders-delete", "x.ab-delete", "",
		".ab000000000000000000000000000000-delete",
	} {
		require.False(t, IsDeletedName(other), other)
	}
}

func TestCheckpointJobReplacesFiles(t *testing.T) {
	h := newHarness(t, 1, DefaultConfig())
	entries := []CheckpointEntry{{kafka.TopicPartition{Topic: "a"}, 5}}
	job := CheckpointJob{RecoveryPoints: entries, HighWatermarks: entries}
	require.Nil(t, job.Run(h.world.Disk))
	names := []string{RecoveryPointCheckpointName, HighWatermarkCheckpointName}
	require.Equal(t, names, h.world.Disk.Names(""))
	h.world.Disk.LosePower()
	decoded, err := DecodeCheckpoint(h.world.Disk.Content(RecoveryPointCheckpointName))
	require.NoError(t, err)
	require.Equal(t, entries, decoded)
}

func TestCleanCloseWritesKafkasFiles(t *testing.T) {
	h := started(t, DefaultConfig())
	h.mustAppend(from(0, 0, 3))
	h.closeCleanly()
	require.Equal(t, []string{
		"00000000000000000000.index", "00000000000000000000.log", "00000000000000000000.timeindex",
		"00000000000000000003.sequences", "00000000000000000003.snapshot",
		"leader-epoch-checkpoint", "partition.metadata",
	}, h.world.Disk.Names(testDir))
	require.Empty(t, h.file(name(0, indexSuffix)), "trimmed")
	require.Equal(t, AppendTimeEntry(nil, 0, TimeEntry{52, 2}), h.file(name(0, timeIndexSuffix)),
		"the last maximum is always written")
	require.Equal(t, "0\n1\n1 0\n", string(h.file(epochCheckpointName)))
	before := h.world.Disk.Operations
	h.open()
	h.closeCleanly()
	require.Less(t, h.world.Disk.Operations-before, 40)
}

func TestSegmentRollsByAgeOfTheFirstTimestamp(t *testing.T) {
	config := DefaultConfig()
	config.SegmentMs = 1000
	h := started(t, config)
	require.False(t, h.mustAppend(plain(1, 500, "v")).Rolled)
	require.False(t, h.mustAppend(plain(1, 1500, "v")).Rolled)
	require.False(t, h.mustAppend(plain(1, 10, "v")).Rolled)
	require.True(t, h.mustAppend(plain(1, 1501, "v")).Rolled)
	require.False(t, h.mustAppend(plain(1, 1501, "v")).Rolled)
}

func TestBatchLargerThanASegmentIsRefused(t *testing.T) {
	h := started(t, tinyConfig())
	_, code := h.append(plain(1, 0, values(700)))
	require.Equal(t, kafka.RecordListTooLarge, code)
}

func TestLogAppendTimeIsStamped(t *testing.T) {
	config := DefaultConfig()
	config.LogAppendTime = true
	h := started(t, config)
	a := h.mustAppend(from(0, 0, 1))
	require.Equal(t, h.now.WallMs, a.LogAppendTime)
	require.Equal(t, h.now.WallMs, record.View(h.accepted[0]).MaxTimestamp())
	h.settle()
	require.Equal(t, h.now.WallMs, h.log.MaxTimestamp())
	h.now.WallMs++
	a = h.mustAppend(from(0, 0, 1))
	require.Equal(t, h.now.WallMs-1, a.LogAppendTime, "a duplicate has its original's time")
	require.Equal(t, h.log.DerivedState().Canonical(), h.recover().DerivedState().Canonical())
}

func TestCheckpointOfAnEarlierLifeDoesNotCount(t *testing.T) {
	h := started(t, tinyConfig())
	h.point = 1000 // a topic of this name was deleted
	h.mustAppend(from(0, 0, 3))
	h.settle()
	h.crash(false)
	r := h.open()
	require.Equal(t, kafka.Offset(3), r.End)
	h.closeCleanly()
	h.point = 1000
	h.open()
}
