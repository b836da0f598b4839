package tasks

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/invariant"
)

// viewOf is an Output of all elements of x.
func viewOf[T any](x []T) *view {
	return &view{role: roleOut, region: deps.Slice(x), base: unsafe.Pointer(unsafe.SliceData(x)), layout: layoutOf(reflect.TypeFor[T]()), seed: 77}
}

// tileView is the view of a tile of x.
func tileView[T any](x []T, rows, cols, ld int) *view {
	w := viewOf(x)
	w.region, _ = Tile[T]{Data: x, Rows: rows, Cols: cols, LD: ld}.regionErr()
	return w
}

// checkMarks marks a view of x, under both patterns, and removes the marks.
func checkMarks[T any](t *testing.T, parts int, x ...T) {
	t.Run(fmt.Sprintf("%T", x), func(t *testing.T) {
		old := append([]T{}, x...)
		w := viewOf(x)
		for _, other := range []bool{false, true} {
			w.save()
			w.mark(other)
			n := 0
			w.leaves(func(p unsafe.Pointer, l *leaf, i uint64) {
				n++
				assert.True(t, l.is(p, l.bits(w.seed, i, other)))
				if l.kind != leafPointer && l.kind != leafBool {
					assert.NotEqual(t, l.bits(w.seed, i, true), l.bits(w.seed, i, false))
				}
				if l.kind != leafInt && l.kind != leafFloat32 && l.kind != leafFloat64 {
					assert.False(t, l.derived(p))
				}
			})
			assert.Equal(t, parts*len(x), n)
			result := w.tally()
			assert.Equal(t, n, result.all)
			assert.Equal(t, n, result.left)
			left, read := result.verdict()
			assert.True(t, left)
			assert.False(t, read)
			w.unmark()
			assert.Equal(t, old, x, "all of it is back")
		}
	})
}

// Every part of an element gets a mark of its kind, which is found again and removed.
func TestView_marks(t *testing.T) {
	many := func() (x []int8) { return append(make([]int8, 60), 1, 2, 3) }
	checkMarks(t, 1, many()...)
	checkMarks(t, 1, uint16(1), 2, 3, 4, 5, 6)
	checkMarks(t, 1, int32(1), 2, 3, 4)
	checkMarks(t, 1, 1, 2, 3)
	checkMarks(t, 1, 1.5, math.Inf(1), -2)
	checkMarks(t, 1, float32(1.5), -7, 0)
	checkMarks(t, 1, true, false, true)
	checkMarks(t, 2, complex(1, 2), complex(3, 4))
	checkMarks(t, 2, complex64(complex(1, 2)), complex64(complex(3, 4)))
	checkMarks(t, 1, "a", "", "c")
	checkMarks(t, 1, new(int), nil)
	checkMarks(t, 1, any(1), any("x"), nil)
	checkMarks(t, 3, [3]float64{1, 2, 3}, [3]float64{4, 5, 6})
	type mixed struct {
		a int64
		_ int32
		b float32
		s string
		c [2]bool
	}
	checkMarks(t, 5, mixed{a: 1, b: 2, s: "s"}, mixed{a: 5, c: [2]bool{true, false}})
}

// The other marks of floats are very large numbers of either sign.
func TestView_other_marks_of_floats(t *testing.T) {
	f64, f32 := &leaf{kind: leafFloat64, size: 8}, &leaf{kind: leafFloat32, size: 4}
	for i := range uint64(4) {
		sign := 1 - 2*int(1-i%2)
		x, y := math.Float64frombits(f64.bits(1, i, true)), float64(math.Float32frombits(uint32(f32.bits(1, i, true))))
		assert.Greater(t, x*float64(sign), 1e299)
		assert.Greater(t, y*float64(sign), 1e36)
		assert.False(t, math.IsInf(x, 0) || math.IsInf(y, 0))
	}
	assert.True(t, math.IsNaN(math.Float64frombits(f64.bits(1, 1, false))))
	assert.True(t, math.IsNaN(float64(math.Float32frombits(uint32(f32.bits(1, 1, false))))))
}

