// Package linearizability judges what the clients of a Kafka-compatible log saw.
//
// A History is everything that a run's clients did and were told: sends, polls, ListOffsets, a
// final read, and a final dump of the replicas. Checkers read a history and report violations with
// their evidence. Judge runs them all and gives one Verdict.
//
// The package knows nothing of the system under test. It sees only core/kafka, so it judges a
// simulated cluster, a live one, and Apache Kafka alike. What only a simulator can know (the true
// high watermark, which records a fault may excuse, what retention deleted) enters a history as
// optional observations; without them the checks that need them count zero antecedents, and say so.
//
// The conventions, which every check rests on:
//
//   - Every record value is unique in the run (Value), and carries the step of its invocation.
//   - Time is the step: a total order of events, never a clock. An operation holds the closed
//     interval [Invoke, Return]; operations that share a step are concurrent.
//   - The outcome of a send is ok, fail or unknown, by one table (ClassifyAttempt), never by guess.
//   - A run ends with heal, quiesce, a final read from the start, and a dump of every replica.
//
// Two independent checkers answer the same question about the order of one partition: the
// offset-guided checker (complete, O(n log n)) and a Porcupine model. They must agree.
package linearizability
