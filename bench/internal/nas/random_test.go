package nas

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first numbers, and the sum over class S, of independent programs.
func TestRandom_golden(t *testing.T) {
	r := Random(Seed)
	for i, want := range []float64{0.79452191118873827, 0.86906527387453991, 0.64763172846433292, 0.78556265022895388, 0.017765972698342125, 0.39153091444508448} {
		assert.Equal(t, want, r.Float64(), "number %d", i+1)
	}
	r = Random(Seed)
	r.Float64()
	assert.EqualValues(t, 55909509111989, r)
	r.Float64()
	assert.EqualValues(t, 61155031930969, r)

	c, err := Named("S")
	require.NoError(t, err)
	x := make([]complex128, c.Points())
	c.Fill(x, 0)
	var sum complex128
	for _, v := range x {
		sum += v
	}
	assert.InDelta(t, 130910.345804129, real(sum), 1e-6)
	assert.InDelta(t, 130852.659011472, imag(sum), 1e-6)
}

func TestSkip(t *testing.T) {
	step := Random(Seed)
	for n := range 300 {
		jump := Random(Seed)
		jump.Skip(n)
		require.Equal(t, step, jump, "after %d", n)
		step.Float64()
	}
	a, b := Random(Seed), Random(Seed)
	a.Skip(1 << 38)
	b.Skip(1<<38 - 12345)
	b.Skip(12345)
	assert.Equal(t, a, b)
}

// Any part of the grid, of any length, has the numbers that the generator makes one
// after another.
func TestFill_in_parts(t *testing.T) {
	c := custom(31, 7, 5)
	want := make([]complex128, c.Points())
	r := Random(Seed)
	for i := range want {
		re := r.Float64()
		want[i] = complex(re, r.Float64())
	}
	for _, part := range []int{1, 2, 3, 4, 5, 7, 8, 16, 100, c.Points()} {
		got := make([]complex128, c.Points())
		for at := 0; at < len(got); at += part {
			c.Fill(got[at:min(at+part, len(got))], at)
		}
		require.Equal(t, want, got, "parts of %d", part)
	}
	in := newInitial(c)
	for _, part := range []int{1, 2, 5, 8, 31} {
		got := make([]complex128, c.Points())
		for row := range c.NY * c.NZ {
			for x := 0; x < c.NX; x += part {
				in.row(got[row*c.NX+x:row*c.NX+min(x+part, c.NX)], x, row%c.NY, row/c.NY)
			}
		}
		require.Equal(t, want, got, "parts of rows of %d", part)
	}
	c.Seed++
	got := make([]complex128, c.Points())
	c.Fill(got, 0)
	assert.NotEqual(t, want, got, "another seed")
}

func BenchmarkFill(b *testing.B) {
	c, _ := Named("A")
	x := make([]complex128, 1<<14)
	b.SetBytes(int64(16 * len(x)))
	for b.Loop() {
		c.Fill(x, 12345)
	}
}
