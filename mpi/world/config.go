package world

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/system"
)

// ErrUsage marks errors in how the program was started: [Exit] ends with code 2.
var ErrUsage = commandline.ErrUsage

// maxRanks is the largest number of ranks in one process, unless the machine is simulated.
const maxRanks = 1 << 16

// Config has the settings of in-process ranks: for runs without a launcher.
type Config struct {
	Ranks int       // ranks inside this process, at least 1
	Net   local.Net // simulated network between them; the zero Net is none
	Eager int       // eager limit in bytes; -1: the default of the engine, or of Machine

	// Hunt puts package commthread/dds between the program and the engine: "off", "auto" or
	// "force"; "": as the environment says (WEFT_HUNT), else off.
	Hunt string

	// Machine is a preset or a machine file (package cluster): the ranks run in virtual time
	// on a simulated machine; "": on this one.
	Machine string
	// Modelled says that on the simulated machine only modelled kernels and messages take
	// time, so that equal runs have equal results; otherwise computing takes the time that it
	// takes on this machine, multiplied by the machine's speed.
	Modelled bool
	// Bodies has the names of logs of earlier runs (FILE.log), with commas between them: on the
	// simulated machine the bodies of tasks are executed, and take the mean length that they have
	// there, by label and Cost, multiplied by the machine's speed. Computing outside of bodies
	// takes no time, and bodies with OnComm take that of their messages. So equal runs have equal
	// results. "": bodies are timed.
	Bodies string
	// Quiet leaves away the lines on standard error that say that a machine is simulated, and how
	// late a simulated network met its due times: for programs that run many times.
	Quiet bool

	flags *flag.FlagSet // for given; nil without flags
}

// Default returns the settings without flags: 2 ranks, no simulated network.
func Default() *Config { return &Config{Ranks: 2, Eager: -1} }

// Flags adds -ranks, -net, -machine, -bodies, -hunt and -eager to fs. Parsing fs sets the returned Config; Parse
// returns an error for an invalid value.
func Flags(fs *flag.FlagSet) *Config {
	c := Default()
	c.flags = fs
	fs.IntVar(&c.Ranks, "ranks", c.Ranks, "ranks inside this process; under mpirun, its -np counts")
	fs.Var((*netFlag)(&c.Net), "net", "simulated network between the ranks of this process: none, gige, 10gige, ib, or L=20us,o=1us,g=1us,bw=1Gbit,progress=host|nic")
	fs.StringVar(&c.Machine, "machine", "", "simulate `MACHINE` in virtual time: "+strings.Join(cluster.Presets(), ", ")+", or a machine file")
	fs.StringVar(&c.Bodies, "bodies", "", "with -machine: bodies of tasks take the lengths in `FILE.log`, the trace of an earlier run")
	fs.StringVar(&c.Hunt, "hunt", "", "blocking operations on memory of mpi.Alloc return early: `off|auto|force` (default: off, or WEFT_HUNT)")
	fs.IntVar(&c.Eager, "eager", c.Eager, "eager limit between the ranks of this process, in bytes (default: that of the engine)")
	fs.Lookup("eager").DefValue = ""
	return c
}

type netFlag local.Net

// String and Set implement flag.Value.
func (n *netFlag) String() string { return (*local.Net)(n).String() }
func (n *netFlag) Set(text string) error {
	x, err := local.ParseNet(text)
	if err == nil {
		*n = netFlag(x)
	}
	return err
}

// DefaultNet sets the default of -net, for programs that demonstrate a network. It has no
// effect under a launcher. Call it before parsing the flags. It panics if ParseNet fails.
func (c *Config) DefaultNet(text string) {
	n, err := local.ParseNet(text)
	if err != nil {
		panic(err)
	}
	c.Net = n
	if c.flags == nil {
		return
	}
	if f := c.flags.Lookup("net"); f != nil {
		f.DefValue = text
	}
}

// given reports whether the command line sets a flag.
func (c *Config) given(name string) (yes bool) {
	if c.flags != nil {
		c.flags.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	}
	return yes
}

