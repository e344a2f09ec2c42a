package metadata

import (
	"bytes"
	"encoding/binary"
)

// FNV-1a, finished by a mixer: FNV alone leaves the high bits of short keys alike. The hash is not
// meant to withstand an attacker: whoever can choose topic names may unbalance the tree of names,
// at the price of as many topics as it gets deep.
const (
	hashStart uint64 = 14695981039346656037
	hashPrime uint64 = 1099511628211
)

func hashString(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * hashPrime
	}
	return mix(h)
}

func hashBytes(h uint64, b []byte) uint64 {
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * hashPrime
	}
	return mix(h)
}

// mix is the finisher of MurmurHash3: every bit of h reaches every bit of the result.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func compareBytes(a, b []byte) int { return bytes.Compare(a, b) }
