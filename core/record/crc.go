package record

import "hash/crc32"

// castagnoli is the table of CRC-32C; hash/crc32 recognises it and uses the CPU's instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)
