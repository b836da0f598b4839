// Command mutants measures how many faults the tests detect: it changes one operator, or
// removes one call or assignment, at a random place of a package, runs the tests, and lists
// the changes that they let pass (mutation testing; DeMillo, Lipton and Sayward, Hints on
// Test Data Selection, 1978).
//
//	mutants -seed 3 -n 50 ./deps ./dataflow
//
// The source tree is not touched: the compiler gets the changed file as an overlay. A
// change that does not compile does not count, and another is drawn. The tests of a package
// are its own, the quick ones first, and then the tests of the packages that depend on it
// (see rooms in run.go); a run that fails, panics or takes many times as long as without the
// change has detected it. On a busy machine a test that depends on time may fail by itself:
// -v names the test that detected each change.
//
// A survivor is either a gap in the tests or a change that changes nothing anybody can
// see. Those of the second kind stand in equivalent.txt, each with its reason, and are not
// tried. To try a survivor again after a test was added: -match with a part of its key.
//
// It ends with one line per package; the exit code is 1 if the tests fail without a change,
// or less than -share of the mutants of some package is killed or equivalent:
//
//	result package=deps mutants=50 killed=47 equivalent=2 survived=1 share=0.98
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/commandline"
)

type config struct {
	seed    uint64
	n       int
	share   float64
	timeout time.Duration
	jobs    int
	match   *regexp.Regexp // of the keys of the mutants to be tried; nil for all
	verbose bool
	exec    []string // runs the test programs
	rooms   []room
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args)
	if err != nil {
		return commandline.Code(err, stdout, stderr)
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

const about = `mutants changes one operator, or removes one call or assignment, at random places of packages,
and lists the changes that no test notices. Run it at the top of the source tree.

	mutants -seed 3 -n 50 ./deps ./dataflow
	mutants                                    every package that it knows
`

// parse reads the command line. It returns the error of Parse.
func parse(args []string) (c config, err error) {
	line := commandline.New("mutants", about)
	line.Uint64Var(&c.seed, "seed", 1, "`number` that the choice of places starts from")
	line.Least(&c.n, "n", 50, 1, "`mutants` of each package")
	line.Float64Var(&c.share, "share", 0.95, "`part` of them that must be killed or equivalent, from 0 to 1")
	line.DurationVar(&c.timeout, "timeout", 4*time.Minute, "`time` that the tests of one package may take")
	line.Least(&c.jobs, "j", 1, 1, "`mutants` at a time")
	line.BoolVar(&c.verbose, "v", false, "tell of each mutant that is killed what noticed it")
	with := line.String("exec", "", "a `program`, and flags, that runs the test programs; such as nice")
	line.Func("match", "a regular `expression`: only mutants whose key matches", func(s string) (err error) {
		c.match, err = regexp.Compile(s)
		return err
	})
	line.Section("Packages", commandline.Row{Text: strings.Join(roomNames(), ", ")})
	line.Exits("0 done, 1 failed, or too many survivors, 2 usage")
	err = line.Parse(args, func() error {
		c.exec = strings.Fields(*with)
		return c.check(line.Args())
	})
	return c, err
}

// check finds the packages, and reports values that make no sense.
func (c *config) check(dirs []string) (err error) {
	switch {
	case !(c.share >= 0 && c.share <= 1):
		return fmt.Errorf("-share %v: it has to be from 0 to 1", c.share)
	case c.timeout <= 0:
		return fmt.Errorf("-timeout %v: it has to be more than 0", c.timeout)
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("there is no go.mod here: run it at the top of the source tree")
	}
	c.rooms, err = findRooms(dirs)
	return err
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
