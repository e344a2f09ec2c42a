package sim

import (
	"stet/core/env"
	"stet/core/invariant"
	"stet/node"
	"stet/sim/digest"
)

// turnTap implements node.Tap: it chains what every turn was told and what it emitted.
type turnTap struct {
	trace *Trace
	place Place
	also  node.Tap // a scenario's own, or nil
	told  digest.Hash
	count int64
	idle  [node.LoopCount]idleTurns
}

// idleTurns are turns in a row that nothing but a wake-up caused, and that want another one at once.
type idleTurns struct {
	now   env.Mono
	tick  bool // nothing else caused the turn under way
	count int
}

// mostIdleTurns is more than any loop needs for work that it splits. One that goes on keeps a processor
// busy for nothing: it does not do what it has asked to be woken for.
const mostIdleTurns = 10_000

// Undigested keeps a node's digest from walking into the world.
func (t *turnTap) Undigested() {}

// Turning implements node.Tap.
func (t *turnTap) Turning(l node.LoopID, now env.Now, in []env.Event) {
	t.told, t.count = digest.Hash{}, int64(len(in))
	t.told.Int(int64(now.Mono))
	t.told.Int(now.WallMs)
	for i := range in {
		hashEvent(&t.told, &in[i])
	}
	t.idle[l].now, t.idle[l].tick = now.Mono, len(in) == 1 && in[0].Kind == env.EventTick
	if t.also != nil {
		t.also.Turning(l, now, in)
	}
}

// Turned implements node.Tap.
func (t *turnTap) Turned(l node.LoopID, out *env.Effects) {
	hashEffects(&t.told, out)
	t.idle[l].turned(out)
	t.trace.hash.Add(t.told.Sum())
	t.trace.Record(Record{
		Place: t.place, Kind: KindTurn, What: l.String(), A: t.count,
		B: int64(len(out.File)), C: int64(len(out.Conn)),
	})
	if t.also != nil {
		t.also.Turned(l, out)
	}
}

func hashEvent(h *digest.Hash, e *env.Event) {
	h.Word(uint64(e.Kind)<<16 | uint64(e.FileOp)<<8 | uint64(e.Err))
	h.Word(uint64(e.Slot))
	h.Word(uint64(e.Token))
	h.Word(uint64(e.Conn))
	h.Word(uint64(e.File))
	h.Int(e.N)
	if e.Req != nil && e.Req.Frame != nil {
		h.Bytes(e.Req.Frame.Bytes())
	}
}

func hashEffects(h *digest.Hash, out *env.Effects) {
	for i := range out.File {
		op := &out.File[i]
		h.Word(uint64(op.Op))
		h.Word(uint64(op.File))
		h.Int(op.Off)
		h.Int(op.N)
		h.Text(op.Path)
		h.Word(uint64(op.Token))
		h.Int(op.Patch.BaseOffset)
		h.Int(int64(op.Patch.LeaderEpoch))
	}
	for i := range out.Conn {
		op := &out.Conn[i]
		h.Word(uint64(op.Op)<<8 | uint64(op.Err))
		h.Word(uint64(op.Conn))
		h.Word(uint64(op.Slot))
		h.Word(uint64(op.Token))
	}
	for _, j := range out.Jobs {
		h.Word(uint64(j.Token))
		h.Text(j.Job.Name())
	}
	for _, r := range out.Ranges {
		h.Word(uint64(r.File))
		h.Int(r.Off)
		h.Int(r.Len)
		if r.Copy {
			h.Word(1)
		}
	}
	h.Bytes(out.Bytes)
	h.Int(int64(out.Wake))
}

func (i *idleTurns) turned(out *env.Effects) {
	if !i.tick || out.Wake > i.now {
		i.count = 0
		return
	}
	i.count++
	invariant.Always(i.count < mostIdleTurns, "a loop asks to be woken at once, again and again")
}
