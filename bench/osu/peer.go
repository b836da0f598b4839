package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/command"
)

//go:embed peer.c
var peerSource []byte

// peerTests are the tests that the C peer has too: its arguments, and the figure that
// both print.
var peerTests = map[string]*peerTest{
	"latency": {"latency_us", func(c *config) []string {
		l := latencyLoops.forSize(c.min, c.iterations, c.skip)
		return decimalArgs(c.min, l.count, l.skip)
	}},
	"sendrecv": {"exchange_us", func(c *config) []string {
		l := latencyLoops.forSize(c.min, c.iterations, c.skip)
		return decimalArgs(c.min, l.count, l.skip)
	}},
	"alltoall": {"alltoall_us", func(c *config) []string {
		l := collectiveLoops.forSize(c.min, c.iterations, c.skip)
		return decimalArgs(c.min, l.count, l.skip)
	}},
	"inflight": {"us_per_completion", func(c *config) []string {
		l := inflightLoops.forSize(c.min, c.iterations, c.skip)
		return decimalArgs(c.inflight, c.min, l.count, l.skip)
	}},
}

type peerTest struct {
	figure string
	args   func(c *config) []string
}

func decimalArgs(values ...int) (args []string) {
	for _, v := range values {
		args = append(args, strconv.Itoa(v))
	}
	return args
}

// errNoCompiler says how to get the C peer.
var errNoCompiler = errors.New("the C peer needs MPI's C compiler: set CC to mpicc.openmpi or mpicc.mpich")

// buildPeer compiles the C peer into dir and returns its path.
func buildPeer(dir string) (program string, err error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "mpicc"
	}
	words := strings.Fields(cc)
	if len(words) == 0 {
		return "", errNoCompiler
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return "", fmt.Errorf("%w (%w)", errNoCompiler, err)
	}
	if program, err = command.Compile(dir, peerSource, words); err != nil {
		return "", fmt.Errorf("%w (%w)", err, errNoCompiler)
	}
	return program, nil
}

// printPeer compiles the C peer and says how to run it.
func printPeer(w io.Writer, c *config) error {
	if err := os.MkdirAll(c.peer, 0o755); err != nil {
		return err
	}
	program, err := buildPeer(c.peer)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "Compiled; run it with the launcher of the same MPI library, beside this program:")
	for _, t := range allTests {
		if p := peerTests[t.name]; p != nil {
			k := *c
			k.test, k.min = t, 8
			fmt.Fprintf(w, "\tmpirun -np 2 %s %s %s\n", program, t.name, strings.Join(p.args(&k), " "))
			fmt.Fprintf(w, "\tmpirun -np 2 osu %s -min 8%s\n", t.name, map[bool]string{true: " -max 8"}[t.loops.large.count > 0])
		}
	}
	return nil
}
