// Package campaign runs many seeds of scenarios, a worker process a core, and sums up what they
// found: failures by class, coverage marks, counters and floors, as lines and as files.
//
// A campaign is of the real world: it has goroutines, processes and wall time. Nothing of it is
// part of a run, whose outcome only the scenario and the seed decide.
//
//	campaign.go   Campaign: what to run, and the loop that has it run
//	job.go        Job, and the worker's side of the pipe
//	worker.go     the campaign's side: a child process, its deaths, its time limit
//	summary.go    Summary and Totals: sums over runs
//	class.go      failures with one cause, by the signature of their evidence
//	floors.go     what a scenario must reach over many seeds
//	state.go      the file that lets a campaign go on where it was stopped
//	progress.go   the live line
//	shard.go      Seeds and Shard: which seeds are whose
package campaign
