// Package world runs the body of a program once per rank, on the engine that the way
// of its start asks for: the machine's MPI under mpirun or mpiexec, ranks inside this
// process otherwise. Only programs import it.
package world

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/system"
)

// ErrUsage marks errors in how the program was started: [Exit] ends with code 2.
var ErrUsage = errors.New("wrong usage")

// Config says how ranks run when no launcher has started them.
type Config struct {
	Ranks int       // ranks inside this process
	Net   local.Net // simulated network between them; the zero Net is none
	Eager int       // eager limit in bytes; -1: that of the engine

	flags *flag.FlagSet // to see what was given
}

// Default returns the settings without flags: 2 ranks, no simulated network.
func Default() *Config { return &Config{Ranks: 2, Eager: -1} }

// Flags adds -ranks, -net and -eager to fs, and returns what they set.
func Flags(fs *flag.FlagSet) *Config {
	c := Default()
	c.flags = fs
	fs.IntVar(&c.Ranks, "ranks", c.Ranks, "ranks inside this process; under mpirun, its -np counts")
	fs.Var((*netFlag)(&c.Net), "net", "simulated network between the ranks of this process: none, gige, 10gige, ib, or L=20us,o=1us,g=1us,bw=1Gbit,progress=host|nic")
	fs.IntVar(&c.Eager, "eager", c.Eager, "eager limit between the ranks of this process, in bytes; -1: the default of the engine")
	return c
}

type netFlag local.Net

func (n *netFlag) String() string { return (*local.Net)(n).String() }

func (n *netFlag) Set(text string) error {
	x, err := local.ParseNet(text)
	*n = netFlag(x)
	return err
}

// DefaultNet sets the network of in-process ranks for programs that show what one does;
// under a launcher it does not count. Before the flags are parsed. It panics on a text
// that ParseNet refuses.
func (c *Config) DefaultNet(text string) {
	n, err := local.ParseNet(text)
	if err != nil {
		panic(err)
	}
	c.Net = n
	if f := c.flags.Lookup("net"); f != nil {
		f.DefValue = text
	}
}

// given reports whether a flag was set on the command line.
func (c *Config) given(name string) (yes bool) {
	if c.flags != nil {
		c.flags.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	}
	return yes
}

// Run calls body once per rank and returns when all ranks of this process have ended.
func (c *Config) Run(body func(*mpi.Comm) error) error {
	if _, size, ok := system.Launched(); ok {
		return c.runSystem(size, body)
	}
	if c.Ranks < 1 {
		return fmt.Errorf("%w: -ranks %d: there is at least 1", ErrUsage, c.Ranks)
	}
	opts := []local.Option{local.Network(c.Net)}
	if c.Eager >= 0 {
		opts = append(opts, local.Eager(c.Eager))
	}
	return local.Run(c.Ranks, body, opts...)
}

func (c *Config) runSystem(size int, body func(*mpi.Comm) error) error {
	if err := system.CheckLaunch(); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if c.given("ranks") && c.Ranks != size {
		return fmt.Errorf("%w: -ranks %d, but the launcher started %d: leave -ranks out", ErrUsage, c.Ranks, size)
	}
	if c.given("net") && c.Net != (local.Net{}) {
		return fmt.Errorf("%w: -net is for ranks inside one process: start the program without a launcher", ErrUsage)
	}
	comm, err := system.Init()
	if err != nil {
		return err
	}
	if err = body(comm); err != nil {
		comm.Revoke(err)
	}
	return errors.Join(err, comm.Engine().Finalize())
}

// Run is Run of the default settings.
func Run(body func(*mpi.Comm) error) error { return Default().Run(body) }

// Workers returns the cores for this rank: those that the process may use, divided
// among its ranks on this machine, at least 1.
func Workers(c *mpi.Comm) int {
	n := c.Size() // in-process ranks share the cores
	return max(osthread.NumCores()/n, 1)
}

// Describe says in one line what the program runs on.
func Describe(c *mpi.Comm) string {
	return fmt.Sprintf("%d ranks, engine %s", c.Size(), c.Engine().Name())
}

// Exit prints err, if there is one, and ends the process: 0 without an error, 2 for
// one of usage, 1 for all others.
func Exit(err error) {
	switch {
	case err == nil:
		os.Exit(0)
	case errors.Is(err, ErrUsage):
		fmt.Fprintln(os.Stderr, "weft:", err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
