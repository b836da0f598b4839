package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// nic returns the progress modes to measure, as values of Net.NIC: both, unless there is
// no network or the command line says which.
func (c *config) nic() []bool {
	saysWhich := slices.ContainsFunc(c.args, func(a string) bool { return strings.Contains(a, "progress=") })
	if saysWhich || c.world.Net == world.Default().Net {
		return []bool{c.world.Net.NIC}
	}
	return []bool{false, true}
}

// shaped measures over in-process ranks.
func shaped(stdout, stderr io.Writer, c *config) error {
	progress := report.NewProgress(stderr)
	fmt.Fprintln(stdout, machine.Line())
	var lines [][]string
	for _, nic := range c.nic() {
		c.world.Net.NIC = nic
		net := c.world.Net.String()
		all, engine, err := c.ranks(progress)
		progress.Clear()
		if err != nil {
			return fmt.Errorf("net %s: %w", net, err)
		}
		printTable(stdout, c, net, all)
		lines = append(lines, resultLines(c, net, engine, all)...)
	}
	printResults(stdout, lines)
	return nil
}

// ranks measures on the ranks that the flags say, and returns what rank 0 found; nil in
// a process that does not have rank 0.
func (c *config) ranks(progress *report.Progress) (all []sample, name string, err error) {
	err = c.start(func(comm *mpi.Comm) error {
		s, err := c.measure(comm, c.reps, progress)
		if comm.Rank() == 0 {
			all, name = s, (*engine.Comm)(comm).Engine().Name()
		}
		return err
	})
	return all, name, err
}

// underLauncher measures over the machine's MPI library, as one of the processes that
// mpirun has started.
func underLauncher(stdout, stderr io.Writer, c *config) error {
	progress := report.NewProgress(stderr)
	all, engine, err := c.ranks(progress)
	progress.Clear()
	if err != nil || all == nil {
		return err
	}
	fmt.Fprintln(stdout, machine.Line())
	printTable(stdout, c, engine, all)
	printSamples(stdout, all)
	printResults(stdout, resultLines(c, "real", engine, all))
	return nil
}
