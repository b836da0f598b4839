package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// config is the command line.
type config struct {
	class   nas.Class
	variant nas.Variant
	twoD    bool // process grid of two dimensions
	pad     int
	stage   int
	workers int // of a rank; 0: its share of the cores
	reps    int // 0: 1, or 5 with -compare
	compare bool
	noLease bool
	trace   string
	hosts   bool // launched on several machines
	world   *world.Config
	line    *commandline.Line

	machine *cluster.Machine // simulated; nil: none
	kernels *codelet.Set     // modelled; nil: the transforms are computed
}

// defaultStage keeps a network busy that is slower than the computation; a faster network
// needs less. With all planes, the stage is a third array, with which tasks hide the last
// messages as well: over a network that is their default.
const defaultStage = 16

const (
	compareReps = 5 // as in the paper
	maxWorkers  = 1024
)

// newConfig declares the flags.
func newConfig() *config {
	c := &config{variant: nas.Variant{Form: distributed.Tasks}}
	c.class, _ = nas.Named("A")
	set := commandline.New("npbft", about)
	c.line = set
	set.Func("class", "`size` of the problem: S, W, A, B, C, D, E or F (default A)", func(s string) (err error) {
		c.class, err = nas.Named(s)
		return err
	})
	set.Func("variant", "`form`: exchange, slabs, pencils or tasks (default tasks)", func(s string) (err error) {
		c.variant.Form, err = distributed.ParseForm(s)
		return err
	})
	set.BoolVar(&c.variant.OneSided, "onesided", false, "pieces are put into windows; with -compare, too")
	set.Func("layout", "process `grid`: 1d (slabs of planes) or 2d (default 1d)", func(s string) error {
		c.twoD = s == "2d"
		if !c.twoD && s != "1d" {
			return fmt.Errorf("1d or 2d")
		}
		return nil
	})
	set.Between(&c.pad, "pad", 0, 0, 4096, "`points` added to the distance of planes in memory")
	set.Least(&c.stage, "stage", defaultStage, 0, "finished `planes` of a rank that may wait for their transfer; 0: all, as with exchange always, and as tasks over a network if the flag is not given")
	set.IntVar(&c.workers, "workers", 0, "`cores` of each rank that compute (default: the cores of the machine, divided among its ranks)")
	set.Least(&c.reps, "reps", 0, 1, "`repetitions` of the timed part (default 1, with -compare 5)")
	set.BoolVar(&c.compare, "compare", false, "run all variants in turn")
	set.Lease(&c.noLease)
	set.StringVar(&c.trace, "trace", "", "write a trace to `file`: .html (any browser), .json (Perfetto), .dot (graphviz), .txt (summary) or .log; of the first 16 ranks")
	c.world = world.Flags(set.FlagSet)
	c.world.Ranks = 1
	set.Lookup("ranks").DefValue = "1"
	c.sections()
	return c
}

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	err := c.line.Parse(args, c.line.NoArgs, c.validate, c.simulate, c.checkRanks)
	if c.reps == 0 {
		c.reps = 1
		if c.compare {
			c.reps = compareReps
		}
	}
	return c, err
}

// validate reports values that make no sense.
func (c *config) validate() error {
	switch {
	case c.workers < 0 || c.workers > maxWorkers || c.line.Given("workers") && c.workers == 0:
		return fmt.Errorf("-workers %d: it is from 1 to %d", c.workers, maxWorkers)
	case c.compare && c.line.Given("variant"):
		return fmt.Errorf("-compare runs all variants: drop -variant")
	case c.compare && c.trace != "":
		return fmt.Errorf("-trace is of one variant: drop -compare")
	case c.variant.Form == distributed.Exchange && c.line.Given("stage") && c.stage > 0 && !c.compare:
		return fmt.Errorf("-stage %d: the exchange sends when all planes are done", c.stage)
	case c.trace != "":
		if err := world.CheckTrace(c.trace); err != nil {
			return fmt.Errorf("-trace: %w", err)
		}
	}
	return nil
}

// simulate loads the simulated machine. If it has a rate of transforms, nothing is computed.
func (c *config) simulate() (err error) {
	if c.world.Machine == "" {
		return nil
	}
	if c.machine, err = cluster.Load(c.world.Machine); err != nil {
		return fmt.Errorf("-machine: %w", err)
	}
	if c.machine.Kernels.FFT == 0 {
		return nil
	}
	c.world.Modelled = true
	c.kernels, err = modelled.Transforms(c.machine.Kernels)
	return err
}

