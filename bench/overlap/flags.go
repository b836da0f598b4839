package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// config is the command line.
type config struct {
	bytes    int
	both     bool
	compute  time.Duration
	work     work.Work // 0: calibrate
	reps     int
	inner    int
	variants []*variant
	real     bool
	inside   bool
	mpirun   string
	rate     string
	launched bool // by mpirun or the like
	hunt     bool
	dds      string
	outDir   string
	asleep   time.Duration // with -reading, how long a reader sleeps while a collection begins

	args   []string // as given
	world  *world.Config
	start  func(body func(*mpi.Comm) error) error // starts the ranks, and returns when they have ended
	line   *commandline.Line
	tamper func([]byte) // a test seam: damages the received bytes
}

// newConfig declares the flags.
func newConfig() *config {
	c := &config{asleep: 400 * time.Millisecond}
	set := commandline.New("overlap", about)
	c.line = set
	set.IntVar(&c.bytes, "bytes", 2<<20, "`size` of the message")
	set.BoolVar(&c.both, "both", false, "rank 1 sends one to rank 0, too")
	set.DurationVar(&c.compute, "compute", 30*time.Millisecond, "`time` that the work takes alone")
	set.Func("work", "`rounds` of the kernel (default: calibrated to -compute)", func(s string) error {
		_, err := fmt.Sscan(s, (*int)(&c.work))
		return err
	})
	set.Least(&c.reps, "reps", 7, 1, "interleaved `repetitions`; with -real, starts of each form")
	set.Least(&c.inner, "inner", 3, 1, "with -real, repetitions `per start`")
	set.Func("variants", "`forms` to measure, separated by commas (default: all that can be)", func(s string) error {
		for name := range strings.SplitSeq(s, ",") {
			v, err := findVariant(name)
			if err != nil {
				return err
			}
			c.variants = append(c.variants, v)
		}
		return nil
	})
	set.BoolVar(&c.real, "real", false, "over real TCP, limited to -rate, in a network namespace (needs root, tc, ip, unshare, Open MPI)")
	set.BoolVar(&c.inside, "inside-namespace", false, "used by -real when it starts itself")
	set.StringVar(&c.mpirun, "mpirun", "mpirun.openmpi", "`launcher` of Open MPI, for -real")
	set.StringVar(&c.rate, "rate", "1gbit", "`bandwidth` of -real, as tc takes it")
	set.BoolVar(&c.hunt, "reading", false, "measure reading while a message arrives, as HUNT's evaluation does; -bytes is then the largest size (16 MiB)")
	set.StringVar(&c.dds, "dds", ddsForce, "with -reading, whether readers are made to wait: off, auto (where it pays) or `force`")
	set.StringVar(&c.outDir, "out", "", "with -reading, `folder` for the figures (CSV and SVG)")
	c.world = world.Flags(set.FlagSet)
	c.world.DefaultNet("gige")
	c.start = c.world.Run
	var forms []commandline.Row
	for _, v := range allVariants {
		forms = append(forms, commandline.Row{Name: v.name, Text: v.about})
	}
	set.Section("Forms", forms...)
	return c
}

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	c.args = args
	return c, c.line.Parse(args, c.line.NoArgs, c.complete)
}

// complete fills in what depends on other flags, and reports values that make no sense.
func (c *config) complete() error {
	_, _, c.launched = system.Launched()
	if c.variants == nil {
		c.variants = defaultVariants(c.real || c.inside)
	}
	return c.validate()
}

func (c *config) validate() error {
	switch {
	case c.hunt && (c.real || c.inside || c.launched || c.both || c.line.Given("variants") || c.line.Given("ranks")):
		return fmt.Errorf("-reading runs on ranks of its own inside this process: drop mpirun, -real, -both, -variants and -ranks")
	case !c.hunt && (c.line.Given("dds") || c.line.Given("out")):
		return fmt.Errorf("-dds and -out are for -reading")
	case c.dds != ddsOff && c.dds != ddsAuto && c.dds != ddsForce:
		return fmt.Errorf("-dds %s: it is off, auto or force", c.dds)
	case c.hunt && c.bytes < 4096:
		return fmt.Errorf("-bytes %d: with -reading sizes begin at 4096", c.bytes)
	case c.bytes < 0 || c.bytes > 1<<30:
		return fmt.Errorf("-bytes %d: it is from 0 to %d", c.bytes, 1<<30)
	case c.compute <= 0 || c.compute > time.Minute:
		return fmt.Errorf("-compute %v: it is more than 0 and at most a minute", c.compute)
	case c.work < 0 || c.line.Given("work") && c.work == 0:
		return fmt.Errorf("-work %d: it is at least 1", c.work)
	case c.real && (c.line.Given("net") || c.line.Given("ranks")):
		return fmt.Errorf("-real has a network of its own, and two ranks: drop -net and -ranks")
	case c.real && !system.Available():
		return fmt.Errorf("-real needs a program built with MPI: CC=mpicc.openmpi go build -tags mpi")
	case c.real && !strings.HasPrefix(system.Library(), system.LauncherOpenMPI):
		return fmt.Errorf("-real needs Open MPI, and this program was built for %s: CC=mpicc.openmpi go build -tags mpi", system.Library())
	case (c.real || c.inside) && strings.TrimSpace(c.mpirun) == "":
		return fmt.Errorf("-mpirun is empty")
	case c.inside && c.work == 0:
		return fmt.Errorf("-inside-namespace is used by -real itself: use -real")
	case c.launched && c.real:
		return fmt.Errorf("-real starts mpirun itself: start the program directly")
	case !c.real && !c.inside && !c.launched && slices.ContainsFunc(c.variants, func(v *variant) bool { return v.mca != nil }):
		return fmt.Errorf("the progress thread is Open MPI's: it can be measured with -real only")
	}
	return nil
}

const about = `overlap runs one program that sends a message and computes, in several forms, and says how
much of the message is hidden behind the computation.

	overlap
	overlap -net 10gige -both
	overlap -real
	overlap -reading -out results
`
