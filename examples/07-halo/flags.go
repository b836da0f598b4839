package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                             *world.Config
	rows, cols, block, steps, workers int
	trace                             string
}

const usage = `halo: rows that travel between ranks while these compute.

	go run ./examples/07-halo [-ranks 2] [-net gige] [-rows 192] [-cols 16384] [-block 8] [-steps 20] [-trace FILE]

What to read: main.go, overlapped and inTurn: the same work and the same messages. Try
-net gige,progress=nic (bytes move by themselves: then even the exchange in turn gains),
-net none, -ranks 4, or a trace with the extension .txt. It runs under mpirun too; see
06-two-ranks.

Exit code: 0 done and checked, 1 failed, 2 usage.

`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	o.world = world.Flags(flag.CommandLine)
	o.world.DefaultNet("gige")
	flag.IntVar(&o.rows, "rows", 192, "rows of the square, over all ranks")
	flag.IntVar(&o.cols, "cols", 16384, "columns")
	flag.IntVar(&o.block, "block", 8, "rows of a task")
	flag.IntVar(&o.steps, "steps", 20, "time steps")
	flag.IntVar(&o.workers, "workers", 0, "cores of each rank that compute; 0: the cores of the machine, divided among its ranks")
	flag.StringVar(&o.trace, "trace", "", "where the trace goes: .html, .json, .prv, .dot or .txt; if not given, into a new folder, which is printed")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage); flag.PrintDefaults() }
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "workers" })
	if flag.NArg() > 0 || o.cols < 3 || o.block < 1 || o.steps < 1 || o.workers < 0 || given && o.workers == 0 || o.rows < 1 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

// runtime returns the options of the runtimes.
func (o *options) runtime(c *mpi.Comm) []dataflow.Option {
	n := o.workers
	if n == 0 {
		n = world.Workers(c)
	}
	return []dataflow.Option{dataflow.Workers(n), dataflow.Trace(0)}
}

// viewers are what shows a trace, by the ending of its name.
var viewers = map[string]string{
	".html": "open it in a browser", ".json": "drop it on https://ui.perfetto.dev", ".prv": "open it in Paraver",
	".dot": "dot -Tsvg -O on it draws the picture", ".txt": "text",
}
