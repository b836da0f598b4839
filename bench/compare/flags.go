package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/internal/commandline"
)

// config holds the flags.
type config struct {
	subjects []*subject
	quick    bool
	pairs    int
	out      string
}

const (
	leastPairs = 5 // fewer say nothing about the spread
	quickPairs = 2
)

const about = `compare runs weft and its installed peers in turn and writes a report.

	compare -quick                    does everything work here?
	compare -out results              the real thing; takes most of an hour
	compare -only hpl,blas -pairs 9 -out results

Writes compare.md, runs.csv with every single run, and a section (hpl.md) and a chart for
each subject. The folder may be filled in parts: what -only leaves out keeps its section of
a former run, and each subject is written when it is done. Peers that are not installed are
named with the command that installs them; what a former run measured of them stays. Run it
in the source tree: it builds the programs it compares. Keep the machine quiet meanwhile.
`

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := &config{}
	line := commandline.New("compare", about)
	only := line.String("only", "", "`subjects` to compare, with commas between them (default all)")
	line.BoolVar(&c.quick, "quick", false, fmt.Sprintf("small sizes and %d rounds: to see that everything works", quickPairs))
	line.IntVar(&c.pairs, "pairs", 0, fmt.Sprintf("`rounds` of each contest, at least %d without -quick (default %d, quick %d)", leastPairs, leastPairs+2, quickPairs))
	line.StringVar(&c.out, "out", "weft-compare", "`folder` of the report, which is made if it is not there")
	var rows []commandline.Row
	for _, s := range subjects {
		rows = append(rows, commandline.Row{Name: s.name, Text: s.question})
	}
	line.Section("Subjects", rows...)
	line.Exits("0 done, 1 a run failed, was wrong or was interrupted, 2 usage")
	return c, line.Parse(args, line.NoArgs, func() error { return c.complete(*only) })
}

// complete fills in what depends on other flags, and reports values that make no sense.
func (c *config) complete(only string) error {
	least, usual := leastPairs, leastPairs+2
	if c.quick {
		least, usual = 1, quickPairs
	}
	if c.pairs == 0 {
		c.pairs = usual
	}
	if c.pairs < least {
		return fmt.Errorf("-pairs %d: at least %d, or use -quick", c.pairs, least)
	}
	if c.out == "" {
		return fmt.Errorf("-out: it is the name of a folder")
	}
	if only == "" {
		c.subjects = subjects
		return nil
	}
	for name := range strings.SplitSeq(only, ",") {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(subjects, func(s *subject) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("-only %s: there is no subject %q: there are %s", only, name, strings.Join(subjectNames(), ", "))
		}
		if !slices.Contains(c.subjects, subjects[i]) {
			c.subjects = append(c.subjects, subjects[i])
		}
	}
	return nil
}

func subjectNames() (all []string) {
	for _, s := range subjects {
		all = append(all, s.name)
	}
	return all
}
