package linearizability_test

import (
	"testing"

	"stet/core/kafka"
	lin "stet/linearizability"
)

func TestOutcomeOfAnAttempt(t *testing.T) {
	for _, c := range []struct {
		code            kafka.ErrorCode
		first, afterOne lin.Outcome // the second when an earlier attempt may have appended
	}{
		{kafka.None, lin.Ok, lin.Ok},
		{kafka.NotEnoughReplicas, lin.Fail, lin.Unknown},
		{kafka.MessageTooLarge, lin.Fail, lin.Unknown},
		{kafka.UnknownTopicOrPartition, lin.Fail, lin.Unknown},
		{kafka.TopicAuthorizationFailed, lin.Fail, lin.Unknown},
		{kafka.InvalidTimestamp, lin.Fail, lin.Unknown},
		{kafka.InvalidProducerEpoch, lin.Fail, lin.Unknown},
		{kafka.NotEnoughReplicasAfterAppend, lin.Unknown, lin.Unknown},
		{kafka.RequestTimedOut, lin.Unknown, lin.Unknown},
		{kafka.NotLeaderOrFollower, lin.Unknown, lin.Unknown},
		{kafka.OutOfOrderSequenceNumber, lin.Unknown, lin.Unknown},
		{kafka.UnknownProducerID, lin.Unknown, lin.Unknown},
		{kafka.DuplicateSequenceNumber, lin.Unknown, lin.Unknown},
		{kafka.KafkaStorageError, lin.Unknown, lin.Unknown},
		{kafka.UnknownServerError, lin.Unknown, lin.Unknown},
	} {
		a := refused(c.code)
		if got := lin.ClassifyAttempt(a, -1, false); got != c.first {
			t.Errorf("%s: %s, want %s", c.code, got, c.first)
		}
		if got := lin.ClassifyAttempt(a, -1, true); got != c.afterOne {
			t.Errorf("%s after an unknown attempt: %s, want %s", c.code, got, c.afterOne)
		}
	}
}

func TestAcksZeroIsNeverAcknowledged(t *testing.T) {
	if got := lin.ClassifyAttempt(okAt(0), 0, false); got != lin.Unknown {
		t.Fatalf("got %s", got)
	}
}

func TestOutcomeOfASendIsThatOfAllItsAttempts(t *testing.T) {
	notSent := lin.Attempt{Ending: lin.NotSent, BaseOffset: kafka.NoOffset}
	no := refused(kafka.NotEnoughReplicas)
	for name, c := range map[string]struct {
		attempts []lin.Attempt
		end      lin.Step
		want     lin.Outcome
		base     kafka.Offset
	}{
		"refused":                     {[]lin.Attempt{no}, 9, lin.Fail, -1},
		"refused twice":               {[]lin.Attempt{no, no}, 9, lin.Fail, -1},
		"refused after a lost one":    {[]lin.Attempt{lost, no}, 9, lin.Unknown, -1},
		"not sent":                    {[]lin.Attempt{notSent}, 9, lin.Fail, -1},
		"not sent after a lost one":   {[]lin.Attempt{lost, notSent}, 9, lin.Unknown, -1},
		"answered after a lost one":   {[]lin.Attempt{lost, okAt(7)}, 9, lin.Ok, 7},
		"refused, another under way":  {[]lin.Attempt{no}, 0, lin.Unknown, -1},
		"in flight when the run ends": {nil, 0, lin.Unknown, -1},
	} {
		send := lin.Send{Acks: -1, Invoke: 1, Return: c.end, Attempts: c.attempts}
		if got, base := send.Outcome(); got != c.want || base != c.base {
			t.Errorf("%s: %s at %d, want %s at %d", name, got, base, c.want, c.base)
		}
	}
}

// Every code has a class, and only those in the table of A1 are failures.
func TestOnlyChecksBeforeTheAppendAreFailures(t *testing.T) {
	failures := 0
	for code := kafka.UnknownServerError; code <= kafka.ControllerIDNotRegistered; code++ {
		if lin.ClassifyAttempt(refused(code), -1, false) == lin.Fail {
			failures++
		}
	}
	if failures != 23 {
		t.Fatalf("%d codes are failures; extend the table of the test with the one of the code", failures)
	}
}
