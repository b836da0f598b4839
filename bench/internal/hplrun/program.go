package hplrun

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// Program is one of the LINPACK programs.
type Program struct {
	Name  string       // of the binary
	About string       // the first paragraph of -h
	Fixed *hpl.Variant // the only driver, or nil: -variant chooses

	solve  func(*mpi.Comm, hpl.Config) (hpl.Result, error) // of the tests; nil: hpl.Run
	system fs.FS                                           // of the tests: where /proc and /sys are; nil: the root
}

// Main runs the program on the arguments of the process and ends it, with code 0 if all
// tests passed, 1 if one failed, 2 after wrong usage.
func (p Program) Main() { world.Exit(p.Run(os.Args[1:], os.Stdout, os.Stderr)) }

// Run runs the program. The error is for [world.Exit]. Under a launcher it is called
// once in the life of the process.
func (p Program) Run(args []string, stdout, stderr io.Writer) error {
	if p.solve == nil {
		p.solve = hpl.Run
	}
	if p.system == nil {
		p.system = rootFS
	}
	o, err := p.parse(args)
	var bad *hpldat.Error
	switch {
	case errors.As(err, &bad):
		return p.badInput(o, bad)
	case err != nil:
		return commandline.Help(stdout, err)
	}
	ranks := 1
	if _, _, launched := system.Launched(); !launched {
		ranks = o.ranksHere()
		o.world.Ranks = ranks
	}
	if err := o.checkRoom(ranks); err != nil {
		return fmt.Errorf("%w: %w", world.ErrUsage, err)
	}
	return o.world.Run(func(c *mpi.Comm) error {
		return (&rank{Comm: c, program: p, options: o, stdout: stdout, stderr: stderr}).run()
	})
}

// checkRoom refuses more ranks and workers than the machine has cores, if it is simulated, or
// this process can have threads.
func (o *options) checkRoom(ranks int) error {
	if o.machine == nil {
		return machine.CheckThreads(ranks, o.workers)
	}
	_, err := o.machine.Place(ranks, max(1, o.workers))
	return err
}

// badInput reports a bad HPL.dat as netlib does. All ranks of a launcher come here; world
// prints the error of one.
func (p Program) badInput(o *options, bad *hpldat.Error) error {
	err := fmt.Errorf("illegal input, nothing was run\n%s", strings.TrimSpace(bad.Netlib()))
	if o.netlibExit {
		return err
	}
	return fmt.Errorf("%w: %w", world.ErrUsage, err)
}
