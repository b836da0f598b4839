package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/command"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// contender is a program that both sides of a comparison start in turn.
type contender struct {
	name    string
	command []string
	figures []float64
}

// compare alternates runs of the C peer and of this program under mpirun, and prints
// both medians and the difference.
func compare(stdout, stderr io.Writer, c *config) error {
	dir, err := os.MkdirTemp("", "osu")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := buildPeer(dir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	both := contenders(c, self, program)
	progress := report.NewProgress(stderr)
	fmt.Fprintln(stdout, machine.Line())
	for i := range c.runs {
		for _, k := range both {
			progress.Say("run %d of %d: %s", i+1, c.runs, k.name)
			v, err := k.play(peerTests[c.test.name].figure)
			progress.Clear()
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			k.figures = append(k.figures, v)
			fmt.Fprintf(stdout, "run %d  %-5s %s %.4f\n", i+1, k.name, peerTests[c.test.name].figure, v)
		}
	}
	printComparison(stdout, c, both[0].figures, both[1].figures)
	return nil
}

// contenders returns the C peer and this program, with the same size and counts.
func contenders(c *config, self, program string) []*contender {
	args := peerTests[c.test.name].args(c)
	mine := []string{self, "-test", c.test.name, "-min", fmt.Sprint(c.min), "-runs", "1", "-inflight", fmt.Sprint(c.inflight)}
	if c.test.loops.large.count > 0 {
		mine = append(mine, "-max", fmt.Sprint(c.min))
	}
	mine = append(mine, "-iterations", args[len(args)-2], "-skip", args[len(args)-1])
	launch := append(strings.Fields(c.compare), "-np", "2")
	return []*contender{
		{name: "c", command: append(append(launch[:len(launch):len(launch)], program, c.test.name), args...)},
		{name: "weft", command: append(launch[:len(launch):len(launch)], mine...)},
	}
}

// play runs the contender once and returns its figure.
func (k *contender) play(figure string) (float64, error) {
	cmd := exec.Command(k.command[0], k.command[1:]...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	text, err := command.Output(cmd)
	if err != nil {
		return 0, err
	}
	values := report.Figures(text, figure)
	if len(values) != 1 {
		return 0, fmt.Errorf("%d results with %s, one was expected, in:\n%s", len(values), figure, text)
	}
	return values[0], nil
}

// printComparison prints the medians and the result line.
func printComparison(w io.Writer, c *config, peer, mine []float64) {
	a, b := report.Median(peer), report.Median(mine)
	fmt.Fprintf(w, "medians of %d: C %.4f us, weft %.4f us: %.4f us above C\n", len(peer), a, b, b-a)
	figure := peerTests[c.test.name].figure
	report.Line(w, report.Text("test", c.test.name), report.Decimal(figure, b), report.Decimal("c_"+figure, a),
		report.Decimal("us_above_c", b-a), report.Integer("bytes", c.min), report.Integer("runs", len(peer)), report.Integer("ranks", 2))
}
