package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
)

// bench is the place where everything runs.
type bench struct {
	*config
	tools    tools
	cores    int
	dir      string // of the builds and runs; deleted at the end
	progress *report.Progress
	built    map[string]string // programs by the source they were built from
	load     string            // average at the start
	others   float64           // cores that others used at the start
}

// newBench makes the place; what runs in it ends with the context.
func newBench(ctx context.Context, c *config, stderr io.Writer) (*bench, error) {
	dir, err := os.MkdirTemp("", "weft-compare")
	if err != nil {
		return nil, err
	}
	return &bench{config: c, tools: installed{ctx}, cores: machine.Cores(), dir: dir, progress: report.NewProgress(stderr), built: map[string]string{}, load: load()}, nil
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// pick is the first value in a quick run, the second otherwise.
func pick[T any](b *bench, quick, full T) T {
	if b.quick {
		return quick
	}
	return full
}

// scratch makes a new folder for one run.
func (b *bench) scratch() (string, error) { return os.MkdirTemp(b.dir, "run") }

// oneProcess and manyProcesses describe layouts.
func oneProcess(threads int) string { return fmt.Sprintf("1 process, %s", plural(threads, "thread")) }

func manyProcesses(n int) string { return plural(n, "process of 1 thread") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "process of 1 thread" {
		return fmt.Sprintf("%d processes of 1 thread", n)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
