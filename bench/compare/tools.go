package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// tools is the program's access to the machine. Tests replace it.
type tools interface {
	// find returns the path of a program, or an error.
	find(name string) (string, error)
	// output runs a command and returns its stdout. The error of a failed command has the
	// end of its output.
	output(c command) (string, error)
}

// command is a process to be run.
type command struct {
	argv []string
	env  []string // added to the environment of this process
	dir  string
}

// installed is the real machine. What runs there ends with the context.
type installed struct{ context.Context }

func (installed) find(name string) (string, error) { return exec.LookPath(name) }

// guard ends a run that hangs; the longest honest ones take minutes.
const guard = 30 * time.Minute

// calm keeps libraries from using more threads than they were given, and lets Open MPI
// start under root, as in a container.
var calm = append([]string{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, openCore()...)

// openCore has OpenBLAS use its kernels for AVX-512 where the processor can: releases
// that do not know a newer processor fall back to those for AVX2, at half the speed, and
// so does a variable that somebody has set for other reasons.
func openCore() []string {
	if !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL) {
		return nil
	}
	return []string{"OPENBLAS_CORETYPE=SkylakeX"}
}

func (i installed) output(c command) (string, error) {
	ctx, cancel := context.WithTimeout(i, guard)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = append(append(os.Environ(), calm...), c.env...)
	cmd.Dir = c.dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // mpirun ends its ranks
	cmd.WaitDelay = 2 * time.Second                                          // then it is killed; a grandchild may hold the pipe
	var said, complained strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complained
	err := cmd.Run()
	switch {
	case i.Err() != nil:
		return "", errInterrupted
	case ctx.Err() != nil:
		err = fmt.Errorf("it did not end within %v", guard)
	}
	if err == nil {
		return said.String(), nil
	}
	err = fmt.Errorf("%s: %w", strings.Join(c.argv, " "), err)
	if words := tail(said.String() + complained.String()); words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return said.String(), err
}

// errInterrupted is the error of what did not run to its end because the user has had
// enough.
var errInterrupted = errors.New("interrupted")

// tail is the last lines of a text.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-8):], "\n")
}

// errNone is the error of a program that prints something else than expected.
var errNone = errors.New("it printed no result")

// unreadable is the error of a text that lacks the wanted value.
func unreadable(what, text string) error {
	return fmt.Errorf("%w: no %s in:\n%s", errNone, what, tail(text))
}
