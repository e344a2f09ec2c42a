package record

import (
	"encoding/binary"

	"stet/core/env"
	"stet/core/invariant"
	"stet/core/kafka"
)

// Stamp writes what the leader decides into the header of the batch at the start of b, in place:
// offset and epoch, and the maximum timestamp when the patch asks for it. The CRC is combined
// from the change, so a batch that was corrupt stays corrupt. It costs O(log len(b)).
func Stamp(b []byte, p env.Patch) {
	if !p.Stamp {
		return
	}
	batch, _, problem := First(b)
	invariant.Always(problem == NoProblem, "a patch is for a whole batch")
	binary.BigEndian.PutUint64(batch, uint64(p.BaseOffset))
	binary.BigEndian.PutUint32(batch[leaderEpochAt:], uint32(p.LeaderEpoch))
	switch {
	case p.AppendTime:
		batch.setMaxTimestamp(kafka.LogAppendTime, p.MaxStamp)
	case p.CreateTime:
		batch.setMaxTimestamp(kafka.CreateTime, p.MaxStamp)
	}
}

// setMaxTimestamp changes the timestamp type and the maximum timestamp, and the CRC with them.
func (v View) setMaxTimestamp(t kafka.TimestampType, maxTimestamp int64) {
	const end = maxTimestampAt + 8
	var change [end - attributesAt]byte
	copy(change[:], v[attributesAt:])

	attributes := v.Attributes()&^timestampTypeFlag | Attributes(t)*timestampTypeFlag
	binary.BigEndian.PutUint16(v[attributesAt:], uint16(attributes))
	binary.BigEndian.PutUint64(v[maxTimestampAt:], uint64(maxTimestamp))

	changed := false
	for i, b := range v[attributesAt:end] {
		change[i] ^= b
		changed = changed || change[i] != 0
	}
	if changed {
		v.setCRC(combine(v.CRC(), change[:], len(v)-end))
	}
}

func (v View) setCRC(crc uint32) { binary.BigEndian.PutUint32(v[crcAt:], crc) }
