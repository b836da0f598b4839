package main

import (
	"fmt"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

type options struct {
	world                             *world.Config
	rows, cols, block, steps, workers int
	trace                             string
}

const about = `halo: rows that travel between ranks while these compute.

	go run ./examples/07-halo [-ranks 2] [-net gige] [-rows 192] [-block 8] [-trace FILE]

What to read: main.go, overlapped and inTurn: the same work and the same messages. Try
-net gige,progress=nic (bytes move by themselves: then even the exchange in turn gains),
-net none, -ranks 4, or a trace with the extension .txt. It runs under mpirun too; see
06-two-ranks.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("halo", about)
	o.world = world.Flags(line.FlagSet)
	o.world.DefaultNet("gige")
	line.Between(&o.rows, "rows", 192, 1, 8192, "rows of the square, over all ranks")
	line.Between(&o.cols, "cols", 16384, 3, 16384, "columns")
	line.Least(&o.block, "block", 8, 1, "rows of a task")
	line.Least(&o.steps, "steps", 20, 1, "time steps")
	line.Workers(&o.workers, 0, "cores of each rank that compute (default: the cores of the machine, divided among its ranks)")
	line.StringVar(&o.trace, "trace", "", "where the trace goes: .html, .json, .dot, .txt or .log; if not given, into a new folder, which is printed")
	line.MustParse(func() error {
		if o.trace == "" {
			return nil
		}
		return world.CheckTrace(o.trace)
	})
	return o
}

// line returns the ranks in a line, as many as there are rows at most.
func (o *options) line(all *mpi.Comm) (*mpi.Cart, error) {
	if o.rows < all.Size() {
		return nil, fmt.Errorf("%w: %d rows for %d ranks: each needs at least one: give more with -rows, or fewer ranks", world.ErrUsage, o.rows, all.Size())
	}
	return all.Cart([]int{all.Size()}, nil)
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
	".html": "open it in a browser", ".json": "drop it on https://ui.perfetto.dev",
	".dot": "dot -Tsvg -O on it draws the picture", ".txt": "text", ".log": "go run ./bench/trace shows it",
}
