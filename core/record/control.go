package record

// ControlType says what a control record stands for.
type ControlType int16

const (
	NoControl     ControlType = -1 // not a control batch, or one that cannot be read
	ControlAbort  ControlType = 0
	ControlCommit ControlType = 1
)

// Control is the content of an end-of-transaction marker.
type Control struct {
	Type             ControlType
	CoordinatorEpoch int32
}

// readControl fills Control from the batch's only record. A batch that holds something else keeps
// NoControl.
func (f *Facts) readControl(v View) {}
