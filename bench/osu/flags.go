package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// config is the command line.
type config struct {
	test       *test
	min, max   int // bytes
	iterations int // 0: OSU's
	skip       int // negative: OSU's
	window     int
	onesided   mode
	commthread bool
	place      commthread.Placement
	inflight   int
	pause      time.Duration
	runs       int
	peer       string
	compare    string

	world  *world.Config
	start  func(body func(*mpi.Comm) error) error // starts the ranks, and returns when they have ended
	set    *flag.FlagSet
	tamper func([]byte) // of the tests: damages what has arrived
}

// mode says how data travels.
type mode uint8

// The modes: messages; puts that are flushed; puts with notification.
const (
	twoSided mode = iota
	byFlush
	byNotify
)

func (m mode) String() string { return [...]string{"off", "flush", "notify"}[m] }

// Set reads the value of -onesided; -onesided alone is "true".
func (m *mode) Set(s string) error {
	switch s {
	case "flush", "true":
		*m = byFlush
	case "notify":
		*m = byNotify
	case "off", "false":
		*m = twoSided
	default:
		return fmt.Errorf("it is flush, notify or off")
	}
	return nil
}

// IsBoolFlag lets -onesided stand alone.
func (m *mode) IsBoolFlag() bool { return true }

// placements are the values of -place.
var placements = map[string]commthread.Placement{
	"auto": commthread.Auto, "dedicated": commthread.Dedicated, "shared": commthread.Shared, "help": commthread.Help,
}

// newConfig declares the flags.
func newConfig() *config {
	c := &config{}
	set := flag.NewFlagSet("osu", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c.set = set
	set.Func("test", "the `test`, which may also be the first argument (default latency)", func(s string) (err error) {
		c.test, err = findTest(s)
		return err
	})
	set.IntVar(&c.min, "min", 0, "least `bytes` of a message (default: the test's)")
	set.IntVar(&c.max, "max", 0, "most `bytes` of a message (default: the test's)")
	set.IntVar(&c.iterations, "iterations", 0, "timed `iterations` of each size (default: OSU's)")
	set.IntVar(&c.skip, "skip", -1, "`iterations` before the clock runs (default: OSU's)")
	set.IntVar(&c.window, "window", 64, "`messages` under way in bw, bibw and mbw_mr")
	set.Var(&c.onesided, "onesided", "puts instead of messages: flush (also without a value), or -onesided=notify")
	set.BoolVar(&c.commthread, "commthread", false, "run with a communication thread and one worker per rank")
	set.Func("place", "`placement` of the communication thread: auto, dedicated, shared, help (default auto)", func(s string) error {
		p, known := placements[s]
		if !known {
			return fmt.Errorf("it is auto, dedicated, shared or help")
		}
		c.place = p
		return nil
	})
	set.IntVar(&c.inflight, "inflight", 10000, "`receives` under way in the test inflight")
	set.DurationVar(&c.pause, "pause", 500*time.Millisecond, "how `long` the test wait waits")
	set.IntVar(&c.runs, "runs", 5, "interleaved `runs` of -compare, and of the test inflight")
	set.StringVar(&c.peer, "peer", "", "compile the same loops in C into `directory` with $CC (mpicc), say how to run them, and end")
	set.StringVar(&c.compare, "compare", "", "alternate runs of this program and of the same loop in C under `mpirun` (a command, with options), and end; latency, sendrecv, alltoall and inflight")
	c.world = world.Flags(set)
	c.start = c.world.Run
	return c
}

// parseArgs reads the command line. It returns flag.ErrHelp for -h; any other error is
// one of usage, worded for the user.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-test", args[0]}, args[1:]...)
	}
	if err := c.set.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil, err
		}
		return nil, fmt.Errorf("%w (osu -h lists the flags)", err)
	}
	if c.set.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q (osu -h lists the flags)", c.set.Arg(0))
	}
	if c.test == nil {
		c.test = allTests[0]
	}
	c.fillDefaults()
	return c, c.validate()
}

