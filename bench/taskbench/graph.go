package main

import (
	"fmt"
	"slices"
)

// pair is the output of a task: its timestep and point.
type pair struct{ step, point int64 }

// pairBytes is the size of a pair, and so the least output of a task.
const pairBytes = 16

// untouched fills every buffer before a run, so that a value left by an earlier run of
// the same graph cannot pass for a fresh one.
var untouched = pair{-1, -1}

// params holds the flags of one graph.
type params struct {
	shape
	kernel
	output  int             // bytes per task
	scratch int             // bytes per output buffer
	fields  int             // output buffers per point, used in turn
	swept   bool            // -metg chooses iter
	given   map[string]bool // flags that were set explicitly
}

// record holds what all tasks of one (field, dependence set, point) have in common. It
// is built once, so that submitting a task costs no allocation and no search: the
// runtime keeps slices of in and out until the task has run.
//
// All fields are immutable while tasks run; the bytes behind in, out and scratch
// belong to the tasks, in the order that the declared accesses give them. Two tasks
// with the same out never run together, so the scratch that goes with out is safe too.
type record struct {
	in      [][]pair // outputs of deps, of the field before
	out     []pair
	point   int64
	graph   *graph
	deps    []int32 // ascending, not clipped
	scratch []byte
}

// graph is one task graph, ready to be submitted any number of times. The submitting
// goroutine owns it; tasks read it.
type graph struct {
	params
	verdict *verdict
	clips   bool       // some timesteps have fewer points than width
	rows    [][]record // by set*fields+field, then by point
	buffers [][]pair   // by field*width+point
}

// newGraph builds the tables and buffers of one graph whose parameters were validated.
func newGraph(p params, v *verdict) (*graph, error) {
	g := &graph{params: p, verdict: v, clips: p.pattern == dom || p.pattern == tree}
	g.buffers = cut[pair](p.fields*p.width, p.output/pairBytes, 128/pairBytes)
	scratch := cut[byte](p.fields*p.width, p.scratchBytes(), 128)
	for set := range p.sets() {
		deps, err := g.verified(set)
		if err != nil {
			return nil, err
		}
		for field := range p.fields {
			g.rows = append(g.rows, g.newRow(field, deps, scratch))
		}
	}
	for _, s := range scratch { // touched before the clock runs
		for i := range s {
			s[i] = byte(i)
		}
	}
	return g, nil
}

// newRow returns the records of one field and dependence set.
func (g *graph) newRow(field int, deps [][]int32, scratch [][]byte) []record {
	before := (field + g.fields - 1) % g.fields * g.width
	row := make([]record, g.width)
	for p := range row {
		cell := field*g.width + p
		in := make([][]pair, len(deps[p]))
		for i, d := range deps[p] {
			in[i] = g.buffers[before+int(d)]
		}
		row[p] = record{in: in, out: g.buffers[cell], point: int64(p), graph: g, deps: deps[p], scratch: scratch[cell]}
	}
	return row
}

// verified returns the dependences of every point in one set, after checking that the
// readers of the pattern are their inverse, as Task Bench does at start.
func (g *graph) verified(set int) ([][]int32, error) {
	deps := make([][]int32, g.width)
	edges, mirrored := 0, 0
	for p := range deps {
		for _, d := range g.dependences(set, p) {
			deps[p] = append(deps[p], int32(d))
			edges++
		}
	}
	for p := range deps {
		for _, r := range g.readers(set, p) {
			if _, found := slices.BinarySearch(deps[r], int32(p)); !found {
				return nil, fmt.Errorf("graph %d: in set %d point %d counts %d as its reader, which does not depend on it", g.index, set, p, r)
			}
			mirrored++
		}
	}
	if edges != mirrored {
		return nil, fmt.Errorf("graph %d: set %d has %d dependences but %d readers", g.index, set, edges, mirrored)
	}
	return deps, nil
}

// row returns the records of the tasks of timestep t.
func (g *graph) row(t int) []record {
	row := g.rows[g.set(t)*g.fields+t%g.fields]
	if g.clips {
		first := g.offset(t)
		row = row[first : first+g.widthAt(t)]
	}
	return row
}

// span returns which of the record's dependences exist at timestep t-1.
func (r *record) span(t int) (lo, hi int) {
	if r.graph.clips || t == 0 {
		return r.graph.clip(r.deps, t)
	}
	return 0, len(r.deps)
}

// existing returns the inputs of the task of timestep t that were written at t-1: a
// part of in, which is all of it where the graph keeps its width.
func (r *record) existing(t int) [][]pair {
	lo, hi := r.graph.clip(r.deps, t)
	return r.in[lo:hi]
}

// reset makes every output invalid. Only between runs.
func (g *graph) reset() {
	for _, b := range g.buffers {
		fill(b, untouched)
	}
}

// scratchBytes returns the scratch of one output buffer: only memory_bound has any.
func (p *params) scratchBytes() int {
	if p.kind != memoryBound {
		return 0
	}
	return p.scratch
}

// tableLimit bounds the memory of one graph's tables and buffers.
const tableLimit = 8 << 30

// tableBytes estimates the memory of a graph, from above.
func (p *params) tableBytes() float64 {
	degree := float64(3)
	switch {
	case p.pattern == allToAll:
		degree = float64(p.width)
	case p.pattern.usesRadix():
		degree = float64(min(p.radix, p.width))
	}
	points := float64(p.width) * float64(p.fields)
	buffers := points * (float64(p.output) + float64(p.scratchBytes()) + 2*128 + 48)
	return buffers + float64(p.sets())*points*(128+28*degree)
}

// cut returns count slices of size elements out of one allocation. Each starts at a
// multiple of align elements (128 bytes, two cache lines: the adjacent-line prefetcher
// of x86 pairs them), so that no two workers write to one line.
func cut[T any](count, size, align int) [][]T {
	stride := (size + align - 1) / align * align
	all := make([]T, count*stride)
	parts := make([][]T, count)
	for i := range parts {
		parts[i] = all[i*stride:][:size:size]
	}
	return parts
}

// fill writes v to every element of b.
func fill(b []pair, v pair) {
	for i := range b {
		b[i] = v
	}
}
