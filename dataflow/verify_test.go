package dataflow_test

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// verifying runs a program in verify mode and returns what Wait does.
func verifying(t *testing.T, body func(*dataflow.Runtime)) (err error) {
	t.Helper()
	require.NoError(t, run(t, func(rt *dataflow.Runtime) error {
		body(rt)
		err = rt.Wait()
		return nil
	}, dataflow.Verify()))
	return err
}

// reported checks that err is one report with these parts, that names the task.
func reported(t *testing.T, err error, name string, parts ...string) {
	t.Helper()
	require.Error(t, err)
	e := single(t, err)
	assert.Equal(t, name, e.Label)
	assert.Equal(t, "verify_test.go", filepath.Base(e.File))
	contains(t, err.Error(), append(parts, "verify: ", "spawned at", "verify_test.go:")...)
}

type pair struct {
	A int32
	B float32
}

// faults are bodies over a slice of any type that hold to their declaration as
// Output, or break it.
type faults[T any] struct {
	set      func(x *T)          // an ordinary write
	use      func(x *T)          // a read and a write; nil if the type cannot show it
	write    *tasks.Task1[[]T]   // writes everything
	never    *tasks.Task1[[]T]   // writes nothing
	partly   *tasks.Task1[[]T]   // leaves the last element
	reads    *tasks.Task1[[]T]   // reads the first element before it writes everything
	input    *tasks.Task1[[]T]   // writes to an Input
	each     *tasks.Task1[[][]T] // leaves one of several slices
	tile     *tasks.Task1[tasks.Tile[T]]
	holes    *tasks.Task1[tasks.Tile[T]] // leaves one element of a tile
	buffer   *tasks.Task1[*tasks.Buffer[T]]
	pointer  *tasks.Task1[*T]
	pointers *tasks.Task1[*T]
}

func declareFaults[T any](set, use func(*T)) faults[T] {
	all := func(x []T) {
		for i := range x {
			set(&x[i])
		}
	}
	return faults[T]{
		set: set, use: use,
		write:  tasks.Declare1("write", all, tasks.Output),
		never:  tasks.Declare1("never", func([]T) {}, tasks.Output),
		partly: tasks.Declare1("partly", func(x []T) { all(x[:len(x)-1]) }, tasks.Output),
		reads: tasks.Declare1("reads", func(x []T) {
			use(&x[0])
			all(x[1:])
		}, tasks.Output),
		input: tasks.Declare1("input", func(x []T) { set(&x[len(x)/2]) }, tasks.Input),
		each: tasks.Declare1("each", func(xs [][]T) {
			for _, x := range xs[1:] {
				all(x)
			}
		}, tasks.Each(tasks.Output)),
		tile: tasks.Declare1("tile", func(a tasks.Tile[T]) {
			for j := range a.Cols {
				all(a.Col(j))
			}
		}, tasks.Output),
		holes: tasks.Declare1("holes", func(a tasks.Tile[T]) {
			for j := range a.Cols {
				all(a.Col(j)[min(j, 1):])
			}
		}, tasks.Output),
		buffer:   tasks.Declare1("buffer", func(b *tasks.Buffer[T]) { all(b.Slice()[1:]) }, tasks.Output),
		pointer:  tasks.Declare1("pointer", func(x *T) { set(x) }, tasks.Output),
		pointers: tasks.Declare1("pointers", func(x *T) {}, tasks.Output),
	}
}

