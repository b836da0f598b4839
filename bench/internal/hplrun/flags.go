package hplrun

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/modelled"
	"github.com/weft-hpc/weft/mpi/world"
)

// options is the command line.
type options struct {
	dat                      string
	n, nb, p, q, depth, cast []int // lists; nil: not given
	drivers                  []driver
	without                  hpl.Refinement
	workers                  int // of each rank; 0: its share of the cores
	seed                     uint64
	reps                     int // 0: the default
	compare, ablate, timing  bool
	netlibExit               bool
	trace                    string
	kernels                  blas.Kernels     // nil: the default
	machine                  *cluster.Machine // simulated; nil: none
	world                    *world.Config

	line *commandline.Line
	file *hpldat.File // the tests; no Grids: a grid that fits the ranks; no N: sized for the machine
}

// driver is a driver with or without some refinements.
type driver struct {
	variant hpl.Variant
	without hpl.Refinement
}

// String names the driver: "task without parts".
func (d driver) String() string {
	if d.without == 0 {
		return Variants[d.variant]
	}
	return Variants[d.variant] + " without " + d.without.String()
}

// Variants are the names of the drivers on the command line.
var Variants = []string{hpl.Task: "task", hpl.LookAhead: "lookahead", hpl.Blocking: "blocking", hpl.TaskPlain: "tasks-plain"}

// Broadcasts are netlib's short names of the panel broadcasts.
var Broadcasts = []string{
	hpl.Ring: "1rg", hpl.RingModified: "1rM", hpl.TwoRing: "2rg", hpl.TwoRingModified: "2rM", hpl.Long: "Lng", hpl.LongModified: "LnM",
}

// flags declares the flags.
func (p Program) flags() *options {
	o := &options{drivers: []driver{{}}}
	set := commandline.New(p.Name, p.about())
	set.Exits("0 all tests passed, 1 a test failed or could not be run, 2 usage, a bad HPL.dat included")
	o.line = set
	set.StringVar(&o.dat, "dat", "", "run the tests of `FILE`, an HPL.dat of 31 lines; the flags from -n to -bcast replace lines of it")
	set.Func("n", "orders of the matrix, as 4000 or `1000,2000` (default: sized for about 15 s on this machine)", listFlag(&o.n, 0, nil))
	set.Func("nb", "widths of a block, in `columns` (default: from 48 to 192, by order, grid, cores and kernels)", listFlag(&o.nb, 1, nil))
	set.Func("p", "process `rows` of each grid (default: 1 with -q, and without -q the squarest grid of all ranks with P <= Q)", listFlag(&o.p, 1, nil))
	set.Func("q", "process `columns` of each grid (default: 1 with -p)", listFlag(&o.q, 1, nil))
	set.Func("depth", "look-ahead of the driver lookahead, in `panels` (default 1)", listFlag(&o.depth, 0, nil))
	set.Func("bcast", "panel broadcast, `0 to 5` or 1rg, 1rM, 2rg, 2rM, Lng, LnM (default 1rM)", listFlag(&o.cast, 0, Broadcasts))
	runs := "`runs` of each test (default 1"
	if p.Fixed != nil {
		o.drivers = []driver{{variant: *p.Fixed}}
	} else {
		set.Func("variant", "`driver`: task, lookahead, blocking or tasks-plain (default task)", o.setVariant)
		set.BoolVar(&o.compare, "compare", false, "run task, lookahead and blocking in turn, and tell medians and ratios")
		set.Func("without", "the driver task without some `refinements`, separated by commas: priorities, cuts, parts, joins, exchanges, late, shares, narrow, leases; the other drivers have only narrow (go doc hpl.Refinement)", func(s string) (err error) {
			o.without, err = hpl.ParseRefinements(s)
			return err
		})
		set.BoolVar(&o.ablate, "ablate", false, "run task with all refinements, and without each of them, in turn, and tell medians and ratios")
		set.StringVar(&o.trace, "trace", "", "write what the run did to `FILE`.html (any browser), .json (Perfetto), .txt (summary), .dot (graphviz) or .log; one run, its first 16 ranks; drivers without tasks show their steps")
		runs += "; 5 with -compare and -ablate, of each driver"
	}
	set.IntVar(&o.reps, "reps", 0, runs+")")
	set.IntVar(&o.workers, "workers", 0, "worker `cores` of each rank (default: usable cores / ranks, at least 1)")
	set.Uint64Var(&o.seed, "seed", 100, "`number` that the generator of the matrix starts from; 100 is netlib's")
	set.Func("isa", "`kernels`: "+strings.Join(blas.Names(), ", ")+" (default "+blas.Default().Name()+")", func(s string) (err error) {
		o.kernels, err = blas.Named(s)
		return err
	})
	set.BoolVar(&o.timing, "timing", false, "print netlib's detailed timing (HPL_DETAILED_TIMING)")
	set.BoolVar(&o.netlibExit, "netlib-exit", false, "exit as netlib does: 0 after a FAILED residual, 1 after a bad HPL.dat")
	o.world = world.Flags(set.FlagSet)
	ranks := set.Lookup("ranks")
	ranks.DefValue, ranks.Usage = "", "ranks inside this process (default: as many as the largest grid needs); under mpirun, its -np counts"
	return o
}

