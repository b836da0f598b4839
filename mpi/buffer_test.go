package mpi_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// model is a buffer as a list of indices of a slice.
func model(blocks, block, stride int) (at []int) {
	for i := range blocks {
		for j := range block {
			at = append(at, i*stride+j)
		}
	}
	return at
}

func count(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i)
	}
	return x
}

// elements returns the elements of a buffer of int32, packed.
func elements(b mpi.Buffer) []int32 {
	x := make([]int32, b.Len())
	mpi.Copy(mpi.Of(x), b)
	return x
}

func TestBufferLayouts(t *testing.T) {
	x := count(40)
	for blocks := range 5 {
		for block := range 5 {
			for stride := block; stride < 8; stride++ {
				b := mpi.Strided(x, blocks, block, stride)
				require.NoError(t, b.Err())
				at := model(blocks, block, stride)
				require.Equal(t, len(at), b.Len())
				require.Equal(t, 4*len(at), b.Bytes())
				require.Equal(t, 4, b.ElemSize())
				require.Equal(t, engine.KindInt32, b.Kind())
				require.Equal(t, len(at) == 0 || blocks == 1 || stride == block, b.Contiguous())
				for i, v := range elements(b) {
					require.EqualValues(t, at[i], v)
				}
				if nb, n, s := b.Layout(); len(at) > 0 {
					require.Equal(t, at, model(nb, n, s))
				}
			}
		}
	}
}

func TestBufferShorthands(t *testing.T) {
	x := count(12)
	require.Equal(t, x, elements(mpi.Of(x)))
	require.Equal(t, []int32{7}, elements(mpi.One(&x[7])))
	require.Equal(t, []int32{1, 2, 5, 6, 9, 10}, elements(mpi.Tile(x[1:], 2, 3, 4)))
	var none mpi.Buffer
	require.NoError(t, none.Err())
	require.Zero(t, none.Len())
	require.Zero(t, none.Part(0, 0).Bytes())
	require.True(t, mpi.InPlace.IsInPlace())
	require.False(t, none.IsInPlace())
	require.Len(t, mpi.Of(x[:3]).Memory(), 12)
	require.Panics(t, func() { mpi.Strided(x, 2, 1, 2).Memory() })
	room := make([]byte, 8)
	raw := mpi.Raw(mpi.Of(room).Pointer(), 8, mpi.Strided(x, 3, 1, 2))
	require.Equal(t, engine.KindInt32, raw.Kind())
	require.Equal(t, 2, raw.Len())
	require.True(t, raw.Contiguous())
}

func TestBufferErrors(t *testing.T) {
	const huge = math.MaxInt/2 + 1 // whose sums overflow
	x := count(10)
	for text, b := range map[string]mpi.Buffer{
		"-1 blocks of 2 elements: a count is negative":                            mpi.Strided(x, -1, 2, 2),
		"2 blocks of -2 elements: a count is negative":                            mpi.Strided(x, 2, -2, 2),
		"blocks of 3 elements at a stride of 2 overlap":                           mpi.Strided(x, 2, 3, 2),
		"1 blocks of 11 elements at a stride of 11 do not fit into a slice of 10": mpi.Strided(x, 1, 11, 11),
		"4 blocks of 2 elements at a stride of 3 do not fit into a slice of 10":   mpi.Tile(x, 2, 4, 3),
		fmt.Sprintf("%d blocks of 1 elements at a stride of 4 do not fit", huge):  mpi.Strided(x, huge, 1, 4),
		fmt.Sprintf("2 blocks of %d elements at a stride of %d", huge, huge):      mpi.Strided(x, 2, huge, huge),
		"type []int contains a pointer ([]int)":                                   mpi.Of([][]int{{1}}),
		"contains a pointer (field B: string)": mpi.Of([]struct {
			A int
			B string
		}{{}}),
	} {
		require.ErrorContains(t, b.Err(), text)
	}
	require.NoError(t, mpi.Strided(x, 3, 1, 4).Err(), "negative control: it ends with the slice")
	require.NoError(t, mpi.Strided(x, 3, 2, 4).Err())
}

func TestPart(t *testing.T) {
	x := count(60)
	require.Equal(t, []int32{4, 5, 6}, elements(mpi.Of(x).Part(4, 3)))
	b := mpi.Strided(x, 5, 3, 10)
	require.Equal(t, []int32{10, 11, 12, 20, 21, 22}, elements(b.Part(3, 6)))
	require.Equal(t, []int32{40, 41, 42}, elements(b.Part(12, 3)))
	require.True(t, b.Part(12, 3).Contiguous())
	require.Zero(t, b.Part(15, 0).Len())
	require.Panics(t, func() { b.Part(1, 3) })
	require.Panics(t, func() { b.Part(3, 1) })
	require.Panics(t, func() { b.Part(12, 6) })
	require.Panics(t, func() { b.Part(-3, 3) })
	require.Equal(t, mpi.Of(x).Pointer(), mpi.Of(x).Part(60, 0).Pointer(), "no pointer may lie behind the memory")
}

// A buffer must not keep the next object alive: the runtime stops the program if a pointer
// leads to a free object.
func TestEmptyPartsAtTheEnd(t *testing.T) {
	var parts []mpi.Buffer
	for range 1000 {
		x := make([]int64, 16)
		parts = append(parts, mpi.Of(x).Part(16, 0))
	}
	runtime.GC()
	for _, p := range parts {
		require.Zero(t, p.Len())
	}
}

func FuzzCopy(f *testing.F) {
	f.Add(uint64(1))
	f.Add(uint64(2))
	f.Fuzz(func(t *testing.T, seed uint64) { copyRandomly(t, seed) })
}

func TestCopy(t *testing.T) {
	for seed := range uint64(500) {
		copyRandomly(t, seed)
	}
}

// copyRandomly compares Copy and CopyPart between two random layouts with a loop over the
// elements.
func copyRandomly(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	layout := func() (b mpi.Buffer, x []int32, at []int) {
		blocks, block := r.IntN(6), r.IntN(6)
		stride := block + r.IntN(3)
		x = make([]int32, 60)
		for i := range x {
			x[i] = r.Int32()
		}
		return mpi.Strided(x, blocks, block, stride), x, model(blocks, block, stride)
	}
	dst, d, dat := layout()
	src, s, sat := layout()
	n := min(len(dat), len(sat))
	want := slices.Clone(d)
	for i := range n {
		want[dat[i]] = s[sat[i]]
	}
	whole := slices.Clone(d)
	require.Equal(t, 4*n, mpi.Copy(dst, src))
	require.Equal(t, want, d)
	copy(d, whole)
	for at := 0; at < 4*n; { // in pieces that divide elements
		k := 1 + r.IntN(4*n-at)
		mpi.CopyPart(dst, src, at, k)
		at += k
	}
	require.Equal(t, want, d)
}

func TestBuffersDoNotAllocate(t *testing.T) {
	x, y := count(100), count(100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a, b := mpi.Of(x), mpi.Strided(y, 10, 5, 10)
		mpi.Copy(a, b)
		_ = a.Part(10, 10).Bytes()
		_ = mpi.One(&x[3]).Err()
	}))
}
