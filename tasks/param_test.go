package tasks_test

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/tasks"
)

// byValue and byPointer know their own region.
type byValue struct{ id int }

func (v byValue) Region() deps.Region { return deps.Handle(uintptr(v.id)) }

type byPointer struct{ cells [4]int64 }

func (p *byPointer) Region() deps.Region { return deps.Pointer(&p.cells[2]) }

type number int

func (n number) Region() deps.Region { return deps.Handle(uintptr(n)) }

type numbers []int

func (n numbers) Region() deps.Region { return deps.Slice(n[:1]) }

type table map[string]int

func (m table) Region() deps.Region { return deps.Handle(uintptr(len(m))) }

func bytes[T any](p *T, n uintptr) deps.Region { return deps.Bytes(unsafe.Pointer(p), n) }

// All forms of spawning find the same region for an argument.
func TestParam_regions(t *testing.T) {
	s := make([]int32, 10)
	f := make([]float64, 3)
	c := make([]complex128, 3)
	b := make([]byte, 3)
	var x struct{ a, b int64 }
	var p *byPointer
	q := new(byPointer)
	tile := tasks.Tile[int32]{Data: s, Rows: 2, Cols: 3, LD: 4}
	shape, err := deps.Tile(unsafe.Pointer(&s[0]), 2, 3, 4, 4)
	require.NoError(t, err)
	buf := tasks.NewBuffer[int16](5)
	var v deps.Regioner = byValue{3}
	for _, k := range []struct {
		x    any
		want deps.Region
	}{
		{s, bytes(&s[0], 40)}, {s[2:4], bytes(&s[2], 8)}, {s[:0], deps.Region{}}, {[]int32(nil), deps.Region{}},
		{f, bytes(&f[0], 24)}, {c, bytes(&c[0], 48)}, {b, bytes(&b[0], 3)},
		{&x, bytes(&x, 16)}, {&x.b, bytes(&x.b, 8)}, {(*int)(nil), deps.Region{}}, {(*struct{})(nil), deps.Region{}},
		{tile, shape}, {tasks.Tile[int32]{}, deps.Region{}}, {&tile, shape},
		{buf, bytes(&buf.Slice()[0], 10)}, {(*tasks.Buffer[int])(nil), deps.Region{}},
		{byValue{7}, deps.Handle(7)}, {&byValue{8}, deps.Handle(8)}, {q, bytes(&q.cells[2], 8)}, {p, deps.Region{}},
		{number(5), deps.Handle(5)}, {numbers{1, 2}, deps.Region{}}, {table{"a": 1}, deps.Handle(1)}, {v, deps.Handle(3)},
		{shape, shape}, {deps.Region{}, deps.Region{}},
	} {
		got, err := task.RegionOf(k.x)
		require.NoError(t, err, "%T", k.x)
		if n, ok := k.x.(numbers); ok {
			k.want = bytes(&n[0], 8)
		}
		assert.Equal(t, k.want, got, "%T", k.x)
	}
	for _, x := range []any{1, "s", nil, struct{}{}, [2]int{}, map[int]int{}, func() {}, make(chan int), opaque{1}} {
		_, err := task.RegionOf(x)
		assert.ErrorContains(t, err, "has no region", "%T", x)
	}
	for _, x := range []any{new(struct{}), []struct{}{{}, {}}, &[0]int{}} {
		_, err := task.RegionOf(x)
		assert.ErrorContains(t, err, "has no bytes", "%T", x)
	}
}

// follows reports whether a reader of y waits for a writer of x, both declared with type T.
func follows[T any](t *testing.T, x, y T) bool {
	write := tasks.Declare1("write", func(T) {}, tasks.Inout)
	read := tasks.Declare1("read", func(T) {}, tasks.Input)
	dynamic := edges(t, func(rt *dataflow.Runtime) {
		rt.Spawn("write", func(*tasks.Context) error { return nil }, tasks.Updates(x))
		rt.Spawn("read", func(*tasks.Context) error { return nil }, tasks.Reads(y))
	})
	static := edges(t, func(rt *dataflow.Runtime) {
		write.Spawn(rt, x)
		read.Spawn(rt, y)
	})
	mixed := edges(t, func(rt *dataflow.Runtime) {
		write.Spawn(rt, x)
		rt.Spawn("read", func(*tasks.Context) error { return nil }, tasks.Reads(y))
	})
	assert.Equal(t, dynamic, static)
	assert.Equal(t, dynamic, mixed)
	return len(static) > 0
}