func testFaults[T any](t *testing.T, f faults[T], exact bool) {
	const n = 6
	fresh := func() []T {
		x := make([]T, n)
		for i := range x {
			f.set(&x[i])
		}
		return x
	}
	t.Run("right", func(t *testing.T) {
		x := fresh()
		want := fresh()
		assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { f.write.Spawn(rt, x) }))
		assert.Equal(t, want, x)
		matrix := make([]T, 20)
		assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) {
			f.tile.Spawn(rt, tasks.Tile[T]{Data: matrix, Rows: 3, Cols: 4, LD: 5})
			f.pointer.Spawn(rt, &x[0])
			f.write.Spawn(rt, nil)
		}))
		var zero T
		assert.Equal(t, zero, matrix[3], "outside the tile")
		assert.Equal(t, want[0], matrix[2])
	})
	t.Run("never written", func(t *testing.T) {
		x := fresh()
		err := verifying(t, func(rt *dataflow.Runtime) { f.never.Spawn(rt, x) })
		reported(t, err, "never", "parameter 1", "never wrote to it", fmt.Sprintf("[%p", &x[0]))
		if _, isByte := any(x[0]).(byte); isByte {
			return // one byte is no evidence, and this body cannot be run twice
		}
		err = verifying(t, func(rt *dataflow.Runtime) { f.pointers.Spawn(rt, &x[1]) })
		reported(t, err, "pointers", "never wrote to it", fmt.Sprintf("[%p", &x[1]))
	})
	t.Run("write to an input", func(t *testing.T) {
		x := make([]T, n) // all zero, so that set changes it
		err := verifying(t, func(rt *dataflow.Runtime) { f.input.Spawn(rt, x) })
		reported(t, err, "input", "parameter 1", "declared Input", "wrote to it", fmt.Sprintf("[%p", &x[0]))
	})
	t.Run("one of several never written", func(t *testing.T) {
		x, y, z := fresh(), fresh(), fresh()
		err := verifying(t, func(rt *dataflow.Runtime) { f.each.Spawn(rt, [][]T{x, y, z}) })
		reported(t, err, "each", "parameter 1", "never wrote to it", fmt.Sprintf("[%p", &x[0]))
	})
	if !exact {
		return
	}
	t.Run("partly written", func(t *testing.T) {
		err := verifying(t, func(rt *dataflow.Runtime) { f.partly.Spawn(rt, fresh()) })
		reported(t, err, "partly", "parameter 1", "unwritten", "left")
		err = verifying(t, func(rt *dataflow.Runtime) {
			f.holes.Spawn(rt, tasks.Tile[T]{Data: make([]T, 20), Rows: 3, Cols: 4, LD: 5})
		})
		reported(t, err, "holes", "parameter 1", "unwritten")
		err = verifying(t, func(rt *dataflow.Runtime) { f.buffer.Spawn(rt, tasks.NewBuffer[T](4)) })
		reported(t, err, "buffer", "parameter 1", "unwritten")
	})
	t.Run("read first", func(t *testing.T) {
		err := verifying(t, func(rt *dataflow.Runtime) { f.reads.Spawn(rt, fresh()) })
		reported(t, err, "reads", "parameter 1", "read", "before writing")
	})
}

var (
	float64Faults    = declareFaults(func(x *float64) { *x = 3 }, func(x *float64) { *x += 1 })
	float32Faults    = declareFaults(func(x *float32) { *x = 3 }, func(x *float32) { *x *= 2 })
	complexFaults    = declareFaults(func(x *complex128) { *x = 3 + 1i }, func(x *complex128) { *x += 1 + 1i })
	complex64Faults  = declareFaults(func(x *complex64) { *x = 3 + 1i }, func(x *complex64) { *x += 1 + 1i })
	vectorFaults     = declareFaults(func(x *[3]float64) { *x = [3]float64{1, 2, 3} }, func(x *[3]float64) { x[0], x[1], x[2] = x[0]-1, 1, 1 })
	intFaults        = declareFaults(func(x *int) { *x = 7 }, func(x *int) { *x -= 2 })
	byteFaults       = declareFaults(func(x *byte) { *x = 7 }, nil)
	structFaults     = declareFaults(func(x *pair) { *x = pair{1, 2} }, nil)
	boolFaults       = declareFaults(func(x *bool) { *x = true }, nil)
	namedFaults      = declareFaults(func(x *time.Duration) { *x = 7 }, func(x *time.Duration) { *x *= 2 })
	intArrayFaults   = declareFaults(func(x *[2]uint16) { *x = [2]uint16{1, 2} }, nil)
	smallFloatFaults = declareFaults(func(x *float64) { *x = math.SmallestNonzeroFloat64 }, func(x *float64) { *x -= math.Inf(1) })
)

func TestVerify(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testFaults(t, float64Faults, true) })
	t.Run("float32", func(t *testing.T) { testFaults(t, float32Faults, true) })
	t.Run("complex128", func(t *testing.T) { testFaults(t, complexFaults, true) })
	t.Run("complex64", func(t *testing.T) { testFaults(t, complex64Faults, true) })
	t.Run("array of float64", func(t *testing.T) { testFaults(t, vectorFaults, true) })
	t.Run("int", func(t *testing.T) { testFaults(t, intFaults, true) })
	t.Run("byte", func(t *testing.T) { testFaults(t, byteFaults, false) })
	t.Run("struct", func(t *testing.T) { testFaults(t, structFaults, false) })
	t.Run("bool", func(t *testing.T) { testFaults(t, boolFaults, false) })
	t.Run("named", func(t *testing.T) { testFaults(t, namedFaults, true) })
	t.Run("array of uint16", func(t *testing.T) { testFaults(t, intArrayFaults, false) })
	t.Run("extreme float64", func(t *testing.T) { testFaults(t, smallFloatFaults, true) })
}

