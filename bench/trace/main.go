// Command trace turns the event logs that a program leaves with WEFT_TRACE=FILE.log in the
// environment into something to look at:
//
//	WEFT_TRACE=run.log go run ./examples/01-hello
//	trace run.log                 the summary: where the time went, and what bounds it
//	trace run.log run.html        the timeline, for any browser
//	trace run.log run-2.log run.json
//
// Two runs, before and after a change, are compared; with a file they stand on one time axis:
//
//	trace -compare before.log after.log
//	trace -compare before.log after.log both.html
//
// Several logs are shown side by side, each on its own clock: as the ranks that they are of, if the
// runtimes had communication threads, and else as ranks in the order in which they are named.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/internal/commandline"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const about = `trace shows the event logs of programs that ran with WEFT_TRACE=FILE.log in the environment.

	trace run.log                 the summary: where the time went, and what bounds it
	trace run.log run.html        a file: .html (any browser), .json (Perfetto),
	                              .dot (graphviz) or .txt (the summary)
	trace a.log b.log run.html    several logs, one above the other
	trace -compare before.log after.log            two runs, and their differences
	trace -compare before.log after.log both.html  and a picture with one time axis
`

// run is the program, and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	var names []string
	line := commandline.New("trace", about)
	line.Exits("0 done, 1 failed, 2 usage")
	output, compare := "", false
	line.BoolVar(&compare, "compare", false, "compare two runs: BEFORE.log AFTER.log")
	err := line.Parse(args, func() error {
		names = line.Args()
		if n := len(names); n > 1 && !strings.HasSuffix(names[n-1], ".log") {
			names, output = names[:n-1], names[n-1]
		}
		for _, name := range names {
			if !strings.HasSuffix(name, ".log") {
				return fmt.Errorf("%s is no .log: logs come first, and then one file to write", name)
			}
		}
		if compare && len(names) != 2 {
			return fmt.Errorf("-compare wants two logs, and there are %d", len(names))
		}
		if len(names) == 0 {
			return fmt.Errorf("no log: run a program with WEFT_TRACE=run.log first")
		}
		return nil
	})
	switch {
	case err != nil:
	case compare:
		err = beside(names, output, stdout)
	default:
		err = show(names, output, stdout)
	}
	return commandline.Code(err, stdout, stderr)
}

// beside prints the differences of two runs, and writes both to the file output if there is one.
func beside(names []string, output string, stdout io.Writer) error {
	var runs [2][]*dataflow.Log
	for i, name := range names {
		var err error
		if runs[i], err = trace.ReadFile(name); err != nil {
			return err
		}
	}
	switch {
	case output == "":
	case strings.EqualFold(filepath.Ext(output), ".html"):
		if err := writePage(output, runs); err != nil {
			return err
		}
	default:
		if err := trace.WriteFile(output, trace.SideBySide(runs[0], runs[1])...); err != nil {
			return err
		}
	}
	return trace.WriteComparison(stdout, runs[0], runs[1])
}

// writePage writes the page of a comparison.
func writePage(name string, runs [2][]*dataflow.Log) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return trace.WriteHTMLComparison(f, runs[0], runs[1])
}

// show writes the logs to the file output, or their summary if there is none. Several files
// are the logs of the ranks, in this order if they do not tell.
func show(names []string, output string, stdout io.Writer) error {
	var logs []*dataflow.Log
	for _, name := range names {
		some, err := trace.ReadFile(name)
		if err != nil {
			return err
		}
		logs = append(logs, some...)
	}
	if len(logs) == len(names) && !distinct(logs) {
		for i, l := range logs {
			l.Rank, l.Ranks = i, len(names)
		}
	}
	if output == "" {
		return trace.WriteSummary(stdout, logs...)
	}
	return trace.WriteFile(output, logs...)
}

// distinct reports whether no two logs are of the same rank.
func distinct(logs []*dataflow.Log) bool {
	seen := map[int]bool{}
	for _, l := range logs {
		seen[l.Rank] = true
	}
	return len(seen) == len(logs)
}
