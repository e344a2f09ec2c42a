package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// plan is what compare runs on each broker.
type plan struct {
	discard, measure float64 // gigabytes written before anything counts, and then measured
	small            int     // requests of one small record, measured after as many discarded
	pace             float64 // small requests a second in the paced measurement
	conns, inFlight  int
	partitions       int
}

// compare runs A B B A, prints a line for every run and the ratios of the medians.
func compare(args []string) error {
	var p plan
	f := flag.NewFlagSet("compare", flag.ExitOnError)
	ours := f.String("broker", "", "command of the broker, with {dir} and {port}")
	theirs := f.String("against", "", "command of the other broker; empty measures one alone")
	rounds := f.Int("rounds", 1, "how often A B B A")
	dir := f.String("dir", "", "where data goes; default is a new directory in the temporary one")
	limit := f.Int64("memory", 2<<30, "bytes of memory for a broker, page cache included")
	f.Float64Var(&p.discard, "discard", 3, "gigabytes written and not counted")
	f.Float64Var(&p.measure, "gb", 1.5, "gigabytes measured, in and then out")
	f.IntVar(&p.small, "small", 20_000, "small requests measured; 0 leaves them out")
	f.Float64Var(&p.pace, "pace", 2000, "small requests a second when they are paced")
	f.IntVar(&p.conns, "conns", 4, "connections for large requests")
	f.IntVar(&p.inFlight, "in-flight", 5, "requests in flight on a connection")
	f.IntVar(&p.partitions, "partitions", 8, "partitions")
	if err := f.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		var err error
		if *dir, err = os.MkdirTemp("", "bench"); err != nil {
			return err
		}
	}
	w, err := newWorld(*dir, *limit)
	if err != nil {
		return err
	}
	results, err := w.alternate(p, *ours, *theirs, *rounds)
	if err := errors.Join(err, w.close()); err != nil {
		return err
	}
	report(results)
	return nil
}

// run is what one broker took in one run. Costs are CPU seconds a gigabyte, or microseconds of CPU
// a request.
type run struct {
	produce, consume, small, paced float64
	produceMB, consumeMB           float64 // a second
	smallPerSecond                 float64
	pacedP50, pacedP99             float64 // microseconds from the intended time of sending
	peakMB                         float64
}

func (w *world) alternate(p plan, ours, theirs string, rounds int) (map[string][]run, error) {
	order := []string{"A"}
	commands := map[string]string{"A": ours, "B": theirs}
	if theirs != "" {
		order = []string{"A", "B", "B", "A"}
	}
	results := map[string][]run{}
	for range rounds {
		for _, which := range order {
			r, err := w.measure(p, commands[which])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", which, err)
			}
			fmt.Printf("%s %s\n", which, r)
			results[which] = append(results[which], r)
		}
	}
	return results, nil
}

func (r run) String() string {
	return fmt.Sprintf("produce=%.3f consume=%.3f small_us=%.1f paced_us=%.1f produce_mb_s=%.0f "+
		"consume_mb_s=%.0f small_s=%.0f paced_p50_us=%.0f paced_p99_us=%.0f peak_mb=%.0f", r.produce,
		r.consume, r.small, r.paced, r.produceMB, r.consumeMB, r.smallPerSecond, r.pacedP50, r.pacedP99,
		r.peakMB)
}

// measure starts a broker, warms it up and takes all figures from it.
func (w *world) measure(p plan, command string) (r run, err error) {
	b, err := w.start(command)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	large := []string{
		"produce", "--topic", "large", "--partitions", strconv.Itoa(p.partitions),
		"--conns", strconv.Itoa(p.conns), "--in-flight", strconv.Itoa(p.inFlight), "--bytes",
	}
	warm, _, err := w.step(b, "discard", append(large, gigabytes(p.discard))...)
	if err != nil {
		return r, err
	}
	out, cpu, err := w.step(b, "produce", append(large, gigabytes(p.measure))...)
	if err != nil {
		return r, err
	}
	r.produce, r.produceMB = cpu/(out.number("bytes")/1e9), out.number("mb_per_s")
	read := []string{
		"consume", "--topic", "large", "--partitions", strconv.Itoa(p.partitions),
		"--conns", strconv.Itoa(p.conns), "--from", warm["ends"],
	}
	// The first pass is not counted: a virtual machine compiles during it.
	if _, _, err = w.step(b, "reread", read...); err != nil {
		return r, err
	}
	if out, cpu, err = w.step(b, "consume", read...); err != nil {
		return r, err
	}
	r.consume, r.consumeMB = cpu/(out.number("bytes")/1e9), out.number("mb_per_s")
	if err := w.measureSmall(p, b, &r); err != nil {
		return r, err
	}
	u, err := b.usage()
	r.peakMB = float64(u.peakMB)
	return r, err
}