// checkLaunched returns an error if the settings or the build do not fit the launcher. size
// is the launcher's number of ranks, -1 if unknown.
func (c *Config) checkLaunched(size int) error {
	if err := system.CheckLaunch(); err != nil {
		return usage("%w", err)
	}
	if c.given("ranks") && size >= 0 && c.Ranks != size {
		return usage("-ranks %d, but the launcher started %d: leave -ranks out", c.Ranks, size)
	}
	if c.Machine != "" {
		return usage("-machine is for ranks inside one process: leave it out, or start the program without a launcher")
	}
	if c.Bodies != "" {
		return usage("-bodies is for a simulated machine: leave it out, or start the program without a launcher, with -machine")
	}
	if c.given("net") && c.Net != (local.Net{}) {
		return usage("-net is for ranks inside one process: leave it out, or start the program without a launcher")
	}
	return nil
}

// CheckTrace returns an error if rank 0 cannot write a trace (dataflow/trace.WriteFile) of this name,
// as far as this process can tell: under a launcher, other ranks do not see its files. For the check
// of a flag, before Run.
func CheckTrace(path string) error {
	if system.LaunchedRank() > 0 {
		return trace.CheckName(path)
	}
	return trace.CheckFile(path)
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUsage, fmt.Errorf(format, args...))
}

// Run calls body once per rank, each with its world communicator, and returns when the ranks
// of this process have ended. Under a launcher that is one call; otherwise Ranks calls, each
// on a goroutine of its own. A process of a launcher may call Run once.
//
// The error is for the whole world. It is nil only if all bodies succeeded and left no calls
// or messages unfinished. Under a launcher rank 0 has printed the errors of the bodies
// already; [Exit] does not print them again.
//
// From the first Run of a process on, garbage collections are rarer than usual: one for each 64 MB
// of garbage at most, unless GOGC or GOMEMLIMIT is set.
func (c *Config) Run(body func(*mpi.Comm) error) error {
	raiseHeap()
	body, err := advised(body)
	if err != nil {
		return err
	}
	h, err := c.hunting()
	if err != nil {
		return err
	}
	if h != nil {
		body = h.around(body)
		defer h.end()
	}
	if _, size, ok := system.Launched(); ok {
		if err := c.checkLaunched(size); err != nil {
			return err
		}
		return runLaunched(c, size, body)
	}
	return c.runHere(body)
}

// advised returns body, analysed if the environment asks for it (WEFT_ADVISE=FILE, see
// package commthread/advise).
func advised(body func(*mpi.Comm) error) (func(*mpi.Comm) error, error) {
	o, err := advise.FromEnvironment()
	switch {
	case err != nil:
		return nil, usage("%w", err)
	case o == nil:
		return body, nil
	}
	if system.LaunchedRank() <= 0 { // this rank writes the results
		if err := advise.CheckFile(o.File); err != nil {
			return nil, usage("%s: %w", advise.FileVariable, err)
		}
	}
	return advise.Wrap(o, body), nil
}

// Run is [Config.Run] with the default settings.
func Run(body func(*mpi.Comm) error) error { return Default().Run(body) }

// runHere runs the ranks inside this process.
func (c *Config) runHere(body func(*mpi.Comm) error) error {
	if c.Ranks < 1 || c.Ranks > maxRanks && c.Machine == "" {
		return usage("-ranks %d: it is from 1 to %d", c.Ranks, maxRanks)
	}
	if c.Eager < -1 {
		return usage("-eager %d: it is a number of bytes, or -1 for the default", c.Eager)
	}
	if c.Machine != "" {
		return c.simulate(body)
	}
	if c.Bodies != "" {
		return usage("-bodies %s: it is for a simulated machine: add -machine, or leave it out", c.Bodies)
	}
	opts := []local.Option{local.Network(c.Net)}
	if !c.Quiet {
		opts = append(opts, local.Timing(func(n int, mean, worst time.Duration) {
			fmt.Fprintf(os.Stderr, "weft: simulated network %v: %d due times, met %.1f us late on average, %.0f us at worst\n", c.Net, n, mean.Seconds()*1e6, worst.Seconds()*1e6)
		}))
	}
	if c.Eager >= 0 {
		opts = append(opts, local.Eager(c.Eager))
	}
	return causes(local.Run(c.Ranks, body, opts...))
}
