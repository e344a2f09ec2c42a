package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stet/core/env"
	"stet/core/kafka"
)

// TestAcknowledgementsComeInOrderOfOffsets compares the queue with a plain list.
func TestAcknowledgementsComeInOrderOfOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var queue acknowledgements
		var model []waiting
		end, reached := kafka.Offset(0), kafka.Offset(0)
		for i := range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				end += kafka.Offset(rapid.IntRange(1, 3).Draw(t, "count"))
				w := waiting{ticket: Ticket{Index: uint32(i)}, end: end}
				queue.add(w)
				model = append(model, w)
			case 2: // a duplicate of something earlier
				w := waiting{
					ticket: Ticket{Index: uint32(i)},
					end:    kafka.Offset(rapid.Int64Range(0, int64(end)).Draw(t, "duplicate")),
				}
				queue.add(w)
				at := len(model)
				for at > 0 && model[at-1].end > w.end {
					at--
				}
				model = append(model[:at], append([]waiting{w}, model[at:]...)...)
			case 3:
				reached = kafka.Offset(rapid.Int64Range(int64(reached), int64(end)).Draw(t, "reached"))
				for {
					w, ok := queue.pop(reached)
					if !ok {
						break
					}
					require.Equal(t, model[0], w)
					model = model[1:]
				}
				require.True(t, len(model) == 0 || model[0].end > reached)
			}
			require.Equal(t, len(model), queue.len())
		}
	})
}

func TestAcknowledgementsReuseTheirMemory(t *testing.T) {
	var queue acknowledgements
	end := kafka.Offset(0)
	cycle := func() {
		for range 100 {
			end++
			queue.add(waiting{end: end})
		}
		for range 100 {
			queue.pop(end)
		}
	}
	cycle()
	require.Zero(t, testing.AllocsPerRun(100, cycle))
}

func TestExpiryClockDoesNotLeap(t *testing.T) {
	const second = env.Mono(1_000_000_000)
	var c ExpiryClock
	require.EqualValues(t, 5000, c.Advance(env.Now{Mono: 0, WallMs: 5000}).WallMs)
	require.EqualValues(t, 6000, c.Advance(env.Now{Mono: second, WallMs: 6000}).WallMs)
	require.EqualValues(t, 7000, c.Advance(env.Now{Mono: 2 * second, WallMs: 1 << 50}).WallMs,
		"a leap forward counts as the time that has passed")
	require.EqualValues(t, 7000, c.Advance(env.Now{Mono: 3 * second, WallMs: 10}).WallMs,
		"a step back counts as nothing")
	require.EqualValues(t, 8000, c.Advance(env.Now{Mono: 4 * second, WallMs: 9000}).WallMs)
}
