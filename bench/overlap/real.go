package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/weft-hpc/weft/bench/internal/command"
	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
)

// overTCP measures over real TCP: it calibrates the work, starts this program in a
// network namespace and passes its output on. Where that cannot be, it says so, which
// is no failure.
func overTCP(stdout, stderr io.Writer, c *config) error {
	if why := missing(os.Geteuid(), exec.LookPath, strings.Fields(c.mpirun)[0]); why != "" {
		fmt.Fprintln(stdout, "skipped:", why)
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, machine.Line())
	if c.work == 0 {
		c.work = calibrateTwice().For(c.compute.Seconds())
	}
	args := append([]string{"-n", self, "-inside-namespace"}, withoutReal(c.args)...)
	cmd := exec.Command("unshare", append(args, "-work", fmt.Sprint(int(c.work)))...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("in the network namespace: %w", err)
	}
	return nil
}

// withoutReal drops -real, in all its spellings, from the arguments.
func withoutReal(args []string) (rest []string) {
	for _, a := range args {
		if name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "="); !strings.HasPrefix(a, "-") || name != "real" {
			rest = append(rest, a)
		}
	}
	return rest
}

// missing says in a sentence what -real needs and does not have; "" if nothing.
func missing(uid int, look func(string) (string, error), mpirun string) string {
	if uid != 0 {
		return "real TCP needs root, to make a network namespace and limit its bandwidth."
	}
	for _, tool := range []struct{ name, where string }{
		{"unshare", "util-linux"}, {"ip", "iproute2"}, {"tc", "iproute2"}, {mpirun, "openmpi-bin"},
	} {
		if _, err := look(tool.name); err != nil {
			return fmt.Sprintf("real TCP needs %s: install the package %s.", tool.name, tool.where)
		}
	}
	return ""
}

// calibrateTwice returns the rate of two cores at once, as the ranks will use them: the
// mean.
func calibrateTwice() work.Rate {
	var rates [2]work.Rate
	var both sync.WaitGroup
	for i := range rates {
		both.Go(func() { rates[i] = work.Calibrate() })
	}
	both.Wait()
	return (rates[0] + rates[1]) / 2
}

// inNamespace runs inside the namespace: it sets the network up and runs the forms, one
// start of mpirun each, in turn.
func inNamespace(stdout, stderr io.Writer, c *config) error {
	devices, err := net.Interfaces()
	if err == nil {
		err = fresh(devices)
	}
	if err != nil {
		return err
	}
	for _, line := range setUp(c.rate) {
		if _, err := command.Output(exec.Command(line[0], line[1:]...)); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	progress := report.NewProgress(stderr)
	all, err := c.collect(func(round int, v *variant) (string, error) {
		progress.Say("round %d of %d: %s", round+1, c.reps, v.name)
		defer progress.Clear()
		cmd := exec.Command(strings.Fields(c.mpirun)[0], c.job(self, v)...)
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		return command.Output(cmd)
	})
	if err != nil {
		return err
	}
	link := "tcp-" + c.rate
	printTable(stdout, c, link, all)
	printResults(stdout, resultLines(c, link, "Open MPI", all))
	return nil
}

// fresh refuses a network namespace that others may use: a new one has a loopback device
// that is down, and no other that is up.
func fresh(devices []net.Interface) error {
	for _, d := range devices {
		if d.Flags&net.FlagUp != 0 {
			return fmt.Errorf("the network device %s is up: this is no new namespace, and its loopback device is not limited; use -real", d.Name)
		}
	}
	return nil
}

// setUp returns the commands that bring the loopback device up and limit it. The bucket
// holds more than one segment of 64 KiB, or nothing would pass at full rate.
func setUp(rate string) [][]string {
	return [][]string{
		{"ip", "link", "set", "lo", "up"},
		{"tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", rate, "burst", "128kb", "latency", "100ms"},
	}
}

// job returns the arguments of mpirun for one form.
func (c *config) job(self string, v *variant) []string {
	args := append(strings.Fields(c.mpirun)[1:], "-np", "2", "--oversubscribe", "--bind-to", "none",
		"--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo")
	args = append(args, v.mca...)
	args = append(args, self, "-variants", v.name, "-bytes", fmt.Sprint(c.bytes), "-reps", fmt.Sprint(c.inner), "-work", fmt.Sprint(int(c.work)))
	if c.both {
		args = append(args, "-both")
	}
	return args
}

// collect starts every form in every round and joins their output into samples of all
// forms: a sample has the measurements of one round.
func (c *config) collect(start func(round int, v *variant) (string, error)) (all []sample, err error) {
	for round := range c.reps {
		joined := make([]sample, c.inner)
		for _, v := range c.variants {
			text, err := start(round, v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.name, err)
			}
			got := parseSamples(text)
			if len(got) != c.inner {
				return nil, fmt.Errorf("%s: %d samples, %d were expected, in:\n%s", v.name, len(got), c.inner, text)
			}
			for i, s := range got {
				j := &joined[i]
				j.message += s.message / float64(len(c.variants))
				j.compute += s.compute / float64(len(c.variants))
				j.forms = append(j.forms, s.forms...)
			}
		}
		all = append(all, joined...)
	}
	return all, nil
}

// printSamples prints the repetitions for collect, and parseSamples reads them.
func printSamples(w io.Writer, all []sample) {
	for _, s := range all {
		fmt.Fprintf(w, "sample %.9f %.9f", s.message, s.compute)
		for _, f := range s.forms {
			fmt.Fprintf(w, " %.9f", f)
		}
		fmt.Fprintln(w)
	}
}

func parseSamples(text string) (all []sample) {
	for line := range strings.Lines(text) {
		var s sample
		var form float64
		if n, _ := fmt.Sscanf(line, "sample %g %g %g", &s.message, &s.compute, &form); n == 3 {
			s.forms = []float64{form}
			all = append(all, s)
		}
	}
	return all
}
