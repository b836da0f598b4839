// Command conformance runs the conformance suite of package mpi on the engine that the
// way of its start asks for: ranks inside this process, or, under mpirun, the machine's
// MPI.
//
//	go run ./bench/conformance -ranks 4
//	CC=mpicc go build -tags mpi -o conformance ./bench/conformance && mpirun -np 4 ./conformance
//
// It prints a line per case, "ok", "FAIL" or "skip" with the reason, and ends with
//
//	result engine=.. ranks=.. cases=.. failed=.. skipped=..
//
// The exit code is 1 if a case failed, or, with -require-all, was skipped.
package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/mpitest"
	"github.com/weft-hpc/weft/mpi/world"
)

// settings are the flags of the program.
type settings struct {
	world      *world.Config
	only       *regexp.Regexp
	long       bool
	list       bool
	requireAll bool
	seed       uint64
	hang       time.Duration
}

func main() { world.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; an error of usage is a world.ErrUsage.
func run(args []string, stdout, stderr io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return commandline.Help(stdout, err)
	}
	if s.list {
		for _, k := range mpitest.Cases() {
			fmt.Fprintln(stdout, k.Name)
		}
		return nil
	}
	return s.world.Run(func(c *mpi.Comm) error { return s.check(c, stdout, stderr) })
}

const about = `conformance runs the conformance suite of package mpi on ranks inside this process or, under
mpirun, on the machine's MPI, and prints a line for each case.

	conformance -ranks 4
	mpirun -np 4 conformance          (built with -tags mpi)
`

// parse reads the command line. It returns the error of Parse.
func parse(args []string) (*settings, error) {
	fs := commandline.New("conformance", about)
	fs.Exits("0 all cases passed, 1 one failed, or was skipped with -require-all, 2 usage")
	s := &settings{world: world.Flags(fs.FlagSet)}
	only := fs.String("only", "", "run the cases whose name matches this regular `expression`")
	fs.BoolVar(&s.long, "long", false, "larger messages and more random programs")
	fs.BoolVar(&s.list, "list", false, "print the names of the cases, and run none")
	fs.BoolVar(&s.requireAll, "require-all", false, "fail if a case is skipped")
	fs.Uint64Var(&s.seed, "seed", 0, "`seed` of the random programs")
	fs.DurationVar(&s.hang, "hang", time.Minute, "`time` after which a case is said to hang")
	return s, fs.Parse(args, fs.NoArgs, func() (err error) {
		if s.only, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		return nil
	})
}

// check runs the suite on one rank.
func (s *settings) check(c *mpi.Comm, stdout, stderr io.Writer) error {
	p, err := mpitest.Run(c, mpitest.Options{
		Out: stdout, Err: stderr, Only: s.only.MatchString, Long: s.long, Lacks: lacks((*engine.Comm)(c).Engine().Name()), Seed: s.seed, Hang: s.hang,
	})
	if err != nil {
		return err
	}
	cases, failed, skipped := p.Counts()
	if c.Rank() == 0 {
		fmt.Fprintln(stdout, world.Describe(c))
		fmt.Fprintf(stdout, "result engine=%s ranks=%d cases=%d failed=%d skipped=%d\n",
			strings.ReplaceAll(p.Engine, " ", "_"), p.Ranks, cases, failed, skipped)
	}
	if cases == 0 {
		return fmt.Errorf("conformance: no case has a name that matches %q", s.only)
	}
	return verdict(&p, s.requireAll, c.Rank())
}

// verdict is the error of one rank: all of them fail alike, and one says why.
func verdict(p *mpitest.Report, all bool, rank int) error {
	err := p.Check(all)
	if err != nil && rank > 0 {
		return fmt.Errorf("conformance: cases failed: see rank 0")
	}
	return err
}

// lacks names the features that an engine lacks, by its name: only package local compares the
// collective operations of all ranks, and the libraries' MPI_MAX may drop a NaN.
func lacks(engine string) mpitest.Needs {
	if strings.HasPrefix(engine, "local") {
		return 0
	}
	return mpitest.OrderCheck | mpitest.KeepsNaN
}
