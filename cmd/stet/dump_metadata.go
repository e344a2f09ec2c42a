package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stet/core/metadata"
	"stet/core/quorum"
)

// dumpMetadata prints a file of the controller: of a log its header and the records of its entries,
// of a snapshot the image that it holds.
func dumpMetadata(p *printer, path string, _ *dumpFlags) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	if quorum.IsSnapshotName(name) {
		return dumpMetadataSnapshot(p, name, b)
	}
	l, err := quorum.InspectLog(name, b)
	p.line("generation", l.Generation, "voter", l.Voter, "startIndex", l.Start.Index,
		"startTerm", l.Start.Term, "voters", fmt.Sprint(l.Members.Voters),
		"learners", fmt.Sprint(l.Members.Learners), "outgoing", fmt.Sprint(l.Members.VotersOutgoing),
		"term", l.Hard.Term, "vote", l.Hard.Vote, "commit", l.Hard.Commit,
		"inForce", l.InForce, "tornBytes", l.TornBytes)
	for i := range l.Entries {
		if err := dumpEntry(p, &l.Entries[i]); err != nil {
			return err
		}
	}
	return err
}

// dumpEntry prints a line for each record of an entry, and one for an entry that has none.
func dumpEntry(p *printer, e *quorum.Entry) error {
	if e.Kind != quorum.EntryNormal {
		change, err := quorum.DescribeChange(e)
		p.line("index", e.Index, "term", e.Term, "kind", int(e.Kind), "change", change)
		return err
	}
	if len(e.Data) == 0 {
		p.line("index", e.Index, "term", e.Term, "kind", int(e.Kind), "bytes", 0)
		return nil
	}
	records, err := metadata.DecodeEntry(e.Data)
	for _, r := range records {
		p.line("index", e.Index, "term", e.Term, "record", recordName(r), "value", recordValue(r))
	}
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	return nil
}

// recordName is the name of a record's type: TopicRecord.
func recordName(r metadata.Record) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", r), "*metadata.")
}

func recordValue(r metadata.Record) string {
	return strings.TrimPrefix(fmt.Sprintf("%+v", r), "&")
}

func dumpMetadataSnapshot(p *printer, name string, b []byte) error {
	at, members, body, err := quorum.InspectSnapshot(name, b)
	if err != nil {
		return err
	}
	image, err := metadata.DecodeSnapshot(body)
	if err != nil {
		return err
	}
	p.line("index", at.Index, "term", at.Term, "voters", fmt.Sprint(members.Voters),
		"learners", fmt.Sprint(members.Learners), "outgoing", fmt.Sprint(members.VotersOutgoing),
		"topics", image.TopicCount(), "partitions", image.PartitionCount())
	records, err := metadata.SnapshotRecords(body)
	for _, r := range records {
		p.line("record", recordName(r), "value", recordValue(r))
	}
	return err
}