// setVariant reads -variant.
func (o *options) setVariant(name string) error {
	i := slices.Index(Variants, name)
	if i < 0 {
		return fmt.Errorf("there is no driver %q: there are %s", name, strings.Join(Variants, ", "))
	}
	o.drivers = []driver{{variant: hpl.Variant(i)}}
	return nil
}

// listFlag reads a list of at most 20 integers from least, as large as an HPL.dat may
// have them, or of names and of their places.
func listFlag(to *[]int, least int, names []string) func(string) error {
	return func(text string) error {
		*to = nil
		for word := range strings.SplitSeq(text, ",") {
			word = strings.TrimSpace(word)
			v, err := strconv.ParseInt(word, 10, 32)
			if i := slices.Index(names, word); i >= 0 {
				v, err = int64(i), nil
			}
			switch {
			case names != nil && (err != nil || v < 0 || v >= int64(len(names))):
				return fmt.Errorf("%q is none of 0 to %d, %s", word, len(names)-1, strings.Join(names, ", "))
			case err != nil || v < int64(least):
				return fmt.Errorf("%q is no integer from %d to %d", word, least, math.MaxInt32)
			}
			*to = append(*to, int(v))
		}
		if len(*to) > hpldat.MaxValues {
			return fmt.Errorf("%d values: at most %d are allowed, as in an HPL.dat", len(*to), hpldat.MaxValues)
		}
		return nil
	}
}

// parse reads the command line and the HPL.dat. It returns the error of Parse of the
// command line; for a bad file, it wraps an *hpldat.Error.
func (p Program) parse(args []string) (*options, error) {
	o := p.flags()
	return o, o.line.Parse(args, o.line.NoArgs, o.read, o.replace, o.check, o.simulate)
}

// simulate prepares a run on a simulated machine: with modelled kernels, unless -isa names
// others.
func (o *options) simulate() (err error) {
	if o.world.Machine == "" {
		return nil
	}
	if o.machine, err = cluster.Load(o.world.Machine); err != nil {
		return fmt.Errorf("-machine: %w", err)
	}
	switch {
	case o.file.N == nil:
		return errors.New("-machine: no order is sized for a simulated machine: give -n or -dat")
	case o.kernels != nil:
		return nil
	case o.machine.Kernels == cluster.Kernels{}:
		return fmt.Errorf("-machine: machine %s has no kernels: add them to the machine file, or compute with -isa %s", o.machine.Name, blas.Default().Name())
	}
	o.kernels, o.world.Modelled, o.file.Threshold = modelled.New(o.machine.Kernels), true, 0
	return nil
}

// read reads the HPL.dat, if there is to be one.
func (o *options) read() (err error) {
	o.file = hpldat.Default(0)
	o.file.N, o.file.Grids = nil, nil
	if o.line.Given("dat") {
		if o.dat == "" {
			return errors.New("-dat is empty: name a file")
		}
		o.file, err = hpldat.Read(o.dat)
	}
	return err
}

