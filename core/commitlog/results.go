package commitlog

// ResultTypes has a value of each type, errors aside, that a job of this room returns: what a
// recording needs to read them back.
func ResultTypes() []any {
	return []any{(*Recovered)(nil), (*located)(nil), TimeFound{}}
}