// Declared and dynamic tasks see the same dependences, for every kind of parameter.
func TestParam_kinds(t *testing.T) {
	s := make([]int, 8)
	assert.True(t, follows(t, s, s))
	assert.True(t, follows(t, s[:5], s[4:]))
	assert.False(t, follows(t, s[:4], s[4:]))
	assert.False(t, follows(t, s[:0], s))
	assert.False(t, follows(t, nil, s))
	assert.True(t, follows(t, &s[1], &s[1]))
	assert.False(t, follows(t, &s[1], &s[2]))
	assert.False(t, follows(t, nil, &s[2]))
	assert.False(t, follows(t, &[3]int{}, &[3]int{}))
	a, b := tasks.NewBuffer[int](4), tasks.NewBuffer[int](4)
	assert.True(t, follows(t, a, a))
	assert.False(t, follows(t, a, b))
	assert.False(t, follows(t, nil, b))
	assert.True(t, follows(t, byValue{1}, byValue{1}))
	assert.False(t, follows(t, byValue{1}, byValue{2}))
	assert.True(t, follows(t, &byValue{1}, &byValue{1}))
	assert.False(t, follows(t, nil, &byValue{1}))
	p := new(byPointer)
	assert.True(t, follows(t, p, p))
	assert.False(t, follows(t, p, new(byPointer)))
	assert.False(t, follows(t, nil, p))
	assert.True(t, follows(t, number(4), number(4)))
	assert.False(t, follows(t, number(4), number(5)))
	assert.True(t, follows(t, numbers(s), numbers(s[:1])))
	assert.False(t, follows(t, numbers(s), numbers(s[1:])))
	assert.True(t, follows(t, table{"a": 1}, table{"b": 1}))
	assert.False(t, follows(t, nil, table{"b": 1}))
	var r, q deps.Regioner = byValue{1}, number(1)
	assert.True(t, follows(t, r, q))
	assert.True(t, follows(t, deps.Regioner(p), deps.Regioner(p)))
}

// Two types may describe the same memory.
func TestParam_kinds_meet(t *testing.T) {
	s := make([]float64, 16)
	m := tasks.Tile[float64]{Data: s, Rows: 4, Cols: 4, LD: 4}
	any1 := tasks.Declare2("a", func([]float64, tasks.Tile[float64]) {}, tasks.Input, tasks.Inout)
	any2 := tasks.Declare2("b", func(*float64, *byPointer) {}, tasks.Inout, tasks.Inout)
	got := edges(t, func(rt *dataflow.Runtime) {
		any1.Spawn(rt, s[:4], m.Sub(0, 1, 2, 2))  // 0: elements 0-3, 4 5 8 9
		any2.Spawn(rt, &s[5], nil)                // 1: after 0
		any2.Spawn(rt, &s[6], nil)                // 2
		any1.Spawn(rt, s[6:8], m.Sub(2, 2, 2, 2)) // 3: after 2
		any1.Spawn(rt, nil, m)                    // 4: after 1, 3, and their predecessors
	})
	assert.Subset(t, got, [][2]int{{0, 1}, {2, 3}, {1, 4}, {3, 4}})
	assert.NotContains(t, got, [2]int{0, 2})
	assert.NotContains(t, got, [2]int{0, 3})
	assert.NotContains(t, got, [2]int{1, 3})
}

// Lazy is Input without a message, and Each of Lazy is Lazy of Each.
func TestParam_modifiers(t *testing.T) {
	x := make([]int, 2)
	w := tasks.Declare1("w", func([]int) {}, tasks.Inout)
	for _, a := range []tasks.Access{tasks.Lazy(tasks.Input), tasks.Lazy(tasks.Inout), tasks.Lazy(tasks.Lazy(tasks.Input))} {
		r := tasks.Declare1("r", func([]int) {}, a)
		assert.Equal(t, [][2]int{{0, 1}}, edges(t, func(rt *dataflow.Runtime) {
			w.Spawn(rt, x)
			r.Spawn(rt, x)
		}))
	}
	for _, a := range []tasks.Access{tasks.Each(tasks.Lazy(tasks.Input)), tasks.Lazy(tasks.Each(tasks.Input))} {
		r := tasks.Declare1("r", func([][]int) {}, a)
		assert.Equal(t, [][2]int{{0, 1}}, edges(t, func(rt *dataflow.Runtime) {
			w.Spawn(rt, x)
			r.Spawn(rt, [][]int{nil, x[1:]})
		}))
	}
}

// The modes order two tasks on one region as documented.
func TestParam_modes(t *testing.T) {
	plus := tasks.Reduction(0, func(dst, src []int) {})
	modes := []tasks.Access{tasks.Value, tasks.Input, tasks.Output, tasks.Inout, tasks.Concurrent, tasks.Commutative, plus}
	x := make([]int, 4)
	const want = "" + // row: first task, column: second; x: an edge, c: both in one combination, .: none
		". . . . . . .\n" +
		". . x x x x c\n" +
		". x x x x x c\n" +
		". x x x x x c\n" +
		". x x x . x c\n" +
		". x x x x . c\n" +
		". c c c c c c\n"
	var got strings.Builder
	for _, a := range modes {
		var row []string
		for _, b := range modes {
			first, second := tasks.Declare1("first", func([]int) {}, a), tasks.Declare1("second", func([]int) {}, b)
			e := edges(t, func(rt *dataflow.Runtime) {
				first.Spawn(rt, x)
				second.Spawn(rt, x)
			})
			cell := "."
			switch {
			case slices.Contains(e, [2]int{0, 1}) && len(e) == 1:
				cell = "x"
			case len(e) == 2: // through the combining task
				cell = "c"
			}
			row = append(row, cell)
		}
		got.WriteString(strings.Join(row, " ") + "\n")
	}
	assert.Equal(t, want, got.String())
}
