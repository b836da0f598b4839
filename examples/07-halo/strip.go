package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// strip is the part of the square that one rank has, twice: for even and odd steps. A
// row on either side is the neighbour's, or the boundary.
type strip struct {
	rows, cols int
	old, next  []float64
	blocks     []block
}

type block struct{ from, to, priority int }

func newStrip(c *mpi.Cart, o options) *strip {
	from, to := c.Rank()*o.rows/c.Size(), (c.Rank()+1)*o.rows/c.Size()
	return makeStrip(o, from, to-from)
}

// makeStrip returns rows from to from+rows of the square, with starting values.
func makeStrip(o options, from, rows int) *strip {
	u := &strip{rows: rows, cols: o.cols, old: mpi.Alloc[float64]((rows + 2) * o.cols), next: mpi.Alloc[float64]((rows + 2) * o.cols)}
	for i := range u.old {
		row, col := from+i/o.cols, i%o.cols
		if row > 0 && row <= o.rows {
			u.old[i] = float64((row*7+col*3)%100) / 100
		}
		u.next[i] = u.old[i]
	}
	for at := 1; at <= rows; at += o.block {
		b := block{from: at, to: min(at+o.block, rows+1)}
		if b.from == 1 || b.to == rows+1 {
			b.priority = 1
		}
		u.blocks = append(u.blocks, b)
	}
	slices.SortStableFunc(u.blocks, func(a, b block) int { return b.priority - a.priority })
	return u
}

// at returns rows [from, to) of step s.
func (u *strip) at(s, from, to int) []float64 {
	if s%2 == 0 {
		return u.old[from*u.cols : to*u.cols]
	}
	return u.next[from*u.cols : to*u.cols]
}

// relaxRows computes the rows of next from the same rows of old and one on either side.
func relaxRows(cols int, old, next []float64) {
	for at := 0; at < len(next); at += cols {
		relaxRow(old[at:at+cols], old[at+cols:at+2*cols], old[at+2*cols:at+3*cols], next[at:at+cols])
	}
}

// relaxRow computes a row from the same row and the rows above and below it. It reads each
// element of its own row once.
func relaxRow(up, mid, down, next []float64) {
	last := len(next) - 1
	next[0], next[last] = mid[0], mid[last] // the boundary: an Output is written everywhere
	left, here := mid[0], mid[1]
	for i, right := range mid[2:] {
		next[i+1] = here + 0.2*(up[i+1]+down[i+1]+left+right-4*here)
		left, here = here, right
	}
}

// report checks the results and prints what rank 0 has to say.
func report(c *mpi.Comm, o options, turns, tasked float64, log *dataflow.Log, strips ...*strip) error {
	results := make([][]float64, len(strips))
	for i, u := range strips {
		var err error
		if results[i], err = gather(c, o, u); err != nil {
			return err
		}
	}
	logs, err := commthread.GatherLogs(c, log)
	if err != nil || c.Rank() != 0 {
		return err
	}
	start := mpi.Wtime()
	want := makeStrip(o, 0, o.rows)
	for s := range o.steps {
		relaxRows(want.cols, want.at(s, 0, want.rows+2), want.at(s+1, 1, want.rows+1))
	}
	alone := mpi.Wtime() - start
	summary := trace.Summarize(logs...)
	fmt.Println(world.Describe(c))
	fmt.Printf("%-44s %7.1f ms\n", "plain loop, one core, no messages", alone*1e3)
	fmt.Printf("%-44s %7.1f ms\n", "compute, exchange, compute", turns*1e3)
	fmt.Printf("%-44s %7.1f ms\n", "messages as tasks", tasked*1e3)
	fmt.Printf("%-44s %7.1f %%\n", "message time that had work beside it", 100*summary.Messages.Overlap)
	path, err := tracePath(o)
	if err == nil {
		err = trace.WriteFile(path, logs...)
	}
	if err != nil {
		return err
	}
	fmt.Printf("trace: %s (%s)\n", path, viewers[strings.ToLower(filepath.Ext(path))])
	for i, got := range results {
		if !slices.Equal(got, want.at(o.steps, 1, o.rows+1)) {
			return fmt.Errorf("FAILED: after %d steps, run %d differs from the plain loop", o.steps, i+1)
		}
	}
	fmt.Printf("ok: after %d steps, both runs have the bytes of the plain loop\n", o.steps)
	return nil
}

// gather returns the whole square on rank 0.
func gather(c *mpi.Comm, o options, u *strip) ([]float64, error) {
	counts, displs := make([]int, c.Size()), make([]int, c.Size())
	for r := range counts {
		displs[r] = r * o.rows / c.Size() * o.cols
		counts[r] = (r+1)*o.rows/c.Size()*o.cols - displs[r]
	}
	all := make([]float64, o.rows*o.cols)
	if c.Rank() != 0 {
		counts, displs = nil, nil
	}
	return all, c.Gatherv(mpi.Of(u.at(o.steps, 1, u.rows+1)), mpi.Of(all), counts, displs, 0)
}

// tracePath returns where the trace goes: as the flag says, or into a new folder that only
// this user can write to.
func tracePath(o options) (string, error) {
	if o.trace != "" {
		return o.trace, nil
	}
	dir, err := os.MkdirTemp("", "weft-halo-")
	return filepath.Join(dir, "halo.json"), err
}