// replace puts the values of flags into the file.
func (o *options) replace() error {
	f := o.file
	if o.n != nil {
		f.N = o.n
	}
	if o.nb != nil {
		f.NB = o.nb
	}
	if o.depth != nil {
		f.Depth = o.depth
	}
	if o.cast != nil {
		f.Bcast = nil
		for _, v := range o.cast {
			f.Bcast = append(f.Bcast, hpl.Broadcast(v))
		}
	}
	if o.p == nil && o.q == nil {
		return nil
	}
	rows, columns := o.p, o.q
	if rows == nil {
		rows = slices.Repeat([]int{1}, len(columns))
	}
	if columns == nil {
		columns = slices.Repeat([]int{1}, len(rows))
	}
	if len(rows) != len(columns) {
		return fmt.Errorf("-p lists %d and -q %d: every grid needs one of each", len(rows), len(columns))
	}
	f.Grids = nil
	for i := range rows {
		f.Grids = append(f.Grids, hpldat.Grid{P: rows[i], Q: columns[i]})
	}
	return nil
}

// choose chooses the drivers that take turns.
func (o *options) choose() error {
	several := o.compare || o.ablate
	switch {
	case o.compare && o.ablate:
		return errors.New("-compare and -ablate choose the drivers: give one of them")
	case several && (o.line.Given("variant") || o.without != 0):
		return errors.New("-compare and -ablate choose the drivers: leave -variant and -without out")
	case o.without&^hpl.Narrow != 0 && o.drivers[0].variant != hpl.Task:
		return fmt.Errorf("-without takes refinements away from the driver task: of them %v has only %v", o.drivers[0], hpl.Narrow)
	case o.compare:
		o.drivers = []driver{{variant: hpl.Task}, {variant: hpl.LookAhead}, {variant: hpl.Blocking}}
	case o.ablate:
		for _, x := range hpl.Refinements() {
			o.drivers = append(o.drivers, driver{without: x})
		}
	default:
		o.drivers[0].without = o.without
	}
	return nil
}

// check says which flags do not go together.
func (o *options) check() error {
	if !o.line.Given("reps") {
		o.reps = 1
		if o.compare || o.ablate {
			o.reps = 5
		}
	}
	if err := o.choose(); err != nil {
		return err
	}
	switch {
	case o.reps < 1 || o.reps > mostReps:
		return fmt.Errorf("-reps %d: it has to be from 1 to %d", o.reps, mostReps)
	case o.workers < 0:
		return fmt.Errorf("-workers %d: it has to be at least 1, or 0 for the default", o.workers)
	case o.line.Given("trace") && o.trace == "":
		return errors.New("-trace is empty: name a file")
	case o.trace != "" && (o.tests() > 1 || o.reps > 1 || len(o.drivers) > 1):
		return errors.New("-trace is for a single run: give one value to each list, and neither -compare nor -ablate")
	}
	if o.trace != "" {
		if err := trace.CheckName(o.trace); err != nil {
			return fmt.Errorf("-trace: %w", err)
		}
	}
	if o.depth != nil && !slices.ContainsFunc(o.drivers, func(d driver) bool { return d.variant == hpl.LookAhead }) {
		o.file.Notes = append(o.file.Notes, fmt.Sprintf("-depth is for the driver lookahead: %s has none", o.drivers[0]))
	}
	if !o.line.Given("ranks") {
		o.world.Ranks = 0
	} else if o.world.Ranks < 1 {
		return fmt.Errorf("-ranks %d: it has to be at least 1", o.world.Ranks)
	}
	return nil
}

// mostReps is far more than anybody waits for; all results are kept.
const mostReps = 1_000_000

// tests returns the number of tests. Call it after plan.
func (o *options) tests() int {
	f := *o.file
	if f.N == nil {
		f.N = []int{0}
	}
	if f.Grids == nil {
		f.Grids = []hpldat.Grid{{P: 1, Q: 1}}
	}
	return f.Count()
}

// ranksHere returns the number of ranks inside this process: as -ranks says, or as the
// largest grid needs.
func (o *options) ranksHere() int {
	if o.world.Ranks > 0 {
		return o.world.Ranks
	}
	return max(1, o.file.Ranks())
}
