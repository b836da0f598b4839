// Command mutants measures what the tests notice: it changes one operator, or removes one
// call or assignment, at a random place of a package, runs the tests, and lists the changes
// that they let pass (mutation testing; DeMillo, Lipton and Sayward, Hints on Test Data
// Selection, 1978).
//
//	mutants -seed 3 -n 50 ./deps ./dataflow
//
// The source tree is not touched: the compiler is given the changed file as an overlay. A
// change that does not compile counts for nothing and another is drawn. The tests of a
// package are its own and those of the packages that rest on it (see rooms in run.go); a run
// that fails, panics or takes longer than -timeout has noticed the change.
//
// A survivor is either a gap in the tests or a change that changes nothing anybody can
// see. Those of the second kind stand in equivalent.txt, each with its reason.
//
// It ends with one line per package; the exit code is 1 if the tests fail without a change,
// or less than -share of the mutants of some package is killed or equivalent:
//
//	result package=deps mutants=50 killed=47 equivalent=2 survived=1 share=0.98
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"
)

type config struct {
	seed    uint64
	n       int
	share   float64
	timeout time.Duration
	rooms   []room
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "mutants:", err)
		return 2
	}
	known, err := readKnown(equivalentText)
	if err != nil {
		fmt.Fprintln(stderr, "mutants:", err)
		return 1
	}
	code := 0
	for _, r := range c.rooms {
		t, err := c.examine(r, known, stdout)
		if err != nil {
			fmt.Fprintf(stderr, "mutants: %s: %v\n", r.dir, err)
			return 1
		}
		if t.share() < c.share {
			code = 1
		}
		fmt.Fprintf(stdout, "result package=%s mutants=%d killed=%d equivalent=%d survived=%d share=%.2f\n",
			r.dir, t.made(), t.killed, t.equivalent, t.survived, t.share())
	}
	return code
}

// parse reads the command line.
func parse(args []string, stderr io.Writer) (c config, err error) {
	set := flag.NewFlagSet("mutants", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Uint64Var(&c.seed, "seed", 1, "of the choice of places")
	set.IntVar(&c.n, "n", 50, "mutants of each package")
	set.Float64Var(&c.share, "share", 0.95, "of them that must be killed or equivalent, from 0 to 1")
	set.DurationVar(&c.timeout, "timeout", 2*time.Minute, "of the tests of one mutant")
	set.Usage = func() {
		fmt.Fprint(stderr, "usage: mutants [flags] [package folder...]\n\n"+
			"Changes one operator, or removes one call or assignment, at random places of packages,\n"+
			"and lists the changes that no test notices. Run it at the top of the source tree.\n"+
			"Without a folder: all of "+strings.Join(roomNames(), ", ")+".\n\n")
		set.PrintDefaults()
	}
	if err := set.Parse(args); err != nil {
		return c, err
	}
	switch {
	case c.n < 1:
		return c, fmt.Errorf("-n %d: it has to be at least 1", c.n)
	case !(c.share >= 0 && c.share <= 1):
		return c, fmt.Errorf("-share %v: it has to be from 0 to 1", c.share)
	case c.timeout <= 0:
		return c, fmt.Errorf("-timeout %v: it has to be more than 0", c.timeout)
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return c, errors.New("there is no go.mod here: run it at the top of the source tree")
	}
	c.rooms, err = findRooms(set.Args())
	return c, err
}

// findRooms returns the packages of these folders; all, if there is none.
func findRooms(dirs []string) (found []room, err error) {
	if len(dirs) == 0 {
		return rooms, nil
	}
	for _, dir := range dirs {
		dir = path.Clean(dir)
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("there is no folder %s", dir)
		}
		r := room{dir: dir}
		for _, known := range rooms {
			if known.dir == dir {
				r = known
			}
		}
		found = append(found, r)
	}
	return found, nil
}
