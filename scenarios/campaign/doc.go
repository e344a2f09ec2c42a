// Package campaign runs many seeds of scenarios, a worker process a core, and sums up what they
// found: failures by class, coverage marks, counters and floors, as lines and as files.
//
// A campaign is of the real world: it has goroutines, processes and wall time. Nothing of it is
// part of a run, whose outcome only the scenario and the seed decide.
//
//	campaign.go   what to run, and the loop that has it run
//	shard.go      which seeds are whose
//	job.go        the pipe to a worker, and the worker's side of it
//	worker.go     the campaign's side: a child process, its deaths, its time limit
//	runner.go     one worker after another
//	state.go      the file by which a campaign goes on where it was stopped
//	summary.go    sums over runs
//	class.go      failures of one cause; signature.go says what makes them one
//	floors.go     what the runs of a scenario must reach together; marks.go likewise
//	progress.go   the live line
//	report.go     campaign.json; junit.go and page.go write junit.xml and index.html
package campaign
