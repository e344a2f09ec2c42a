package record

import "hash/crc32"

// castagnoli is the table of CRC-32C; hash/crc32 recognises it and uses the CPU's instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A CRC without its two inversions is linear: crc(a xor b) = crc(a) xor crc(b), and n zero bytes
// behind a message multiply its remainder by x^8n. So a change of some bytes is worth the
// remainder of the change, multiplied by the power of x that the rest of the message stands for.
// Polynomials are bit-reflected, as CRC-32C is: the highest bit is the coefficient of x^0.

// one is the polynomial 1, reflected.
const one uint32 = 1 << 31

// zeroBytes[k] is x^(8 * 2^k) modulo the polynomial: what 2^k zero bytes multiply by.
var zeroBytes = zeroBytePowers()

func zeroBytePowers() (powers [31]uint32) {
	powers[0] = one >> 8
	for k := 1; k < len(powers); k++ {
		powers[k] = multiply(powers[k-1], powers[k-1])
	}
	return powers
}

// multiply gives a*b modulo the CRC-32C polynomial.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		product ^= b & -(a >> 31)
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return product
}

// appendZeros gives the remainder of a message after n more bytes of zero, from the remainder
// before them. n is at most MaxSizeBytes.
func appendZeros(remainder uint32, n int) uint32 {
	for k := 0; n != 0; k, n = k+1, n>>1 {
		if n&1 != 0 {
			remainder = multiply(zeroBytes[k], remainder)
		}
	}
	return remainder
}

// remainder is the CRC of b without the inversions. b is short: the loop beats a call through
// hash/crc32, which would move b to the heap.
func remainder(b []byte) (crc uint32) {
	for _, x := range b {
		crc = castagnoli[byte(crc)^x] ^ crc>>8
	}
	return crc
}

// combine gives the CRC of a message of which only some bytes changed: before was its CRC, change
// is old xor new of those bytes, and after the number of bytes that follow them.
func combine(before uint32, change []byte, after int) uint32 {
	return before ^ appendZeros(remainder(change), after)
}
