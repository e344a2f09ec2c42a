package record

// Codec is a compression codec (attribute bits 0 to 2).
type Codec uint8

const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
	codecCount
)

// Known says whether the codec exists.
func (c Codec) Known() bool { return c < codecCount }

// String gives Kafka's name of the codec.
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "unknown"
}

// ParseCodec reads the form that String prints.
func ParseCodec(name string) (Codec, bool) {
	for c := range codecCount {
		if c.String() == name {
			return c, true
		}
	}
	return None, false
}
