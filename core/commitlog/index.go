package commitlog

const (
	indexEntrySize = 8
	timeEntrySize  = 12
)