// Types that contain locks and atomic variables get no marks.
func TestLayout_of_what_synchronizes(t *testing.T) {
	assert.True(t, synchronizes(reflect.TypeFor[sync.Mutex]()))
	assert.True(t, synchronizes(reflect.TypeFor[atomic.Int64]()))
	assert.False(t, synchronizes(reflect.TypeFor[deps.Region]()))
	assert.Nil(t, layoutOf(reflect.TypeFor[struct {
		mu sync.Mutex
		x  int
	}]()))
	assert.Nil(t, layoutOf(reflect.TypeFor[struct{ x [maxLeaves + 1]int }]()), "too many parts")
	assert.NotNil(t, layoutOf(reflect.TypeFor[struct{ x [maxLeaves]int }]()))
}

// A part that shares a byte with another view gets no mark; its neighbours do.
func TestView_shared(t *testing.T) {
	x := make([]byte, 32)
	at := func(i int) unsafe.Pointer { return unsafe.Pointer(&x[i]) }
	w := viewOf(x)
	w.share(viewOf(x[8:16]))
	require.Len(t, w.shared, 1)
	for _, c := range []struct {
		from, size int
		shared     bool
	}{{0, 8, false}, {1, 8, true}, {8, 1, true}, {15, 1, true}, {15, 8, true}, {16, 8, false}, {4, 16, true}} {
		assert.Equal(t, c.shared, w.isShared(at(c.from), uintptr(c.size)), "%d bytes from %d", c.size, c.from)
	}
	w.share(viewOf(make([]byte, 4)))
	assert.Len(t, w.shared, 1, "elsewhere")
}

// A verifier knows which of its views overlap, in any byte.
func TestVerifier_share(t *testing.T) {
	x := make([]byte, 64)
	tile := tileView(x, 4, 8, 8) // bytes 0 to 3 of each eight
	column, between, apart := viewOf(x[58:60]), viewOf(x[12:16]), viewOf(make([]byte, 8))
	v := &verifier{views: []view{*column, *apart, *between, *tile}}
	v.share()
	for i := range v.views {
		w := &v.views[i]
		switch w.base {
		case tile.base:
			assert.Equal(t, []span{{uintptr(column.base), uintptr(column.base) + 2}}, w.shared)
		case column.base:
			assert.Len(t, w.shared, 8, "the columns of the tile")
		default:
			assert.Empty(t, w.shared)
		}
	}
}

// A repeated save keeps the present content.
func TestView_save_again(t *testing.T) {
	x := []float64{1, 2, 3}
	w := viewOf(x)
	w.save()
	x[1] = 7
	w.save()
	assert.Len(t, w.bytes, 24)
	x[0], x[1] = 5, 5
	w.restore()
	assert.Equal(t, []float64{1, 7, 3}, x)
}

// The common pieces of a view and a region, byte by byte.
func TestView_overlap(t *testing.T) {
	x := make([]byte, 64)
	for i := range x {
		x[i] = byte(i)
	}
	views := map[string]*view{"interval": viewOf(x[8:40]), "tile": tileView(x[8:], 3, 4, 8), "column": tileView(x[8:], 3, 1, 8)}
	for name, w := range views {
		inside := map[byte]uintptr{}
		i := uintptr(0)
		w.columns(func(piece []byte) {
			for _, b := range piece {
				inside[b] = i
				i++
			}
		})
		for from := range 64 {
			for size := 1; from+size <= 64; size++ {
				want := map[byte]uintptr{}
				for _, b := range x[from : from+size] {
					if at, ok := inside[b]; ok {
						want[b] = at
					}
				}
				got := map[byte]uintptr{}
				w.overlap(deps.Slice(x[from:from+size]), func(at uintptr, piece []byte) {
					for k, b := range piece {
						got[b] = at + uintptr(k)
					}
				})
				require.Equal(t, want, got, "%s and [%d,%d)", name, from, from+size)
			}
		}
	}
}

// Memory that cannot be read is not checked.
func TestView_readable(t *testing.T) {
	assert.True(t, viewOf([]byte{1}).readable())
	p := nowhere(t)
	assert.False(t, (&view{region: deps.Bytes(p, 8), base: p}).readable())
}

