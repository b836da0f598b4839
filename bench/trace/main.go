// Command trace turns the event logs that a program leaves with WEFT_TRACE=FILE.log in the
// environment into something to look at:
//
//	WEFT_TRACE=run.log go run ./examples/01-hello
//	trace run.log                 the summary: where the time went, and what bounds it
//	trace run.log run.html        the timeline, for any browser
//	trace run.log run-2.log run.json
//
// Several logs are shown side by side, as ranks in the order in which they are named, each on
// its own clock. Messages are not in such logs: for them, use the -trace of the program.
package main

import (
	"fmt"
	"io"
	"os"
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
`

// run is the program, and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	var names []string
	line := commandline.New("trace", about)
	line.Exits("0 done, 1 failed, 2 usage")
	output := ""
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
		if len(names) == 0 {
			return fmt.Errorf("no log: run a program with WEFT_TRACE=run.log first")
		}
		return nil
	})
	if err == nil {
		err = show(names, output, stdout)
	}
	return commandline.Code(err, stdout, stderr)
}

// show writes the logs to the file output, or their summary if there is none. Several files
// are the logs of the ranks, in this order.
func show(names []string, output string, stdout io.Writer) error {
	var logs []*dataflow.Log
	for i, name := range names {
		some, err := trace.ReadFile(name)
		if err != nil {
			return err
		}
		if len(names) > 1 && len(some) == 1 {
			some[0].Rank, some[0].Ranks = i, len(names)
		}
		logs = append(logs, some...)
	}
	if output == "" {
		return trace.WriteSummary(stdout, logs...)
	}
	return trace.WriteFile(output, logs...)
}