func (c *config) given(name string) (yes bool) {
	c.set.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// fillDefaults sets the sizes of the test, and the ranks of spawn, whose threads need
// the cores for themselves.
func (c *config) fillDefaults() {
	if !c.given("min") {
		c.min = c.test.min
		if c.given("max") {
			c.min = min(c.min, max(c.max, 1))
		}
	}
	if !c.given("max") {
		c.max = max(c.test.max, c.min)
	}
	if c.test.name == "spawn" && !c.given("ranks") {
		c.world.Ranks = 1
	}
}

func (c *config) validate() error {
	t := c.test
	switch {
	case c.min < 0 || c.max < c.min || c.max > 1<<30:
		return fmt.Errorf("sizes from %d to %d: -min is at least 0, -max at least -min and at most %d", c.min, c.max, 1<<30)
	case t.loops.large.count == 0 && c.max != c.min:
		return fmt.Errorf("%s has one size: leave -max out", t.name)
	case c.iterations < 0 || c.given("iterations") && c.iterations == 0:
		return fmt.Errorf("-iterations %d: it is at least 1", c.iterations)
	case c.given("skip") && c.skip < 0:
		return fmt.Errorf("-skip %d: it is at least 0", c.skip)
	case c.window < 1 || c.window > 1<<16:
		return fmt.Errorf("-window %d: it is from 1 to %d", c.window, 1<<16)
	case c.inflight < 1 || c.inflight > 1<<20:
		return fmt.Errorf("-inflight %d: it is from 1 to %d", c.inflight, 1<<20)
	case c.pause <= 0 || c.pause > time.Minute:
		return fmt.Errorf("-pause %v: it is more than 0 and at most a minute", c.pause)
	case c.runs < 1:
		return fmt.Errorf("-runs %d: it is at least 1", c.runs)
	case c.onesided != twoSided && !t.onesided:
		return fmt.Errorf("%s has no one-sided form: drop -onesided", t.name)
	case c.commthread && !t.threaded:
		return fmt.Errorf("%s has no form with a communication thread: drop -commthread", t.name)
	case t.name == "spawn" && !c.commthread:
		return fmt.Errorf("spawn measures the communication thread: add -commthread")
	case c.given("place") && !c.commthread:
		return fmt.Errorf("-place is that of the communication thread: add -commthread")
	case c.compare != "" && peerTests[t.name] == nil:
		return fmt.Errorf("-compare: there is a C peer of latency, sendrecv, alltoall and inflight only")
	case c.compare != "" && (c.onesided != twoSided || c.commthread):
		return fmt.Errorf("-compare: the C peer sends messages without a thread: drop -onesided and -commthread")
	}
	return nil
}

// net returns the network of in-process ranks with all its values; under a launcher it
// is what the MPI library uses, "real".
func (c *config) net() string {
	if _, _, launched := system.Launched(); launched {
		return "real"
	}
	return c.world.Net.String()
}

// printHelp describes the program and its flags.
func printHelp(w io.Writer) {
	fmt.Fprint(w, `osu measures messages with the loops and formulas of the OSU micro-benchmarks, in one process
by default and over the machine's MPI library under mpirun.

	osu latency
	osu overlap -net gige -commthread
	osu latency -min 8 -max 8 -compare mpirun.openmpi

Tests:
`)
	for _, t := range allTests {
		fmt.Fprintf(w, "  %-10s %s\n", t.name, t.about)
	}
	fmt.Fprint(w, "\nFlags:\n")
	newConfig().set.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		switch f.DefValue {
		case "", "0", "-1", "false", "off", "none":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-24s %s\n", "-"+f.Name+" "+value, usage)
	})
	fmt.Fprint(w, "\nExit codes: 0 done and checked, 1 failed run or check, 2 usage\n")
}