// nowhere returns an address without memory.
func nowhere(t *testing.T) unsafe.Pointer {
	t.Helper()
	if invariant.Race {
		t.Skip("the race detector ends a program that makes such an address")
	}
	return unsafe.Add(unsafe.Pointer(nil), 64)
}

// The role of each access, and whether the body may run twice.
// The elements of a region of a type of the program's are found in the slice that has them, at
// its ends as well.
func TestLocate(t *testing.T) {
	type block struct {
		Name string
		X    []float64
	}
	b := &block{X: make([]float64, 5)}
	for _, part := range [][]float64{b.X, b.X[:2], b.X[1:3], b.X[4:]} {
		assert.Equal(t, reflect.TypeFor[float64](), locate(reflect.ValueOf(b), deps.Slice(part), 3))
	}
	assert.Nil(t, locate(reflect.ValueOf(b), deps.Slice(make([]float64, 5)), 3))
	assert.Nil(t, locate(reflect.ValueOf(b), deps.Slice(b.X), 1), "too deep")
}

// A region is looked at by the type of the elements that fill it; a piece that several fields
// share, or that cuts one, has none.
func TestWithin(t *testing.T) {
	type pair struct {
		A, B int32
		C    [2]float64
	}
	of, at := reflect.TypeFor[pair](), uintptr(1<<20)
	for _, c := range []struct {
		from, length uintptr
		want         reflect.Type
	}{
		{0, 24, of}, {24, 48, of}, {0, 4, reflect.TypeFor[int32]()}, {4, 4, reflect.TypeFor[int32]()}, {24 + 4, 4, reflect.TypeFor[int32]()},
		{8, 16, reflect.TypeFor[[2]float64]()}, {16, 8, reflect.TypeFor[float64]()}, {24 + 8, 8, reflect.TypeFor[float64]()},
		{0, 8, nil}, {4, 8, nil}, {2, 2, nil}, {12, 8, nil}, {12, 24, nil},
	} {
		assert.Equal(t, c.want, within(of, at, at+c.from, c.length), "%d bytes at %d", c.length, c.from)
	}
	assert.Nil(t, within(reflect.TypeFor[struct{}](), at, at, 0))
	odd := reflect.TypeFor[struct {
		A int32
		B [3]int32
	}]()
	assert.Equal(t, reflect.TypeFor[[3]int32](), within(odd, at, at+4, 12))
}

func TestVerifier_roles(t *testing.T) {
	x, any1 := []float64{1}, []any{1}
	sum := Reduction(0.0, func(dst, src []float64) {}).access()
	for _, c := range []struct {
		acc   Access
		role  role
		again bool
	}{
		{Input, roleIn, true}, {Output, roleOut, true}, {Inout, roleUpdate, true}, {Concurrent, roleUpdate, true}, {Commutative, roleUpdate, true},
		{Weak(Input), roleLeave, false}, {Weak(Output), roleLeave, false}, {Weak(Inout), roleLeave, false},
		{Weak(Concurrent), roleUpdate, false}, {Weak(Commutative), roleUpdate, false}, {Weak(sum), roleUpdate, false},
	} {
		v := &verifier{again: true}
		v.view(*viewOf(x), c.acc.access())
		require.Len(t, v.views, 1)
		assert.Equal(t, c.role, v.views[0].role, "%+v", c.acc)
		assert.Equal(t, c.again, v.again, "%+v", c.acc)
		v.view(*viewOf(x), Input.access())
		assert.Equal(t, c.again, v.again, "once no, never yes")
	}
	v := &verifier{again: true}
	v.view(*viewOf(x), sum)
	v.view(*viewOf(x[:0]), Inout.access())
	v.view(view{region: deps.Handle(1)}, Inout.access())
	assert.Empty(t, v.views, "nothing to look at")
	v.view(*viewOf(any1), Input.access())
	assert.True(t, v.again)
	v.view(*viewOf(any1), Inout.access())
	assert.False(t, v.again, "it has pointers")
}

