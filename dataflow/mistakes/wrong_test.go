package mistakes

import (
	"runtime"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// program is a small program. It spawns tasks, may wait, and returns what reads its result
// after the last wait.
type program struct {
	name string
	run  func(rt *dataflow.Runtime) (result func() any)
}

func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	return x
}

func integers(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i + 1
	}
	return x
}

// field is a type that knows its region.
type field struct {
	name string
	data []float64
}

func (f *field) Region() deps.Region { return deps.Slice(f.data) }

// entry is an element with pointers.
type entry struct {
	key   string
	next  *entry
	count int
}

// later lets another task go first, where there is another worker.
func later() {
	for range 20 {
		runtime.Gosched()
	}
	time.Sleep(2 * time.Millisecond)
}

// Bodies that capture nothing: they use package variables.
var (
	scaleTask    = tasks.Declare2("scale", func(x []float64, by float64) { scaled(x, by) }, tasks.Inout, tasks.Value)
	fillTask     = tasks.Declare2("fill", fill, tasks.Output, tasks.Value)
	countTask    = tasks.Declare1("count", func(x []int) { add(x, 1) }, tasks.Inout)
	copyTask     = tasks.Declare2("copy", func(in, out []float64) { copy(out, in) }, tasks.Input, tasks.Output)
	sumTask      = tasks.Declare2("sum", func(in []float64, out *float64) { *out = sum(in) }, tasks.Input, tasks.Output)
	globalNumber int
)

func scaled(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

func fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}

