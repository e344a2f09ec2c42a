package linearizability_test

import (
	"fmt"

	"stet/core/kafka"
	lin "stet/linearizability"
)

// A client is told that its record stands at offset 0, and the log has another one there.
func ExampleJudge() {
	orders := lin.Partition{Topic: "orders"}
	mine := lin.Value{Client: 1, Seq: 0, Nonce: 0xa1, Invoke: 10}
	other := lin.Value{Client: 2, Seq: 0, Nonce: 0xb2, Invoke: 11}
	history := &lin.History{
		Sends: []lin.Send{{
			Client: 1, Partition: orders, Acks: -1, Idempotent: true, Invoke: 10, Return: 20,
			Records:  []lin.Value{mine},
			Attempts: []lin.Attempt{{Ending: lin.Answered, BaseOffset: 0}},
		}, {
			Client: 2, Partition: orders, Acks: -1, Idempotent: true, Invoke: 11, Return: 30,
			Records:  []lin.Value{other},
			Attempts: []lin.Attempt{{Ending: lin.Lost, BaseOffset: kafka.NoOffset}},
		}},
		Dumps: []lin.Dump{{
			Partition: orders, Replica: 1, Step: 40, Leader: true, HighWatermark: 1, LogEnd: 1,
			Records: []lin.Observed{{Offset: 0, Value: other, Timestamp: 1}},
		}},
	}
	verdict := lin.Judge(history, lin.Options{})
	fmt.Println(verdict.First, verdict.Failed)
	fmt.Println(verdict.Violations()[0])
	// Output:
	// H1 [H1 H2 H2-ack]
	// H1 orders-0: acknowledged value 1.0.a1.10 is not at offset 0
	//     send client=1 session=0 acks=-1 [10, 20] ok base=0 n=1 first=1.0.a1.10
	//     final log: dump replica=1 step=40 start=0 hw=1 end=1 records=1
	//     record offset=0 value=2.0.b2.11 timestamp=1
}