// measureSmall sends one record of 100 bytes a request, one request in flight on each of 16
// connections: as fast as answers come, and then paced, where every request wakes the broker.
func (w *world) measureSmall(p plan, b *broker, r *run) error {
	const batchBytes = 61 + 107 // header, record
	args := []string{
		"produce", "--topic", "small", "--partitions", strconv.Itoa(p.partitions), "--conns", "16",
		"--in-flight", "1", "--record", "100", "--batch", "1",
		"--bytes", strconv.Itoa(p.small * batchBytes),
	}
	if p.small == 0 {
		return nil
	}
	if _, _, err := w.step(b, "small-discard", args...); err != nil {
		return err
	}
	out, cpu, err := w.step(b, "small", args...)
	if err != nil {
		return err
	}
	r.small = cpu * 1e6 / out.number("requests")
	r.smallPerSecond = out.number("requests") / out.number("wall_s")
	pace := strconv.FormatFloat(p.pace, 'f', -1, 64)
	if out, cpu, err = w.step(b, "paced", append(args, "--rate", pace)...); err != nil {
		return err
	}
	r.paced = cpu * 1e6 / out.number("requests")
	r.pacedP50, r.pacedP99 = out.number("p50_us"), out.number("p99_us")
	return nil
}

func gigabytes(n float64) string { return strconv.FormatInt(int64(n*1e9), 10) }

// figures is a line of key=value pairs.
type figures map[string]string

func (f figures) number(key string) float64 {
	n, err := strconv.ParseFloat(f[key], 64)
	if err != nil {
		panic("no figure " + key)
	}
	return n
}

// step runs a client and returns its figures and the CPU seconds that the broker spent meanwhile.
func (w *world) step(b *broker, name string, args ...string) (figures, float64, error) {
	before, err := b.usage()
	if err != nil {
		return nil, 0, err
	}
	busy, stolen := machineBusy()
	command := w.client(args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	after, err := b.usage()
	nowBusy, nowStolen := machineBusy()
	cpu := after.cpu() - before.cpu()
	client := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	f := figures{}
	for field := range strings.FieldsSeq(string(out)) {
		key, value, _ := strings.Cut(field, "=")
		f[key] = value
	}
	fmt.Fprintf(os.Stderr, "  %s broker_cpu_s=%.2f user=%.2f system=%.2f client_cpu_s=%.2f "+
		"foreign_cpu_s=%.2f stolen_s=%.2f %s", name, cpu, after.userSeconds-before.userSeconds,
		after.systemSeconds-before.systemSeconds, client.Seconds(),
		nowBusy-busy-cpu-client.Seconds(), nowStolen-stolen, out)
	return f, cpu, err
}

// report prints the medians of both brokers and how many times less A takes than B.
func report(results map[string][]run) {
	for _, m := range []struct {
		name string
		of   func(run) float64
	}{
		{"produce_cpu_s_per_gb", func(r run) float64 { return r.produce }},
		{"consume_cpu_s_per_gb", func(r run) float64 { return r.consume }},
		{"small_cpu_us", func(r run) float64 { return r.small }},
		{"paced_cpu_us", func(r run) float64 { return r.paced }},
		{"peak_mb", func(r run) float64 { return r.peakMB }},
	} {
		a, b := spread(results["A"], m.of), spread(results["B"], m.of)
		line := fmt.Sprintf("%s A=%.3f (%.3f..%.3f)", m.name, a[1], a[0], a[2])
		if len(results["B"]) > 0 {
			line += fmt.Sprintf(" B=%.3f (%.3f..%.3f) ratio=%.2f worst_ratio=%.2f", b[1], b[0], b[2],
				b[1]/a[1], b[0]/a[2])
		}
		fmt.Println(line)
	}
}

// spread returns the smallest, median and largest value.
func spread(runs []run, of func(run) float64) [3]float64 {
	if len(runs) == 0 {
		return [3]float64{}
	}
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	n := len(values)
	return [3]float64{values[0], (values[(n-1)/2] + values[n/2]) / 2, values[n-1]}
}
