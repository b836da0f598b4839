package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// standard returns valid parameters of one graph.
func standard(kind pattern, steps, width int) params {
	return params{
		shape:  shape{pattern: kind, steps: steps, width: width, radix: min(3, width), period: 1, fraction: 0.5},
		kernel: kernel{samples: 16},
		output: pairBytes, fields: 2,
	}
}

// build makes graphs that share a verdict.
func build(t testing.TB, all ...params) []*graph {
	t.Helper()
	v := &verdict{}
	var graphs []*graph
	for i, p := range all {
		p.index = i
		require.NoError(t, p.validate())
		g, err := newGraph(p, v)
		require.NoError(t, err)
		graphs = append(graphs, g)
	}
	return graphs
}

// runSerial is the plainest driver: every task at once, in order of submission. It is
// the serial elision of the program, and takes no runtime.
func runSerial(graphs ...*graph) error {
	steps := 0
	for _, g := range graphs {
		g.reset()
		steps = max(steps, g.steps)
	}
	for t := range steps {
		for _, g := range graphs {
			if t < g.steps {
				runRow(g, t)
			}
		}
	}
	for _, g := range graphs {
		if err := g.checkEnd(); err != nil {
			return err
		}
	}
	return nil
}

func runRow(g *graph, t int) {
	row := g.row(t)
	for p := range row {
		r := &row[p]
		in := r.in
		if g.clips || t == 0 {
			in = r.existing(t)
		}
		r.execute(t, in, r.out)
	}
}

func TestSerial_run_of_every_pattern_passes_its_checks(t *testing.T) {
	for kind := range patternNames {
		for width := 1; width <= 17; width++ {
			for _, fields := range []int{2, 3, 5} {
				for _, output := range []int{16, 31, 48, 1000} {
					p := standard(pattern(kind), 20, width)
					p.fields, p.output = fields, output
					g := build(t, p)[0]
					require.NoError(t, runSerial(g), "%v", &p)
					require.Len(t, g.buffers[0], output/16)
				}
			}
		}
	}
}

func TestSerial_runs_twice_and_several_graphs(t *testing.T) {
	a, b := standard(stencil1D, 9, 5), standard(dom, 14, 6)
	b.kind, b.iter, b.scratch = memoryBound, 5, 100
	graphs := build(t, a, b)
	require.NoError(t, runSerial(graphs...))
	require.NoError(t, runSerial(graphs...))
}

// TestTables checks the prebuilt records against the shape, for every task.
func TestTables_give_each_task_the_buffers_of_its_dependences(t *testing.T) {
	everyShape(func(s shape) {
		if s.pattern == spread && (s.radix > s.width || s.radix > 0 && s.period > (s.width+s.radix-1)/s.radix) || s.width > 9 {
			return
		}
		p := params{shape: s, kernel: kernel{samples: 1}, output: 16, fields: 3}
		p.index = 0
		g, err := newGraph(p, &verdict{})
		require.NoError(t, err)
		for step := range s.steps {
			row := g.row(step)
			require.Len(t, row, s.widthAt(step))
			for i := range row {
				r := &row[i]
				require.EqualValues(t, s.offset(step)+i, r.point)
				require.Same(t, &g.buffers[step%3*s.width+int(r.point)][0], &r.out[0])
				lo, hi := r.span(step)
				in := r.existing(step)
				require.Len(t, in, hi-lo)
				for k, d := range r.deps[lo:hi] {
					require.Same(t, &g.buffers[(step-1)%3*s.width+int(d)][0], &in[k][0])
				}
			}
		}
	})
}

func TestBuffers_do_not_share_cache_lines(t *testing.T) {
	seen := map[*pair]bool{}
	for _, b := range cut[pair](10, 3, 8) {
		assert.Len(t, b, 3)
		assert.Equal(t, 3, cap(b))
		seen[&b[0]] = true
	}
	assert.Len(t, seen, 10)
	p := standard(noComm, 2, 3)
	p.scratch = 64
	assert.Zero(t, p.scratchBytes(), "only memory_bound needs scratch")
}

// TestDamage is the negative control of the checks: each way to break a graph must be
// found, and named.
func TestDamage_is_found(t *testing.T) {
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []pattern{stencil1D, allToAll, fft} {
				g := build(t, standard(kind, 10, 4))[0]
				c.damage(g)
				err := runSerial(g)
				require.Error(t, err)
				assert.Regexp(t, c.message, err.Error())
			}
		})
	}
}

func TestStale_values_are_found(t *testing.T) {
	g := build(t, standard(stencil1D, 6, 4))[0]
	require.NoError(t, runSerial(g))
	g.reset()
	runRow(g, 0)
	runRow(g, 2) // before timestep 1
	assert.ErrorContains(t, g.verdict.err(), "timestep 2, point 0: input 0 holds (timestep -1, point -1) at pair 0 of 1, expected (timestep 1, point 0)")
}

func TestLast_pair_of_a_large_output_is_checked(t *testing.T) {
	p := standard(noComm, 2, 1)
	p.output = 1600
	g := build(t, p)[0]
	g.reset()
	runRow(g, 0)
	g.record(0, 0).out[99].step = 5
	runRow(g, 1)
	assert.EqualError(t, g.verdict.err(), "graph 0, timestep 1, point 0: input 0 holds (timestep 5, point 0) at pair 99 of 100, expected (timestep 0, point 0)")
}

func TestTask_that_never_ran_is_found(t *testing.T) {
	g := build(t, standard(trivial, 6, 4))[0]
	g.reset()
	for step := range 5 {
		runRow(g, step)
	}
	assert.ErrorContains(t, g.checkEnd(), "graph 0, timestep 5, point 0: its output holds (timestep 3, point 0)")
}

// TestCount compares the totals with a walk over all tasks.
func TestCount(t *testing.T) {
	for kind := range patternNames {
		for _, work := range []kernelType{empty, computeBound, memoryBound, loadImbalance} {
			p := standard(pattern(kind), 13, 6)
			p.kind, p.iter, p.imbalance, p.scratch = work, 7, 1, 320
			g := build(t, p)[0]
			var want totals
			for step := range p.steps {
				for i := p.offset(step); i < p.offset(step)+p.widthAt(step); i++ {
					want.tasks++
					want.flops += g.flops(0, int64(step), int64(i))
					for _, d := range p.dependences(p.set(step), i) {
						if first := p.offset(step - 1); d >= first && d < first+p.widthAt(step-1) {
							want.dependences++
						}
					}
				}
			}
			if work == memoryBound {
				want.bytes = want.tasks * 320 / 16 * 7
			}
			assert.Equal(t, want, countAll([]*graph{g}), fmt.Sprint(&p))
		}
	}
	stencil := build(t, standard(stencil1D, 1000, 4))[0].count()
	assert.Equal(t, totals{tasks: 4000, dependences: 999 * 10}, stencil)
}

// BenchmarkBody answers: what does a task cost without a runtime, checks included?
func BenchmarkBody(b *testing.B) {
	for _, kind := range []pattern{trivial, noComm, stencil1D, allToAll} {
		b.Run(kind.String(), func(b *testing.B) {
			g := build(b, standard(kind, 1000, 4))[0]
			for b.Loop() {
				require.NoError(b, runSerial(g))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4000, "ns/task")
			b.ReportAllocs()
		})
	}
}
