package deps

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// smallShapes returns every interval in the first 24 bytes of the arena, and
// every tile of at most 4 x 4 bytes with leading dimension up to 6 that starts
// in the first 9.
func smallShapes() (all []shape) {
	for from := range 24 {
		for n := range 25 - from {
			all = append(all, span(from, n))
		}
	}
	for from := range 9 {
		for rows := range 5 {
			for cols := range 5 {
				for ld := rows; ld <= 6; ld++ {
					all = append(all, block(from, rows, cols, ld))
				}
			}
		}
	}
	return append(all, handle(0), handle(1), handle(uintptr(unsafe.Pointer(&arena[0]))), shape{name: "zero"})
}

// Every pair of small shapes, against sets of bytes.
func TestOverlapsOfAllSmallShapes(t *testing.T) {
	all := smallShapes()
	t.Logf("%d shapes", len(all))
	for _, a := range all {
		for _, b := range all {
			if a.IsHandle() != b.IsHandle() && a.Overlaps(b.Region) {
				require.Fail(t, "a handle overlaps memory", "%v and %v", a, b)
			}
			if want := a.meets(b); a.Overlaps(b.Region) != want {
				require.Fail(t, "wrong", "%v overlaps %v: want %v", a, b, want)
			}
		}
	}
}

// If Contains reports true, it is right; false is wrong only for tiles of another leading
// dimension.
func TestContainsOfAllSmallShapes(t *testing.T) {
	all := smallShapes()
	for _, a := range all {
		for _, b := range all {
			got, want := a.Contains(b.Region), a.covers(b) && (!a.IsHandle() || !b.Empty()) || b.Empty()
			mayMiss := a.cols > 1 && b.cols > 1 && a.ld != b.ld
			if got != want && (got || !mayMiss) {
				require.Fail(t, "wrong", "%v contains %v: got %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestTilesOfOneMatrixAreDisjoint(t *testing.T) {
	const n, nb = 48, 8
	matrix := make([]float64, n*n)
	var tiles []Region
	for j := 0; j < n; j += nb {
		for i := 0; i < n; i += nb {
			r, err := Tile(unsafe.Pointer(&matrix[i+j*n]), nb, nb, n, 8)
			require.NoError(t, err)
			tiles = append(tiles, r)
		}
	}
	whole := Slice(matrix)
	for i, a := range tiles {
		assert.True(t, whole.Overlaps(a))
		assert.True(t, whole.Contains(a))
		assert.False(t, a.Contains(whole))
		for j, b := range tiles {
			assert.Equal(t, i == j, a.Overlaps(b), "tiles %d and %d", i, j)
			assert.Equal(t, i == j, a.Contains(b), "tiles %d and %d", i, j)
		}
	}
}

func TestTile(t *testing.T) {
	p := unsafe.Pointer(&arena[0])
	for _, c := range []struct {
		name           string
		base           unsafe.Pointer
		rows, cols, ld int
		size           uintptr
		want           Region
		err            string
	}{
		{name: "strided", base: p, rows: 2, cols: 3, ld: 5, size: 4, want: Region{base: uintptr(p), rows: 8, cols: 3, ld: 20}},
		{name: "full columns are an interval", base: p, rows: 4, cols: 3, ld: 4, size: 8, want: Bytes(p, 96)},
		{name: "one column is an interval", base: p, rows: 4, cols: 1, ld: 9, size: 8, want: Bytes(p, 32)},
		{name: "one column needs no leading dimension", base: p, rows: 4, cols: 1, ld: 0, size: 8, want: Bytes(p, 32)},
		{name: "no rows", base: p, rows: 0, cols: 3, ld: 4, size: 8},
		{name: "no columns", base: p, rows: 3, cols: 0, ld: 4, size: 8},
		{name: "elements without size", base: p, rows: 3, cols: 2, ld: 4, size: 0},
		{name: "nil", base: nil, rows: 3, cols: 2, ld: 4, size: 8},
		{name: "leading dimension too small", base: p, rows: 5, cols: 2, ld: 4, size: 8,
			err: "tile of 5 x 2 elements has leading dimension 4: it must be at least the number of rows, 5"},
		{name: "negative leading dimension", base: p, rows: 1, cols: 2, ld: -4, size: 8,
			err: "tile of 1 x 2 elements has leading dimension -4: it must be at least the number of rows, 1"},
		{name: "negative rows", base: p, rows: -1, cols: 2, ld: 4, size: 8, err: "tile of -1 x 2 elements: sizes must not be negative"},
		{name: "negative columns", base: p, rows: 1, cols: -2, ld: 4, size: 8, err: "tile of 1 x -2 elements: sizes must not be negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Tile(c.base, c.rows, c.cols, c.ld, c.size)
			if c.err != "" {
				require.EqualError(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, r)
		})
	}
}

func TestEmptyRegions(t *testing.T) {
	var nothing struct{}
	empty := []Region{
		{},
		Bytes(nil, 8),
		Bytes(unsafe.Pointer(&arena[0]), 0),
		Slice([]float64(nil)),
		Slice([]float64{}),
		Slice(make([]struct{}, 4)),
		Pointer[int](nil),
		Pointer(&nothing),
	}
	some := span(0, 64).Region
	for i, r := range empty {
		assert.True(t, r.Empty(), "case %d", i)
		assert.Equal(t, Region{}, r, "case %d: all empty regions are equal", i)
		assert.False(t, r.Overlaps(r), "case %d", i)
		assert.False(t, r.Overlaps(some), "case %d", i)
		assert.False(t, some.Overlaps(r), "case %d", i)
		assert.True(t, some.Contains(r), "case %d", i)
		assert.False(t, r.Contains(some), "case %d", i)
	}
}

func TestRegionOfGoValues(t *testing.T) {
	s := make([]int32, 10, 20)
	assert.Equal(t, Bytes(unsafe.Pointer(&s[0]), 40), Slice(s), "a slice reaches to its length")
	assert.Equal(t, Bytes(unsafe.Pointer(&s[2]), 12), Slice(s[2:5]))
	assert.Equal(t, Bytes(unsafe.Pointer(&s[3]), 4), Pointer(&s[3]))
	assert.True(t, Slice(s[:5]).Overlaps(Pointer(&s[4])))
	assert.False(t, Slice(s[:5]).Overlaps(Pointer(&s[5])))
	assert.Equal(t, uintptr(unsafe.Pointer(&s[0])), Slice(s).Base())
}

func TestColumns(t *testing.T) {
	columns := func(s shape) string { return fmt.Sprint(s.Columns()) }
	assert.Equal(t, "3 2 7", columns(block(1, 2, 3, 7)))
	assert.Equal(t, "1 12 0", columns(block(1, 4, 3, 4)))
	assert.Equal(t, "1 5 0", columns(span(3, 5)))
	assert.Equal(t, "0 0 0", columns(handle(7)), "a handle has no bytes")
	assert.Equal(t, "0 0 0", columns(shape{}))
}

func TestRegionString(t *testing.T) {
	assert.Equal(t, "[0x1000 +24 B]", Region{base: 0x1000, rows: 24, cols: 1}.String())
	assert.Equal(t, "[0x1000 3 x 16 B, stride 40 B]", Region{base: 0x1000, rows: 16, cols: 3, ld: 40}.String())
	assert.Equal(t, "[handle 7]", Handle(7).String())
	assert.Equal(t, "[empty]", Region{}.String())
}

func TestModeString(t *testing.T) {
	var names []string
	for m := None; m <= Lazy+1; m++ {
		names = append(names, m.String())
	}
	assert.Equal(t, []string{"none", "in", "out", "inout", "concurrent", "commutative", "reduction", "lazy", "invalid mode"}, names)
	assert.False(t, None.Writes())
	assert.False(t, In.Writes())
	assert.False(t, Lazy.Writes())
	for m := Out; m <= Reduction; m++ {
		assert.True(t, m.Writes(), m.String())
	}
}

// growStack makes the runtime move the stack of the goroutine.
//
//go:noinline
func growStack(n int) int {
	var pad [512]byte
	if n == 0 {
		return int(pad[n])
	}
	return growStack(n-1) + int(pad[n%512])
}

// The region of a variable stays right when the stack moves.
func TestRegionOfLocalVariable(t *testing.T) {
	for name, region := range map[string]func(grow func()) (before, after Region){
		"Pointer": func(grow func()) (Region, Region) {
			var x [3]int
			r := Pointer(&x)
			grow()
			return r, Pointer(&x)
		},
		"Slice": func(grow func()) (Region, Region) {
			x := make([]int, 5)
			r := Slice(x)
			grow()
			return r, Slice(x)
		},
		"Bytes": func(grow func()) (Region, Region) {
			var x int64
			r := Bytes(unsafe.Pointer(&x), 8)
			grow()
			return r, Bytes(unsafe.Pointer(&x), 8)
		},
		"Tile": func(grow func()) (Region, Region) {
			var x [64]byte
			r, _ := Tile(unsafe.Pointer(&x), 4, 4, 8, 1)
			grow()
			s, _ := Tile(unsafe.Pointer(&x), 4, 4, 8, 1)
			return r, s
		},
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan [2]Region)
			go func() { // a fresh stack is small
				before, after := region(func() { growStack(1000) })
				done <- [2]Region{before, after}
			}()
			r := <-done
			assert.Equal(t, r[0], r[1])
		})
	}
}