// A body may produce NaN and infinities.
func TestVerify_of_a_body_that_makes_NaN(t *testing.T) {
	nan := tasks.Declare2("nan", func(x []float64, y []float32) {
		for i := range x {
			x[i] = [...]float64{math.NaN(), math.Inf(1), -math.NaN(), 0}[i%4]
		}
		for i := range y {
			y[i] = float32(math.Log(-1 - float64(i)))
		}
	}, tasks.Output, tasks.Output)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { nan.Spawn(rt, make([]float64, 9), make([]float32, 9)) }))
}

// Outputs of types with pointers are marked with values that are safe to follow; types with
// a lock or an atomic variable are not marked.
func TestVerify_of_pointers(t *testing.T) {
	type node struct {
		next *node
		n    int
	}
	type named struct {
		text string
		x    float64
	}
	type guarded struct {
		mu sync.Mutex
		p  *int
	}
	lists := tasks.Declare6("lists", func(a []*int, b []node, c []string, d []any, e map[int]*named, f [][]float64) {
		five := 5
		a[0], b[0], c[0], d[0], f[0] = &five, node{nil, 5}, "", nil, nil
		*e[0] = named{"text", 5}
	}, tasks.Output, tasks.Output, tasks.Output, tasks.Output, tasks.Value, tasks.Output)
	left := tasks.Declare3("left", func(a []*int, b []node, c []string) {
		a[0], b[0].next, c[0] = nil, nil, "x"
		runtime.GC()
		assert.NotEmpty(t, c[1])
		assert.Zero(t, *a[1])
	}, tasks.Output, tasks.Output, tasks.Output)
	lock := tasks.Declare1("lock", func(g *guarded) {
		g.mu.Lock()
		defer g.mu.Unlock()
		assert.Equal(t, 5, *g.p)
	}, tasks.Output)
	five := 5
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) {
		lists.Spawn(rt, []*int{&five}, []node{{n: 1}}, []string{"text"}, []any{1}, map[int]*named{0: {}}, [][]float64{{1.5}})
		lock.Spawn(rt, &guarded{p: &five})
	}))
	a, b, c := []*int{&five, &five}, []node{{nil, 7}}, []string{"a", "b"}
	err := verifying(t, func(rt *dataflow.Runtime) { left.Spawn(rt, a, b, c) })
	reported(t, err, "left", "parameter 1", "parameter 2", "parameter 3", "left 1 of its 2 values unwritten")
	assert.Equal(t, []string{"x", "b"}, c, "what was there before is put back")
	assert.Same(t, &five, a[1])
	assert.Equal(t, 7, b[0].n)
}

// Written values that happen to equal the marks stay: among many bytes some do.
func TestVerify_keeps_what_equals_a_mark(t *testing.T) {
	x, want := make([]byte, 20_000), make([]byte, 20_000)
	fill := tasks.Declare1("fill", func(x []byte) {
		for i := range x {
			x[i] = 7
		}
	}, tasks.Output)
	for i := range want {
		want[i] = 7
	}
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { fill.Spawn(rt, x) }))
	assert.Equal(t, want, x)
}

// A body may leave a map nil that was not; only a map that it never touched is a mistake.
func TestVerify_of_maps(t *testing.T) {
	maps := tasks.Declare1("maps", func(x []map[int]int) { x[0] = nil }, tasks.Output)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { maps.Spawn(rt, []map[int]int{{1: 2}}) }))
	err := verifying(t, func(rt *dataflow.Runtime) { maps.Spawn(rt, []map[int]int{{1: 2}, {3: 4}}) })
	reported(t, err, "maps", "left 1 of its 2 values unwritten")
}

// A body that gets more than numbers, whatever else it gets, may act on something that cannot
// be put back: it runs once.
func TestVerify_runs_once_what_may_act(t *testing.T) {
	count := func(x []int, n *int, more int) { x[0] = more; *n++ }
	for name, d := range map[string]*tasks.Task3[[]int, *int, int]{
		"a pointer":       tasks.Declare3("acts", count, tasks.Output, tasks.Value, tasks.Value),
		"the same, inout": tasks.Declare3("acts", count, tasks.Inout, tasks.Value, tasks.Value),
	} {
		n := 0
		assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { d.Spawn(rt, make([]int, 1), &n, 7) }), name)
		assert.Equal(t, 1, n, name)
	}
}

