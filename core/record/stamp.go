package record

import "stet/core/env"

// Stamp writes what the leader decides into the header of the batch at the start of b, in place:
// offset and epoch, and with AppendTime the timestamp type and maximum timestamp. The CRC is
// combined from the change, so a batch that was corrupt stays corrupt. It costs O(log len(b)).
func Stamp(b []byte, p env.Patch) { panic("not yet") }
