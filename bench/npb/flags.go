package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/npb/is"
	"github.com/weft-hpc/weft/bench/npb/mg"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// config is the command line.
type config struct {
	bench   string
	class   string
	form    string
	reps    int
	compare bool
	world   *world.Config
	line    *commandline.Line

	is is.Class
	mg mg.Class
}

// forms lists those of each benchmark, the default first.
var forms = map[string][]string{"is": {"blocking", "nonblocking"}, "mg": {"blocking", formTasks}}

const formTasks = "tasks"

const about = `npb runs the benchmarks IS (sorting) and MG (multigrid) of the NAS Parallel Benchmarks, and
verifies them.

	npb -bench is                              class A on one rank
	npb -bench mg -class W -ranks 2 -net gige  on a simulated network
	npb -bench is -form nonblocking -class W -ranks 4
	npb -bench mg -form tasks -class W -ranks 2 -net gige   WEFT_TRACE=FILE draws a timeline
	npb -bench is -class W -ranks 2 -net gige -compare     what early returns gain
	mpirun -np 2 npb -bench mg -class B        over the machine's MPI (built with -tags mpi)

The programs are plain: blocking calls, written as anyone would write them.
`

// parseArgs reads the command line. It returns the error of Parse.
func parseArgs(args []string) (*config, error) {
	c := &config{}
	l := commandline.New("npb", about)
	c.line = l
	l.StringVar(&c.bench, "bench", "", "`benchmark`: is or mg")
	l.StringVar(&c.class, "class", "A", "`size` of the problem: S, W, A, B or C")
	l.StringVar(&c.form, "form", "blocking", "`form` of the program: blocking, or by hand: nonblocking (is), tasks (mg)")
	l.Least(&c.reps, "reps", 1, 1, "`repetitions` of the whole benchmark")
	l.BoolVar(&c.compare, "compare", false, "compare the original, the form by hand, and the original with early returns, in turn; -reps is the rounds (5)")
	c.world = world.Flags(l.FlagSet)
	c.world.Ranks = 1
	l.Lookup("ranks").DefValue = "1"
	var rows []commandline.Row
	for i, class := range is.Classes() {
		n := mg.Classes()[i]
		rows = append(rows, commandline.Row{Name: class.Name, Text: fmt.Sprintf("IS %d keys below %d, %d MB; MG %d^3 points, %d iterations, %d MB",
			class.Keys, class.Max, class.Bytes(1)>>20, n.N, n.Iterations, n.Bytes(1)>>20)})
	}
	l.Section("Classes (with the memory of one rank)", rows...)
	l.Exits("0 done and verified, 1 failed run or verification, 2 usage")
	return c, l.Parse(args, l.NoArgs, c.validate)
}

// validate reports values that make no sense.
func (c *config) validate() (err error) {
	known, ok := forms[c.bench]
	if !ok {
		return fmt.Errorf("-bench %q: there are is and mg", c.bench)
	}
	if !slices.Contains(known, c.form) {
		return fmt.Errorf("-form %q: %s has %s", c.form, c.bench, strings.Join(known, ", "))
	}
	if c.bench == "is" {
		c.is, err = is.Named(c.class)
		c.class = c.is.Name
	} else {
		c.mg, err = mg.Named(c.class)
		c.class = c.mg.Name
	}
	if err != nil {
		return fmt.Errorf("-class: %w", err)
	}
	_, _, launched := system.Launched()
	if err := c.validateCompare(launched); err != nil {
		return err
	}
	if n := c.world.Ranks; !launched && n > 0 {
		if n&(n-1) != 0 {
			return fmt.Errorf("-ranks %d: the benchmark takes a power of two", n)
		}
		return machine.CheckThreads(n, 1)
	}
	return nil
}

// validateCompare also sets the rounds.
func (c *config) validateCompare(launched bool) error {
	switch {
	case !c.compare:
		return nil
	case launched:
		return errors.New("-compare runs on ranks of this process: leave mpirun out")
	case c.line.Given("form") || c.line.Given("hunt"):
		return errors.New("-compare runs all forms and modes: leave -form and -hunt out")
	case c.world.Machine != "":
		return errors.New("-compare: on a simulated machine there are no page faults: leave -machine out")
	case c.world.Ranks < 2:
		return errors.New("-compare: one rank has no messages: give -ranks 2 or more")
	}
	if !c.line.Given("reps") {
		c.reps = 5
	}
	return nil
}

// net names the network between ranks of this process.
func (c *config) net() string {
	if c.world.Machine != "" {
		return c.world.Machine
	}
	return c.world.Net.String()
}