// An output that another parameter overlaps cannot be marked, and what one parameter
// allows is no fault of another.
func TestVerify_of_overlapping_parameters(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	inPlace := tasks.Declare2("inPlace", func(in, out []float64) {
		for i := range out {
			out[i] = 2 * in[i]
		}
	}, tasks.Input, tasks.Output)
	shift := tasks.Declare2("shift", func(in, out []float64) { copy(out, in) }, tasks.Input, tasks.Output)
	update := tasks.Declare2("update", func(in, inout []float64) { inout[0] += in[0] }, tasks.Input, tasks.Inout)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) {
		inPlace.Spawn(rt, x, x)
		shift.Spawn(rt, x[1:], x[:3])
		update.Spawn(rt, x, x[:1])
	}))
	assert.Equal(t, []float64{8, 6, 8, 8}, x)
}

// Disjoint tiles of one matrix, in and out.
func TestVerify_of_tiles(t *testing.T) {
	a := make([]float64, 36)
	for i := range a {
		a[i] = float64(i)
	}
	tile := func(i, j int) tasks.Tile[float64] {
		return tasks.Tile[float64]{Data: a, Rows: 6, Cols: 6, LD: 6}.Sub(2*i, 2*j, 2, 2)
	}
	transpose := tasks.Declare2("transpose", func(in, out tasks.Tile[float64]) {
		for i := range out.Rows {
			for j := range out.Cols {
				*out.At(i, j) = *in.At(j, i)
			}
		}
	}, tasks.Input, tasks.Output)
	wrong := tasks.Declare2("wrong", func(in, out tasks.Tile[float64]) {
		*in.At(1, 1) = -1
		for j := range out.Cols {
			copy(out.Col(j), in.Col(j))
		}
	}, tasks.Input, tasks.Output)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) { transpose.Spawn(rt, tile(0, 1), tile(1, 0)) }))
	assert.Equal(t, a[12], a[2])
	assert.Equal(t, a[13], a[8])
	err := verifying(t, func(rt *dataflow.Runtime) { wrong.Spawn(rt, tile(0, 2), tile(1, 2)) })
	reported(t, err, "wrong", "parameter 1", "declared Input")
}

// The report of a task names all its faults, and the error of its body.
func TestVerify_reports_all_faults(t *testing.T) {
	bad := tasks.DeclareCtx4("bad", func(_ *tasks.Context, a, b, c, d []float64) error {
		a[0]++
		d[0]++
		return errOwn
	}, tasks.Input, tasks.Output, tasks.Inout, tasks.Input)
	s := func() []float64 { return make([]float64, 3) }
	err := verifying(t, func(rt *dataflow.Runtime) { bad.Spawn(rt, s(), s(), s(), s()) })
	reported(t, err, "bad", "parameter 1 is declared Input", "parameter 4 is declared Input", errOwn.Error())
	assert.NotContains(t, err.Error(), "parameter 3")
	assert.NotContains(t, err.Error(), "parameter 2", "a body that fails may leave its outputs")
	assert.ErrorIs(t, err, errOwn)
}

// A task that fails a check is a failed task: what depends on it is skipped.
func TestVerify_poisons(t *testing.T) {
	ran := false
	x := make([]float64, 3)
	err := verifying(t, func(rt *dataflow.Runtime) {
		float64Faults.never.Spawn(rt, x)
		rt.Spawn("dependent", func(*tasks.Context) error { ran = true; return nil }, tasks.Reads(x))
	})
	contains(t, err.Error(), "never wrote", "1 task that depended")
	assert.False(t, ran)
}

// An output that arrives later, by a held event, is not reported; nor are the
// accesses that a body leaves to its children.
func TestVerify_of_outputs_that_come_later(t *testing.T) {
	later := tasks.DeclareCtx1("later", func(ctx *tasks.Context, x []float64) error {
		ev := ctx.Hold()
		go func() {
			time.Sleep(time.Millisecond)
			for i := range x {
				x[i] = 1
			}
			ev.Done()
		}()
		return nil
	}, tasks.Output)
	parent := tasks.DeclareCtx1("parent", func(ctx *tasks.Context, x []float64) error {
		float64Faults.write.Spawn(ctx, x[:2])
		float64Faults.write.Spawn(ctx, x[2:])
		return nil
	}, tasks.Output)
	weak := tasks.DeclareCtx1("weak", func(ctx *tasks.Context, x []float64) error {
		float64Faults.write.Spawn(ctx, x)
		return ctx.Wait()
	}, tasks.Weak(tasks.Output))
	x := make([]float64, 4)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) {
		later.Spawn(rt, x)
		parent.Spawn(rt, x)
		weak.Spawn(rt, x)
	}))
	assert.Equal(t, []float64{3, 3, 3, 3}, x)
}