// A Value slice has roleLeave.
func TestVerifier_addValue(t *testing.T) {
	p, err := newParam(reflect.TypeFor[[]float64](), Value, 2, 0)
	require.NoError(t, err)
	v, x := &verifier{}, make([]float64, 3)
	v.addValue(&p, unsafe.Pointer(&x))
	require.Len(t, v.views, 1)
	assert.True(t, v.views[0].value && v.views[0].role == roleLeave && v.views[0].name == "parameter 3")
	assert.Equal(t, deps.Slice(x), v.views[0].region)
	x = nil
	v.addValue(&p, unsafe.Pointer(&x))
	assert.Len(t, v.views, 1)
	x = make([]float64, maxValue)
	v.addValue(&p, unsafe.Pointer(&x))
	assert.Equal(t, deps.Slice(x[:maxValue/8]), v.views[1].region)
}

// An outcome has the values of outputs, which may be marks, and then of updates, which
// cannot; two outcomes are the same if they differ only in marks.
func TestVerifier_outcome(t *testing.T) {
	out, update := []int64{0, 0, 0}, []int64{8, 9}
	v := &verifier{views: []view{*viewOf(update), *viewOf(out)}}
	v.views[0].role = roleUpdate
	v.views[1].save()
	v.views[1].mark(false)
	out[1] = 5
	first := v.outcome()
	assert.Equal(t, []bool{true, false, true, false, false}, first.left)
	assert.Equal(t, []int64{5, 8, 9}, []int64{int64(first.values[1]), int64(first.values[3]), int64(first.values[4])})
	v.views[1].mark(true)
	out[1] = 5
	second := v.outcome()
	assert.True(t, first.same(second))
	update[0]++
	assert.False(t, first.same(v.outcome()))

	v.unwritten(first, second)
	require.Len(t, v.errs, 1)
	assert.ErrorContains(t, v.errs[0], "left 2 of its 3 values unwritten")
}

// One float mark left is proof; integers need the given bits of evidence.
func TestTally_verdict(t *testing.T) {
	left, read := (&tally{sure: true}).verdict()
	assert.True(t, left && !read)
	left, read = (&tally{leftBits: evidence{sum: sure}}).verdict()
	assert.True(t, left && !read)
	left, read = (&tally{leftBits: evidence{sum: sure - 1}, readBits: evidence{sum: sure - 1}, near: 3}).verdict()
	assert.False(t, left || read)
	left, read = (&tally{readBits: evidence{sum: sure}, near: 3}).verdict()
	assert.True(t, read && !left)
}

// Nearness is full for equal numbers, falls by a bit for each doubling of the distance, to
// either side, and ends at half the bits.
func TestTally_nearness(t *testing.T) {
	assert.Equal(t, 64., nearness(0, 64))
	assert.Equal(t, 16., nearness(0, 16))
	assert.Equal(t, nearness(5, 32), nearness(^uint64(4), 32))
	assert.InDelta(t, 32-math.Log2(3), nearness(1, 32), 1e-9)
	assert.InDelta(t, 1, nearness(1000, 64)-nearness(2000, 64), 1e-2)
	assert.Positive(t, nearness(1<<31, 64))
	assert.Zero(t, nearness(1<<32, 64))
}

// Memory of unknown type is checked if it can be read, and not restored for a second run.
func TestVerifier_unknown_type(t *testing.T) {
	x := make([]byte, 8)
	p := nowhere(t)
	v := &verifier{again: true}
	v.view(view{region: deps.Slice(x)}, Input.access())
	assert.True(t, v.again)
	v.view(view{region: deps.Slice(x)}, Inout.access())
	assert.False(t, v.again)
	v.view(view{region: deps.Bytes(p, 8)}, Inout.access())
	assert.Len(t, v.views, 2)
	v.views[1].role = roleOut
	v.Before()
	assert.False(t, v.views[1].marked, "what a mark would be is not known")
	assert.NoError(t, v.After(false))
}

