package live

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// complaint is what Kafka's dump tool prints about a file that is not right, while it exits 0.
var complaint = regexp.MustCompile(
	`isvalid: false|^Found|Mismatch|[Nn]on-consecutive|[Ee]xception`)

// fromNothing is a complaint of the tool about every log that does not begin at offset 0: it takes
// the offset before the first one to be -1. Kafka's own files draw it too. The two offsets have to
// be compared with the file's name.
var fromNothing = regexp.MustCompile(
	`Non-consecutive offsets in \S*/(\d{20})\.log\n\s+-1 is followed by (\d+)\n`)

// partitionFiles lists the files of every partition directory below dir that the dump tool reads.
// The indexes of the last segment of a log are left out if live: a running Kafka keeps them longer
// than what they hold, full of zeros, and its own tool complains about those.
func partitionFiles(dir string, live bool) ([]string, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*-*", "*.log"))
	if err != nil {
		return nil, err
	}
	var files []string
	for i, log := range logs {
		partition := filepath.Dir(log)
		// A Kafka node's own metadata log is not made of the records that the tool expects here.
		if strings.HasPrefix(filepath.Base(partition), "__cluster_metadata") {
			continue
		}
		files = append(files, log)
		last := i+1 == len(logs) || filepath.Dir(logs[i+1]) != partition
		for _, ext := range []string{".index", ".timeindex", ".snapshot"} {
			name := strings.TrimSuffix(log, ".log") + ext
			if _, err := os.Stat(name); err != nil || live && last && ext != ".snapshot" {
				continue
			}
			files = append(files, name)
		}
	}
	return files, nil
}

// DumpStrictly runs Kafka's DumpLogSegments over every partition file below dir and returns how
// many batches of logs it read. Any line that is a complaint is an error. Live says that the broker
// was not stopped in order.
func DumpStrictly(root, dir string, live bool) (batches int, err error) {
	files, err := partitionFiles(dir, live)
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("no partition files below %s", dir)
	}
	for chunk := range slices.Chunk(files, 500) {
		command := exec.Command("bench/peer.sh", "tool", "DumpLogSegments", "--deep-iteration",
			"--files", strings.Join(chunk, ","))
		command.Dir = root
		out, err := command.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		text := withoutFromNothing(string(out) + "\n")
		for line := range strings.Lines(text) {
			if complaint.MatchString(line) {
				return 0, fmt.Errorf("the dump tool complains: %s", complainedFile(text, line))
			}
			if strings.HasPrefix(line, "baseOffset: ") {
				batches++
			}
		}
	}
	return batches, nil
}

// withoutFromNothing removes complaints fromNothing where the log really begins at its base offset.
// The tool prints them without a line break before.
func withoutFromNothing(out string) string {
	return fromNothing.ReplaceAllStringFunc(out, func(found string) string {
		m := fromNothing.FindStringSubmatch(found)
		base, err1 := strconv.ParseInt(m[1], 10, 64)
		first, err2 := strconv.ParseInt(m[2], 10, 64)
		if err1 == nil && err2 == nil && base == first {
			return "\n"
		}
		return "\n" + found
	})
}

// complainedFile puts the last announced file name before the complaint.
func complainedFile(out, line string) string {
	before, _, _ := strings.Cut(out, line)
	if i := strings.LastIndex(before, "Dumping "); i >= 0 {
		name, _, _ := strings.Cut(before[i:], "\n")
		return name + ": " + line
	}
	return line
}