// A child that writes to its parent's input is a fault of both.
func TestVerify_of_a_child(t *testing.T) {
	parent := tasks.DeclareCtx1("parent", func(ctx *tasks.Context, x []float64) error {
		float64Faults.write.Spawn(ctx, x)
		return nil
	}, tasks.Input)
	err := verifying(t, func(rt *dataflow.Runtime) { parent.Spawn(rt, make([]float64, 3)) })
	reported(t, err, "parent", "parameter 1", "declared Input")
}

// A body that touches its children's regions is reported if no child has run yet; after the
// child has run, the touch cannot be detected.
func TestVerify_of_weak_touched_before_a_child(t *testing.T) {
	parent := tasks.DeclareCtx1("parent", func(ctx *tasks.Context, x []float64) error {
		x[1] = 7
		float64Faults.write.Spawn(ctx, x)
		return ctx.Wait()
	}, tasks.Weak(tasks.Inout))
	err := verifying(t, func(rt *dataflow.Runtime) { parent.Spawn(rt, make([]float64, 3)) })
	reported(t, err, "parent", "parameter 1", "Weak")
}

// What a child's own children reduce is put in place after the body of the child: neither is
// a write of the body whose memory is Weak. The body's own write still is.
func TestVerify_of_a_reduction_below_weak(t *testing.T) {
	child := tasks.DeclareCtx1("child", func(ctx *tasks.Context, x []uint64) error {
		clear(x)
		joinSlice.Spawn(ctx, x, 1)
		joinSlice.Spawn(ctx, x, 2)
		return nil
	}, tasks.Output)
	for _, writes := range []bool{false, true} {
		parent := tasks.DeclareCtx1("parent", func(ctx *tasks.Context, x []uint64) error {
			child.Spawn(ctx, x[:2])
			if writes {
				x[1]++
			}
			return nil
		}, tasks.Weak(tasks.Inout))
		x := make([]uint64, 3)
		err := verifying(t, func(rt *dataflow.Runtime) { parent.Spawn(rt, x) })
		if writes {
			reported(t, err, "parent", "parameter 1", "Weak")
			continue
		}
		assert.NoError(t, err)
		assert.Equal(t, []uint64{joined(0, 0, 1, 3), joined(0, 1, 1, 3), 0}, x)
	}
}

// Reductions, commutative, concurrent and value parameters raise no reports.
func TestVerify_of_a_right_program(t *testing.T) {
	sum := tasks.Reduction(0, func(dst, src []float64) {
		for i := range dst {
			dst[i] += src[i]
		}
	})
	fill := tasks.Declare2("fill", func(x []float64, v float64) {
		for i := range x {
			x[i] = v
		}
	}, tasks.Output, tasks.Value)
	dot := tasks.Declare3("dot", func(x, y, r []float64) {
		for i := range x {
			r[0] += x[i] * y[i]
		}
	}, tasks.Input, tasks.Input, sum)
	scale := tasks.Declare2("scale", func(x []float64, by *float64) {
		for i := range x {
			x[i] *= *by
		}
	}, tasks.Inout, tasks.Input)
	count := tasks.Declare2("count", func(n *int, m []int) { *n++; m[0]++ }, tasks.Commutative, tasks.Concurrent)
	copyBuffer := tasks.Declare2("copyBuffer", func(src []float64, dst *tasks.Buffer[float64]) { copy(dst.Slice(), src) }, tasks.Input, tasks.Output)
	gather := tasks.Declare2("gather", func(xs [][]float64, out []float64) {
		for i := range out {
			out[i] = 0
			for _, x := range xs {
				out[i] += x[i]
			}
		}
	}, tasks.Each(tasks.Input), tasks.Output)
	x, y, z, r, by := make([]float64, 8), make([]float64, 8), make([]float64, 8), []float64{1}, 3.0
	n, m := 0, []int{0}
	b := tasks.NewBuffer[float64](8)
	assert.NoError(t, verifying(t, func(rt *dataflow.Runtime) {
		fill.Spawn(rt, x, 1)
		fill.Spawn(rt, y, 2)
		for range 4 {
			dot.Spawn(rt, x[:4], y[:4], r)
			dot.Spawn(rt, x[4:], y[4:], r)
			count.Spawn(rt, &n, m)
			scale.Spawn(rt, x, &by)
			copyBuffer.Spawn(rt, x, b)
			gather.Spawn(rt, [][]float64{x, y, x}, z)
			rt.Spawn("dynamic", func(*tasks.Context) error { r[0] += b.Slice()[0]; return nil }, tasks.Updates(r), tasks.Reads(b))
		}
	}))
	assert.Equal(t, 164.0, z[0])
	assert.Equal(t, 4, n)
	assert.Equal(t, 1+16.0*(1+3+9+27)+3+9+27+81, r[0])
}