// Before saves the start of a second run, if there may be one.
func TestVerifier_Before(t *testing.T) {
	for _, again := range []bool{false, true} {
		v := &verifier{again: again}
		v.view(*viewOf([]float64{1}), Inout.access())
		v.view(*viewOf([]float64{1}), Output.access())
		v.Before()
		assert.Equal(t, again, len(v.views[0].bytes) == 8)
		assert.True(t, v.views[1].marked)
	}
}

// The body may write an Input if another access allows it; a Value slice does not.
func TestVerifier_written(t *testing.T) {
	x := make([]byte, 8)
	for _, c := range []struct {
		other   Access
		part    []byte
		written bool
	}{{Output, x[4:], true}, {Inout, x[:1], true}, {Concurrent, x, true}, {Weak(Inout), x, true}, {Input, x, false}, {Inout, make([]byte, 8), false}} {
		v := &verifier{}
		v.view(*viewOf(x), Input.access())
		v.view(*viewOf(c.part), c.other.access())
		assert.Equal(t, c.written, v.written(&v.views[0]), "%+v", c.other)
	}
	value := viewOf(x)
	value.role, value.value = roleLeave, true
	v := &verifier{views: []view{*viewOf(x), *value}}
	v.views[0].role = roleIn
	assert.False(t, v.written(&v.views[0]))
}

// A second run detects a body whose results depend on its outputs, and accepts right and
// random ones.
func TestVerifier_second_run(t *testing.T) {
	in, out, calls := []int64{3, 4}, make([]int64, 2), 0
	run := func(body func()) (int, error) {
		calls = 0
		out[0], out[1] = 1, 2
		v := &verifier{again: true}
		v.view(*viewOf(in), Input.access())
		v.view(*viewOf(out), Output.access())
		v.Before()
		err := v.Run(func() error { calls++; body(); return nil })
		assert.NoError(t, err)
		return calls, v.After(false)
	}
	n, err := run(func() { out[0], out[1] = in[0], in[1] })
	assert.NoError(t, err)
	assert.Equal(t, 2, n)
	n, err = run(func() { out[0], out[1] = max(0, min(out[0], 1)), 7 })
	assert.ErrorContains(t, err, "depend on its old content")
	assert.Greater(t, n, 2)
	_, err = run(func() { out[0], out[1] = int64(calls), 7 })
	assert.NoError(t, err, "it is random, whatever was there")
}

// A function that refers to a variable of its environment captures it.
func TestCaptures(t *testing.T) {
	plain, n := func() {}, 0
	closure := func() { n++ }
	closure()
	assert.Equal(t, unsafe.Sizeof(uintptr(0)) < 8, captures(unsafe.Pointer(&plain)))
	assert.True(t, captures(unsafe.Pointer(&closure)))
	plain = nil
	assert.True(t, captures(unsafe.Pointer(&plain)))
}

// Arithmetic with a mark gives a recognizable result.
func TestLeaf_derived(t *testing.T) {
	x, y := math.Float64frombits(mark64), math.Float32frombits(mark32)
	f64, f32 := &leaf{kind: leafFloat64, size: 8}, &leaf{kind: leafFloat32, size: 4}
	assert.False(t, f64.derived(unsafe.Pointer(&x)) || f32.derived(unsafe.Pointer(&y)), "the mark itself")
	x, y = -(x + 1), -(y + 1)
	assert.True(t, f64.derived(unsafe.Pointer(&x)) && f32.derived(unsafe.Pointer(&y)))
	x, y = math.NaN(), float32(math.NaN())
	assert.False(t, f64.derived(unsafe.Pointer(&x)) || f32.derived(unsafe.Pointer(&y)), "another NaN")
}

// The first finding costs the logarithm of the places, each further one also a choice.
func TestEvidence(t *testing.T) {
	var e evidence
	e.add(20, 4)
	assert.Equal(t, evidence{sum: 16, n: 1}, e)
	e.add(20, 4)
	assert.Equal(t, evidence{sum: 29, n: 2}, e)
	e.add(7, 4)
	assert.Equal(t, evidence{sum: 29, n: 2}, e, "worth nothing")
}