func add(x []int, n int) {
	for i := range x {
		x[i] += n
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// after returns the result of programs that wait at their end.
func after(x any) func() any { return func() any { return x } }

// mistakes are programs with one mistake each: a wrong or missing declaration. The table in
// README.md has the same order, names and columns.
var mistakes = []program{
	{"an Input is written", func(rt *dataflow.Runtime) func() any {
		x, y := numbers(8), make([]float64, 8)
		normalize := tasks.Declare1("normalize", func(x []float64) { scaled(x, 1/x[7]) }, tasks.Input)
		copyTask.Spawn(rt, x, y)
		normalize.Spawn(rt, x)
		return after(y)
	}},
	{"an Input behind a pointer is written", func(rt *dataflow.Runtime) func() any {
		n, x := 3, make([]int, 4)
		next := tasks.Declare2("next", func(n *int, x *int) { *x = *n; later(); *n++ }, tasks.Input, tasks.Output)
		for i := range x {
			next.Spawn(rt, &n, &x[i])
		}
		return after(x)
	}},
	{"one element of an Input tile is written", func(rt *dataflow.Runtime) func() any {
		a := tasks.Tile[float64]{Data: numbers(36), Rows: 6, Cols: 6, LD: 6}
		var s [2]float64
		pivot := tasks.Declare2("pivot", func(t tasks.Tile[float64], s *float64) { *s = *t.At(1, 1); later(); *t.At(1, 1) = -1 }, tasks.Input, tasks.Output)
		pivot.Spawn(rt, a.Sub(1, 1, 3, 3), &s[0])
		pivot.Spawn(rt, a.Sub(1, 1, 3, 3), &s[1])
		return after(&s)
	}},
	{"one of several Inputs (Each) is written", func(rt *dataflow.Runtime) func() any {
		xs, r := [][]int{integers(3), integers(3), integers(3)}, make([]int, 2)
		gather := tasks.Declare2("gather", func(xs [][]int, r *int) {
			*r = 0
			for _, x := range xs {
				*r += x[0]
			}
			xs[1][0] = 100
		}, tasks.Each(tasks.Input), tasks.Output)
		gather.Spawn(rt, xs, &r[0])
		gather.Spawn(rt, xs, &r[1])
		return after(r)
	}},
	{"an Input with a Region method is written", func(rt *dataflow.Runtime) func() any {
		f, s := &field{"pressure", numbers(16)}, make([]float64, 2)
		total := tasks.Declare2("total", func(f *field, s *float64) { *s = sum(f.data); f.data[0] = 0 }, tasks.Input, tasks.Output)
		total.Spawn(rt, f, &s[0])
		total.Spawn(rt, f, &s[1])
		return after(s)
	}},
	{"an access Reads is written (dynamic form)", func(rt *dataflow.Runtime) func() any {
		x, y := numbers(8), make([]float64, 2)
		for i := range y {
			rt.Spawn("first", func(*tasks.Context) error { y[i] = x[0]; x[0]++; return nil }, tasks.Reads(x), tasks.Writes(y[i:i+1]))
		}
		return after(y)
	}},
	{"a child writes to an Input of its parent", func(rt *dataflow.Runtime) func() any {
		x, y := numbers(4), make([]float64, 4)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			scaleTask.Spawn(ctx, x[:2], 10)
			return nil
		}, tasks.Input)
		outer.Spawn(rt, x)
		copyTask.Spawn(rt, x, y)
		return after(y)
	}},
	{"an Output is never written", func(rt *dataflow.Runtime) func() any {
		x, y := numbers(4), numbers(4)
		result := tasks.Declare2("result", func(in, out []float64) { in = append([]float64(nil), in...); scaled(in, 2) }, tasks.Input, tasks.Output)
		result.Spawn(rt, x, y)
		return after(y)
	}},
	{"an Output of integers is half written", func(rt *dataflow.Runtime) func() any {
		n, x := 4, integers(8)
		rt.Spawn("squares", func(*tasks.Context) error {
			for i := range n {
				x[i] = i * i
			}
			return nil
		}, tasks.Writes(x))
		return after(x)
	}},
	{"an Output of bytes is half written", func(rt *dataflow.Runtime) func() any {
		x := []byte("what was here before")
		greet := tasks.Declare1("greet", func(x []byte) { copy(x, "Hello, ") }, tasks.Output)
		greet.Spawn(rt, x)
		return after(x)
	}},
	{"an Output tile has a hole", func(rt *dataflow.Runtime) func() any {
		a := tasks.Tile[float64]{Data: numbers(64), Rows: 8, Cols: 8, LD: 8}
		lower := tasks.Declare1("lower", func(t tasks.Tile[float64]) {
			for j := range t.Cols {
				fill(t.Col(j)[j:], 1)
			}
		}, tasks.Output)
		lower.Spawn(rt, a.Sub(2, 2, 4, 4))
		return after(a.Data)
	}},
	{"an Output with a Region method is half written", func(rt *dataflow.Runtime) func() any {
		f := &field{"velocity", numbers(16)}
		clearAll := tasks.Declare1("clear", func(f *field) { clear(f.data[:8]) }, tasks.Output)
		clearAll.Spawn(rt, f)
		return after(f.data)
	}},
	{"an Output Buffer is half written", func(rt *dataflow.Runtime) func() any {
		b, s := tasks.NewBuffer[int32](8), make([]int32, 3)
		fillOdd := tasks.Declare2("odd", func(b *tasks.Buffer[int32], v int32) {
			for i := 1; i < b.Len(); i += 2 {
				b.Slice()[i] = v
			}
		}, tasks.Output, tasks.Value)
		total := tasks.Declare2("total", func(b *tasks.Buffer[int32], s *int32) {
			*s = 0
			for _, v := range b.Slice() {
				*s += v
			}
		}, tasks.Input, tasks.Output)
		all := tasks.Declare1("all", func(b *tasks.Buffer[int32]) {
			for i := range b.Slice() {
				b.Slice()[i] = 7
			}
		}, tasks.Output)
		all.Spawn(rt, b)
		for i := range s {
			total.Spawn(rt, b, &s[i])
			fillOdd.Spawn(rt, b, int32(i))
		}
		return after(s)
	}},
	{"the part of an Output beside an Input is left", func(rt *dataflow.Runtime) func() any {
		x := integers(8)
		shift := tasks.Declare2("shift", func(in, out []int) { copy(out[:2], in[:2]) }, tasks.Input, tasks.Output)
		shift.Spawn(rt, x[:4], x[2:])
		return after(x)
	}},
	{"an Output of strings is half written", func(rt *dataflow.Runtime) func() any {
		x := []string{"a", "b", "c"}
		names := tasks.Declare1("names", func(x []string) { x[0], x[1] = "", "second" }, tasks.Output)
		names.Spawn(rt, x)
		return after(x)
	}},
	{"a field of an Output is not set", func(rt *dataflow.Runtime) func() any {
		e := &entry{"a", nil, 1}
		reset := tasks.Declare1("reset", func(e *entry) { e.key, e.count = "", 0 }, tasks.Output)
		reset.Spawn(rt, e)
		return after(e)
	}},
	{"a bool Output is set only if true", func(rt *dataflow.Runtime) func() any {
		x, above := numbers(4), true
		compare := tasks.Declare2("compare", func(x []float64, above *bool) {
			if sum(x) > 1000 {
				*above = true
			}
		}, tasks.Input, tasks.Output)
		compare.Spawn(rt, x, &above)
		return after(&above)
	}},
	{"a byte Output is never written", func(rt *dataflow.Runtime) func() any {
		b := byte(7)
		digit := tasks.Declare1("digit", func(*byte) {}, tasks.Output)
		digit.Spawn(rt, &b)
		return after(&b)
	}},
	{"a float Output is added to", func(rt *dataflow.Runtime) func() any {
		x, s := numbers(8), new(float64)
		total := tasks.Declare2("total", func(x []float64, s *float64) {
			for _, v := range x {
				*s += v
			}
		}, tasks.Input, tasks.Output)
		total.Spawn(rt, x, s)
		return after(s)
	}},
	{"a float Output is compared before it is written", func(rt *dataflow.Runtime) func() any {
		x, top := numbers(8), new(float64)
		highest := tasks.Declare2("highest", func(x []float64, top *float64) {
			if !(*top > x[7]) {
				*top = x[7]
			}
		}, tasks.Input, tasks.Output)
		highest.Spawn(rt, x, top)
		return after(top)
	}},
	{"an Output of integers is counted up", func(rt *dataflow.Runtime) func() any {
		x, h := integers(100), make([]int, 10)
		rt.Spawn("histogram", func(*tasks.Context) error {
			for _, v := range x {
				h[v%10]++
			}
			return nil
		}, tasks.Reads(x), tasks.Writes(h))
		return after(h)
	}},
	{"an Output of integers decides what is written", func(rt *dataflow.Runtime) func() any {
		x := integers(8)
		parity := tasks.Declare1("parity", func(x []int) {
			for i := range x {
				x[i] = x[i] >> 3 & 1
			}
		}, tasks.Output)
		parity.Spawn(rt, x)
		return after(x)
	}},
	{"one Output decides what is written to another", func(rt *dataflow.Runtime) func() any {
		state, r := new(uint16), new(float64)
		step := tasks.Declare2("step", func(state *uint16, r *float64) { *r = float64(*state % 17); *state = 5 }, tasks.Output, tasks.Output)
		step.Spawn(rt, state, r)
		return after([]any{state, r})
	}},
	{"an Output of integers is an index", func(rt *dataflow.Runtime) func() any {
		x, next := integers(8), new(int)
		push := tasks.DeclareCtx2("push", func(ctx *tasks.Context, x []int, next *int) error {
			x[*next] = 100
			*next = 1
			return nil
		}, tasks.Inout, tasks.Output)
		push.Spawn(rt, x, next)
		return after(x)
	}},
	{"a held event leaves an Output", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		receive := tasks.DeclareCtx1("receive", func(ctx *tasks.Context, x []float64) error {
			ev := ctx.Hold()
			go func() { fill(x[1:], 5); ev.Done() }()
			return nil
		}, tasks.Output)
		receive.Spawn(rt, x)
		return after(x)
	}},
	{"the children leave a part of an Output", func(rt *dataflow.Runtime) func() any {
		x := numbers(10)
		halves := tasks.DeclareCtx1("halves", func(ctx *tasks.Context, x []float64) error {
			fillTask.Spawn(ctx, x[:4], 1)
			fillTask.Spawn(ctx, x[5:], 2)
			return nil
		}, tasks.Output)
		halves.Spawn(rt, x)
		return after(x)
	}},
	{"the body writes to what is Weak, before its child", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			x[0] = 0
			scaleTask.Spawn(ctx, x, 3)
			return nil
		}, tasks.Weak(tasks.Inout))
		scaleTask.Spawn(rt, x, 2)
		outer.Spawn(rt, x)
		return after(x)
	}},
	{"the body writes to what is Weak, after its child", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			scaleTask.Spawn(ctx, x[1:], 3)
			x[0] += x[1]
			return nil
		}, tasks.Weak(tasks.Inout))
		scaleTask.Spawn(rt, x, 2)
		outer.Spawn(rt, x)
		return after(x)
	}},
	{"a slice passed as Value is written", func(rt *dataflow.Runtime) func() any {
		x, log := numbers(4), make([]float64, 3)
		record := tasks.Declare3("record", func(x []float64, log []float64, i int) { log[i] = x[i]; later(); log[i] += sum(log) }, tasks.Input, tasks.Value, tasks.Value)
		for i := range log {
			record.Spawn(rt, x, log, i)
		}
		return after(log)
	}},
	{"a child writes what its parent does not cover", func(rt *dataflow.Runtime) func() any {
		x, r := new(int), new(int)
		rt.Spawn("outer", func(ctx *tasks.Context) error {
			later()
			ctx.Spawn("inner", func(*tasks.Context) error { *x = 1; return nil }, tasks.Updates(x))
			return nil
		})
		rt.Spawn("read", func(*tasks.Context) error { *r = *x; return nil }, tasks.Reads(x), tasks.Writes(r))
		return after(r)
	}},
	{"a child reads what its parent does not cover", func(rt *dataflow.Runtime) func() any {
		x, r := new(int), new(int)
		rt.Spawn("write", func(*tasks.Context) error { later(); *x = 1; return nil }, tasks.Writes(x))
		rt.Spawn("outer", func(ctx *tasks.Context) error {
			ctx.Spawn("inner", func(*tasks.Context) error { *r = *x; return nil }, tasks.Reads(x), tasks.Updates(r))
			return nil
		}, tasks.Updates(r))
		return after(r)
	}},
	{"a grandchild writes what nobody above covers", func(rt *dataflow.Runtime) func() any {
		x, y := numbers(4), make([]float64, 4)
		rt.Spawn("top", func(ctx *tasks.Context) error {
			later()
			ctx.Spawn("middle", func(ctx *tasks.Context) error {
				scaleTask.Spawn(ctx, x, 5)
				return nil
			}, tasks.Updates(x))
			return nil
		}, tasks.Reads(x[:1]))
		copyTask.Spawn(rt, x, y)
		return after(y)
	}},
	{"a parent declares a part of what its child writes", func(rt *dataflow.Runtime) func() any {
		x, s := numbers(8), new(float64)
		rt.Spawn("outer", func(ctx *tasks.Context) error {
			later()
			scaleTask.Spawn(ctx, x, 2)
			return nil
		}, tasks.Updates(x[:4]))
		sumTask.Spawn(rt, x[4:], s)
		return after(s)
	}},
	{"a body reads a slice that it captured", func(rt *dataflow.Runtime) func() any {
		x, s := make([]float64, 4), new(float64)
		rt.Spawn("write", func(*tasks.Context) error { later(); fill(x, 3); return nil }, tasks.Writes(x))
		rt.Spawn("sum", func(*tasks.Context) error { *s = sum(x); return nil }, tasks.Writes(s))
		return after(s)
	}},
	{"a global variable is updated by several tasks", func(rt *dataflow.Runtime) func() any {
		globalNumber = 0
		x := make([]int, 4)
		for i := range x {
			rt.Spawn("number", func(*tasks.Context) error { n := globalNumber; later(); globalNumber = n + 1; x[i] = n; return nil }, tasks.Writes(&x[i]))
		}
		return after(x)
	}},
	{"less is declared than is read", func(rt *dataflow.Runtime) func() any {
		x, s := make([]float64, 8), new(float64)
		rt.Spawn("write", func(*tasks.Context) error { later(); fill(x, 3); return nil }, tasks.Writes(x[4:]))
		rt.Spawn("sum", func(*tasks.Context) error { *s = sum(x); return nil }, tasks.Reads(x[:4]), tasks.Writes(s))
		return after(s)
	}},
	{"commutative bodies that do not commute", func(rt *dataflow.Runtime) func() any {
		x := new(int)
		append1 := tasks.Declare2("append", func(x *int, digit int) { *x = *x*10 + digit }, tasks.Commutative, tasks.Value)
		for digit := range 6 {
			append1.Spawn(rt, x, digit)
		}
		return after(x)
	}},
	{"concurrent bodies that do not synchronize", func(rt *dataflow.Runtime) func() any {
		n := new(int)
		count := tasks.Declare1("count", func(n *int) { m := *n; later(); *n = m + 1 }, tasks.Concurrent)
		for range 6 {
			count.Spawn(rt, n)
		}
		return after(n)
	}},
	{"children of two parents update what neither covers", func(rt *dataflow.Runtime) func() any {
		n := make([]int, 1)
		for range 4 {
			rt.Spawn("outer", func(ctx *tasks.Context) error {
				ctx.Spawn("inner", func(*tasks.Context) error { m := n[0]; later(); n[0] = m*2 + 1; return nil }, tasks.Updates(n))
				return nil
			})
		}
		return after(n)
	}},
	{"the program reads without a wait", func(rt *dataflow.Runtime) func() any {
		x := make([]float64, 4)
		rt.Spawn("write", func(*tasks.Context) error { later(); fill(x, 3); return nil }, tasks.Writes(x))
		s := sum(x)
		later() // so that Wait is too late to run the task here
		return after(s)
	}},
}