// checkRanks refuses more ranks inside this process than it can have threads for, or than
// the grid has planes for, or rows: the others would have nothing to do but messages.
func (c *config) checkRanks() error {
	if _, _, launched := system.Launched(); launched || c.world.Ranks < 1 {
		return nil
	}
	if err := c.checkRoom(); err != nil {
		return err
	}
	planes, rows := c.class.NZ, c.class.NY
	if g := c.grid(c.world.Ranks); g[0] > planes || g[1] > rows {
		return fmt.Errorf("-ranks %d: class %s has %d planes of %d rows, and a process grid of %d x %d would leave ranks without any: use fewer", c.world.Ranks, c.class.Name, planes, rows, g[0], g[1])
	}
	return nil
}

// checkRoom refuses more ranks and workers than the machine has cores, if it is simulated, or
// this process can have threads.
func (c *config) checkRoom() error {
	if c.machine == nil {
		return machine.CheckThreads(c.world.Ranks, c.workers)
	}
	_, err := c.machine.Place(c.world.Ranks, max(1, c.workers))
	return err
}

// variants returns those to run.
func (c *config) variants() []nas.Variant {
	if c.compare {
		return nas.Variants(c.variant.OneSided)
	}
	return []nas.Variant{c.variant}
}

// dist returns how a variant transforms.
func (c *config) dist(comm *mpi.Comm, v nas.Variant) distributed.Config {
	d := distributed.Config{Form: v.Form, OneSided: v.OneSided, Pad: c.pad, Grid: c.grid(comm.Size()), Workers: c.workers, Stage: c.stageOf(v), Kernels: c.kernels}
	if d.Workers == 0 {
		d.Workers = world.Workers(comm)
	}
	if c.noLease {
		d.ThreadOptions = append(d.ThreadOptions, commthread.Lease(false))
	}
	if c.trace != "" && comm.Rank() < report.TracedRanks {
		d.RuntimeOptions = append(d.RuntimeOptions, dataflow.Trace(0))
	}
	return d
}

// stageOf returns the planes that may wait: the exchange sends when all are done.
func (c *config) stageOf(v nas.Variant) int {
	if v.Form == distributed.Exchange {
		return 0
	}
	if v.Form == distributed.Tasks && !c.line.Given("stage") && c.network() {
		return 0
	}
	return c.stage
}

// network reports whether ranks are connected by more than memory.
func (c *config) network() bool { return c.hosts || c.machine != nil || c.world.Net != (local.Net{}) }

// locate finds out whether the ranks of a launcher are on several machines. Collective.
func (c *config) locate(comm *mpi.Comm) error {
	if _, _, launched := system.Launched(); !launched {
		return nil // ranks of one process share c
	}
	host, err := comm.SplitShared()
	if err != nil {
		return err
	}
	c.hosts = host.Size() < comm.Size()
	return host.Free()
}

// grid returns the process grid: planes are divided among the first number, rows among the
// second. A grid of two dimensions is as square as possible.
func (c *config) grid(ranks int) [2]int {
	if !c.twoD {
		return [2]int{ranks, 1}
	}
	dims, err := mpi.Dims(ranks, 0, 0)
	if err != nil {
		return [2]int{ranks, 1}
	}
	return [2]int{dims[1], dims[0]}
}

const about = `npbft runs the benchmark FT of the NAS Parallel Benchmarks, and verifies it.

	npbft                                      class A as tasks on all cores
	npbft -class W -ranks 2 -variant slabs     two ranks in this process
	npbft -class A -ranks 2 -net gige -compare
	npbft -class D -ranks 256 -machine elan4   on a simulated machine
	mpirun -np 2 npbft -class B                over the machine's MPI (built with -tags mpi)

On a simulated machine all messages and tasks run in virtual time. If its file has a rate of
transforms, they do not compute but take their time, and nothing is verified.
`

// sections adds the lists of classes and variants to what -h prints.
func (c *config) sections() {
	var classes []commandline.Row
	for _, class := range nas.Classes() {
		classes = append(classes, commandline.Row{
			Name: class.Name,
			Text: fmt.Sprintf("%s, %d iterations, %s", class.Size(), class.Iterations, size(class.Memory(1, distributed.Config{}))),
		})
	}
	c.line.Section("Classes (points, iterations, memory of one rank)", classes...)
	c.line.Section("Variants", []commandline.Row{
		{Name: "exchange", Text: "all planes are transformed, then one all-to-all, then the last dimension"},
		{Name: "slabs", Text: "a plane's piece for each peer is sent as soon as the plane is done"},
		{Name: "pencils", Text: "the same in groups of rows"},
		{Name: "tasks", Text: "a graph of tasks, and a thread that moves the pieces"},
	}...)
	c.line.Exits("0 done and verified, 1 failed run or verification, 2 usage")
}
