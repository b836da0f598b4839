package hpl

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// The states and values of netlib's HPL_dmatgen with its seed.
func TestGeneratorFirstValues(t *testing.T) {
	assert.EqualValues(t, uint64(9224323878554545557), steps(1).from(100))
	assert.EqualValues(t, uint64(2137401632788672050), steps(2).from(100))
	column := make([]float64, 8)
	newGenerator(8, 100).tile(0, 0, 8, 1, column, 8)
	assert.Equal(t, []float64{-5.1599441937666413e-05, 0.38413122531282284, 0.44368366759894268, -0.46046395121548966,
		-0.45958772011929283, 0.34562064452403346, -0.11136713687225697, -0.047680656152731316}, column)
}

// A tile anywhere equals the stream there, bit for bit.
func TestGeneratorTiles(t *testing.T) {
	const n = 37
	stream, x := make([]float64, n*(n+1)), uint64(12345)
	for i := range stream {
		x = one.from(x)
		stream[i] = value(x)
	}
	g := newGenerator(n, 12345)
	for i := 0; i < n; i += 5 {
		for j := 0; j <= n; j += 3 {
			m, w, ld := min(7, n-i), min(4, n+1-j), 11
			tile := make([]float64, ld*w)
			g.tile(i, j, m, w, tile, ld)
			for c := range w {
				require.Equal(t, stream[(j+c)*n+i:][:m], tile[c*ld:][:m], "(%d, %d)", i, j+c)
				require.Equal(t, make([]float64, ld-m), tile[c*ld+m:(c+1)*ld])
			}
		}
	}
}

func TestStepsCompose(t *testing.T) {
	for _, a := range []uint64{0, 1, 2, 63, 1 << 40, 1<<64 - 1} {
		for _, b := range []uint64{0, 1, 12345, 1 << 63} {
			assert.Equal(t, steps(a+b), steps(a).then(steps(b)))
		}
	}
}

// Every index has one owner; local indices have the order of the global ones, and before
// counts them.
func TestAxis(t *testing.T) {
	for _, procs := range []int{1, 2, 3, 5} {
		for _, nb := range []int{1, 2, 3, 7, 40} {
			for _, n := range []int{0, 1, 6, 7, 36} {
				seen := make([]int, procs)
				for g := range n {
					x := axis{n: n, nb: nb, procs: procs}
					who, l := x.locate(g)
					x.me = who
					require.Equal(t, seen[who], l)
					require.Equal(t, l, x.before(g))
					require.Equal(t, g, x.global(l))
					for p := range procs {
						require.Equal(t, seen[p], x.beforeAt(g, p))
					}
					seen[who]++
				}
				for p := range procs {
					require.Equal(t, seen[p], axis{n: n, nb: nb, procs: procs, me: p}.local())
				}
			}
		}
	}
}

func TestLeadingDimension(t *testing.T) {
	for _, align := range []int{1, 2, 4, 8, 12, 16, 100, 256, 512} {
		for m := range 3000 {
			ld := leading(m, align)
			require.GreaterOrEqual(t, ld, max(m, 1))
			require.Zero(t, ld%align)
			require.LessOrEqual(t, ld, m+20*align, "align %d", align)
			if align%16 != 0 {
				require.Equal(t, 8, ld%16, "m %d align %d", m, align) // an odd number of lines
			}
			if align%256 != 0 {
				require.NotZero(t, ld%256, "m %d align %d", m, align)
			}
		}
	}
}

// L2 starts at a cache line in every panel, where kernels read it a vector at a time, and ends in its memory.
func TestPanelAlignment(t *testing.T) {
	for _, grid := range []struct{ p, q int }{{1, 1}, {2, 1}} {
		for _, nb := range []int{1, 7, 8, 30, 48} {
			cfg := Default(200)
			cfg.NB, cfg.P, cfg.Q, cfg.Workers = nb, grid.p, grid.q, 1
			require.NoError(t, local.Run(grid.p, func(c *mpi.Comm) error {
				g, err := newGrid(c, &cfg)
				require.NoError(t, err)
				s, err := newSolver(g, cfg, hooks{})
				require.NoError(t, err)
				p, err := s.newPanel(0)
				require.NoError(t, err)
				for k := range s.panels() {
					s.setPanel(p, k)
					if p.m2 > 0 {
						assert.Zero(t, uintptr(unsafe.Pointer(&p.l2[0]))%(8*lineWords), "NB %d, panel %d", nb, k)
						assert.Same(t, &p.l2[0], &p.memory[len(p.upper())])
					}
				}
				return errors.Join(p.free(), s.free())
			}))
		}
	}
}
