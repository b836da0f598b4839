package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/internal/commandline"
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
	line   *commandline.Line
	tamper func([]byte) // a test seam: damages the received bytes
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
	set := commandline.New("osu", about)
	c.line = set
	set.Func("test", "the `test`, which may also be the first argument (default latency)", func(s string) (err error) {
		c.test, err = findTest(s)
		return err
	})
	set.IntVar(&c.min, "min", 0, "least `bytes` of a message (default: the test's)")
	set.IntVar(&c.max, "max", 0, "most `bytes` of a message (default: the test's)")
	set.IntVar(&c.iterations, "iterations", 0, "timed `iterations` of each size (default: OSU's)")
	set.IntVar(&c.skip, "skip", -1, "`iterations` before the clock runs (default: OSU's)")
	set.Lookup("skip").DefValue = ""
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
	c.world = world.Flags(set.FlagSet)
	c.start = c.world.Run
	var rows []commandline.Row
	for _, t := range allTests {
		rows = append(rows, commandline.Row{Name: t.name, Text: t.about})
	}
	set.Section("Tests", rows...)
	return c
}

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := newConfig()
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		args = append([]string{"-test", args[0]}, args[1:]...)
	}
	return c, c.line.Parse(args, c.line.NoArgs, c.complete)
}

// complete fills in what depends on other flags, and reports values that make no sense.
func (c *config) complete() error {
	if c.test == nil {
		c.test = allTests[0]
	}
	c.fillDefaults()
	return c.validate()
}

// fillDefaults sets the sizes of the test, and the ranks of spawn, whose threads need
// the cores for themselves.
func (c *config) fillDefaults() {
	if !c.line.Given("min") {
		c.min = c.test.min
		if c.line.Given("max") {
			c.min = min(c.min, max(c.max, 1))
		}
	}
	if !c.line.Given("max") {
		c.max = max(c.test.max, c.min)
	}
	if c.test.name == "spawn" && !c.line.Given("ranks") {
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
	case c.iterations < 0 || c.line.Given("iterations") && c.iterations == 0:
		return fmt.Errorf("-iterations %d: it is at least 1", c.iterations)
	case c.line.Given("skip") && c.skip < 0:
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
	case c.line.Given("place") && !c.commthread:
		return fmt.Errorf("-place is that of the communication thread: add -commthread")
	case c.compare != "" && peerTests[t.name] == nil:
		return fmt.Errorf("-compare: there is a C peer of latency, sendrecv, alltoall and inflight only")
	case c.compare != "" && (c.onesided != twoSided || c.commthread):
		return fmt.Errorf("-compare: the C peer sends messages without a thread: drop -onesided and -commthread")
	}
	return nil
}

// net returns the network of in-process ranks with all its values; under a launcher, where
// the MPI library chooses, it returns "real".
func (c *config) net() string {
	if _, _, launched := system.Launched(); launched {
		return "real"
	}
	return c.world.Net.String()
}

const about = `osu measures messages with the loops and formulas of the OSU micro-benchmarks, in one process
by default and over the machine's MPI library under mpirun.

	osu latency
	osu overlap -net gige -commthread
	osu latency -min 8 -max 8 -compare mpirun.openmpi
`
