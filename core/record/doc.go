// Package record reads and writes Kafka's record batch, format version 2.
//
// Nothing here keeps state between batches and nothing judges by configuration: Examine reports
// facts, the core decides. Bytes stay where they are; a View is a window on them.
//
// A batch, all integers big-endian:
//
//	 0  int64   baseOffset          stamped by the leader, outside the CRC
//	 8  int32   batchLength         bytes after this field: 49 + records
//	12  int32   partitionLeaderEpoch  stamped by the leader, outside the CRC
//	16  int8    magic               2
//	17  uint32  crc                 CRC-32C of everything from 21 to the end
//	21  int16   attributes          bits 0-2 codec, 3 timestamp type, 4 transactional,
//	                                5 control, 6 delete horizon (baseTimestamp is the horizon)
//	23  int32   lastOffsetDelta
//	27  int64   baseTimestamp       milliseconds
//	35  int64   maxTimestamp        milliseconds
//	43  int64   producerId          -1 without a producer
//	51  int16   producerEpoch
//	53  int32   baseSequence
//	57  int32   count
//	61  records, compressed as a whole when the codec says so
//
// A record, with zigzag varints: length, attributes (1 byte), timestampDelta, offsetDelta,
// key length (-1 null) and key, value length and value, header count, and for each header a key
// length, key, value length (-1 null) and value.
package record
