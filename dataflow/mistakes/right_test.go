package mistakes

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// rights are right programs, chosen because they resemble mistakes. No mode may complain, and
// each must give the serial result.
var rights = []program{
	{"bytes that end as a mark might", func(rt *dataflow.Runtime) func() any {
		x, b, c := make([]byte, 1000), new(byte), new(int8)
		bytes := tasks.Declare3("bytes", func(x []byte, b *byte, c *int8) {
			for i := range x {
				x[i] = byte(i)
			}
			*b, *c = 0xa5, -91
		}, tasks.Output, tasks.Output, tasks.Output)
		for range 50 { // as many marks
			bytes.Spawn(rt, x, b, c)
		}
		return after([]any{x, b, c})
	}},
	{"bytes that are all alike, from a body that captures", func(rt *dataflow.Runtime) func() any {
		v, x, y := byte(0xa5), make([]byte, 256), make([]uint16, 256)
		for range 50 {
			rt.Spawn("bytes", func(*tasks.Context) error {
				for i := range x {
					x[i], y[i] = v, uint16(v)
				}
				return nil
			}, tasks.Writes(x, y))
		}
		return after([]any{x, y})
	}},
	{"a body that fails writes nothing", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		fails := tasks.DeclareCtx1("fails", func(*tasks.Context, []float64) error { return errRight }, tasks.Output)
		fails.Spawn(rt, x)
		err := rt.Wait()
		return func() any {
			return []any{x, errors.Is(err, errRight), strings.Contains(err.Error(), "verify")}
		}
	}},
	{"children that fail leave an Output", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			ctx.Spawn("fails", func(*tasks.Context) error { return errRight }, tasks.Writes(x))
			return nil
		}, tasks.Output)
		outer.Spawn(rt, x)
		err := rt.Wait()
		return func() any {
			return []any{x, errors.Is(err, errRight), strings.Contains(err.Error(), "verify")}
		}
	}},
	{"a held event writes an Output", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		receive := tasks.DeclareCtx1("receive", func(ctx *tasks.Context, x []float64) error {
			ev := ctx.Hold()
			go func() { later(); fill(x, 5); ev.Done() }()
			return nil
		}, tasks.Output)
		receive.Spawn(rt, x)
		scaleTask.Spawn(rt, x, 2)
		return after(x)
	}},
	{"children write an Output", func(rt *dataflow.Runtime) func() any {
		x := numbers(8)
		halves := tasks.DeclareCtx1("halves", func(ctx *tasks.Context, x []float64) error {
			fillTask.Spawn(ctx, x[:4], 1)
			fillTask.Spawn(ctx, x[4:], 2)
			return nil
		}, tasks.Output)
		halves.Spawn(rt, x)
		return after(x)
	}},
	{"weak accesses, two deep", func(rt *dataflow.Runtime) func() any {
		x := numbers(8)
		inner := tasks.DeclareCtx1("inner", func(ctx *tasks.Context, x []float64) error {
			scaleTask.Spawn(ctx, x[:2], 2)
			scaleTask.Spawn(ctx, x[2:], 3)
			return ctx.Wait()
		}, tasks.Weak(tasks.Inout))
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			inner.Spawn(ctx, x[:4])
			inner.Spawn(ctx, x[4:])
			scaleTask.Spawn(ctx, x, 5)
			return nil
		}, tasks.Weak(tasks.Inout))
		outer.Spawn(rt, x)
		outer.Spawn(rt, x)
		scaleTask.Spawn(rt, x, 7)
		return after(x)
	}},
	{"weak accesses that the body waits for", func(rt *dataflow.Runtime) func() any {
		x := numbers(8)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, x []float64) error {
			scaleTask.Spawn(ctx, x[:4], 2)
			err := ctx.WaitOn(x[:4])
			x[0]++
			scaleTask.Spawn(ctx, x[4:], 3)
			err = errors.Join(err, ctx.Wait())
			x[7]++
			return err
		}, tasks.Weak(tasks.Inout))
		scaleTask.Spawn(rt, x, 2)
		outer.Spawn(rt, x)
		scaleTask.Spawn(rt, x, 2)
		return after(x)
	}},
	{"a weak tile among others", func(rt *dataflow.Runtime) func() any {
		a := tasks.Tile[float64]{Data: numbers(64), Rows: 8, Cols: 8, LD: 8}
		double := tasks.Declare1("double", func(t tasks.Tile[float64]) {
			for j := range t.Cols {
				scaled(t.Col(j), 2)
			}
		}, tasks.Inout)
		outer := tasks.DeclareCtx1("outer", func(ctx *tasks.Context, t tasks.Tile[float64]) error {
			double.Spawn(ctx, t.Sub(0, 0, 2, 4))
			double.Spawn(ctx, t.Sub(1, 1, 3, 3))
			return nil
		}, tasks.Weak(tasks.Inout))
		for i := range 2 {
			outer.Spawn(rt, a.Sub(4*i, 2, 4, 4))
			double.Spawn(rt, a.Sub(4*i, 0, 4, 8))
		}
		return after(a.Data)
	}},
	{"children on variables of their parents", func(rt *dataflow.Runtime) func() any {
		var fib func(in tasks.Scope, n int, r *int)
		fib = func(in tasks.Scope, n int, r *int) {
			tasks.Spawn(in, "fib", func(ctx *tasks.Context) error {
				if *r = n; n < 2 {
					return nil
				}
				var a, b int
				fib(ctx, n-1, &a)
				fib(ctx, n-2, &b)
				err := ctx.Wait()
				*r = a + b
				return err
			}, tasks.Writes(r))
		}
		r := make([]int, 3)
		for i := range 9 {
			fib(rt, 6, &r[i%3])
		}
		return after(r)
	}},
	{"children ordered by a handle of their parents", func(rt *dataflow.Runtime) func() any {
		x, token := numbers(4), deps.Handle(5)
		for i := range 4 {
			rt.Spawn("outer", func(ctx *tasks.Context) error {
				scaleTask.Spawn(ctx, x, float64(i+1))
				ctx.Spawn("shift", func(*tasks.Context) error { x[0] += float64(i); return nil }, tasks.Updates(x))
				return nil
			}, tasks.Updates(token))
		}
		rt.Spawn("last", func(*tasks.Context) error { x[0]++; return nil }, tasks.Updates(x), tasks.Reads(token))
		return after(x)
	}},
	{"in place", func(rt *dataflow.Runtime) func() any {
		x := numbers(8)
		twice := tasks.Declare2("twice", func(in, out []float64) {
			for i := range out {
				out[i] = 2 * in[i]
			}
		}, tasks.Input, tasks.Output)
		twice.Spawn(rt, x, x)
		copyTask.Spawn(rt, x[1:], x[:7])
		twice.Spawn(rt, x[4:], x[2:6])
		return after(x)
	}},
	{"NaN and infinities", func(rt *dataflow.Runtime) func() any {
		x, y := make([]float64, 8), make([]float32, 8)
		extremes := tasks.Declare2("extremes", func(x []float64, y []float32) {
			for i := range x {
				x[i] = [...]float64{math.NaN(), math.Inf(1), -math.NaN(), 1.25e300}[i%4]
				y[i] = float32(math.Log(-1 - float64(i)))
			}
		}, tasks.Output, tasks.Output)
		extremes.Spawn(rt, x, y)
		extremes.Spawn(rt, x, y)
		return after([]any{x, y})
	}},
	{"reductions", func(rt *dataflow.Runtime) func() any {
		total := tasks.Reduction(0, func(dst, src []float64) {
			for i := range dst {
				dst[i] += src[i]
			}
		})
		dot := tasks.Declare3("dot", func(x, y, r []float64) {
			for i := range x {
				r[0] += x[i] * y[i]
			}
		}, tasks.Input, tasks.Input, total)
		x, r := numbers(16), []float64{1}
		for i := range 4 {
			dot.Spawn(rt, x[4*i:4*i+4], x[:4], r)
		}
		scaleTask.Spawn(rt, r, 2)
		return after(r)
	}},
	{"commutative and concurrent sums", func(rt *dataflow.Runtime) func() any {
		n, m := new(int), new(atomic.Int64)
		count := tasks.Declare3("count", func(n *int, m *atomic.Int64, by int) { *n += by; m.Add(int64(by)) }, tasks.Commutative, tasks.Concurrent, tasks.Value)
		for i := range 8 {
			count.Spawn(rt, n, m, i)
		}
		return func() any { return []any{*n, m.Load()} }
	}},
	{"renamed buffers", func(rt *dataflow.Runtime) func() any {
		b, s := tasks.NewBuffer[int32](8), make([]int32, 6)
		produce := tasks.Declare2("produce", func(b *tasks.Buffer[int32], v int32) {
			for i := range b.Slice() {
				b.Slice()[i] = v + int32(i)
			}
		}, tasks.Output, tasks.Value)
		consume := tasks.Declare2("consume", func(b *tasks.Buffer[int32], s *int32) {
			*s = 0
			for _, v := range b.Slice() {
				*s += v
			}
		}, tasks.Input, tasks.Output)
		for i := range s {
			produce.Spawn(rt, b, int32(i))
			consume.Spawn(rt, b, &s[i])
		}
		rt.Spawn("dynamic", func(*tasks.Context) error { s[0]++; return nil }, tasks.Reads(b), tasks.Updates(s))
		return after(s)
	}},
	{"transposed tiles", func(rt *dataflow.Runtime) func() any {
		a := tasks.Tile[float32]{Data: make([]float32, 36), Rows: 6, Cols: 6, LD: 6}
		for i := range a.Data {
			a.Data[i] = float32(i)
		}
		transpose := tasks.Declare2("transpose", func(in, out tasks.Tile[float32]) {
			for i := range out.Rows {
				for j := range out.Cols {
					*out.At(i, j) = *in.At(j, i)
				}
			}
		}, tasks.Input, tasks.Output)
		for i := range 3 {
			transpose.Spawn(rt, a.Sub(2*i, 0, 2, 2), a.Sub(0, 4, 2, 2))
			transpose.Spawn(rt, a.Sub(0, 4, 2, 2), a.Sub(2*i, 2, 2, 2))
		}
		return after(a.Data)
	}},
	{"results of chance", func(rt *dataflow.Runtime) func() any {
		x, coin, n := make([]uint32, 16), new(bool), new(int)
		throw := tasks.Declare3("throw", func(x []uint32, coin *bool, n *int) {
			for i := range x {
				x[i] = rand.Uint32()
			}
			*coin, *n = rand.IntN(2) == 0, rand.IntN(2)
		}, tasks.Output, tasks.Output, tasks.Output)
		for range 50 {
			throw.Spawn(rt, x, coin, n)
		}
		return after(nil)
	}},
	{"a body that counts its calls", func(rt *dataflow.Runtime) func() any {
		x := make([]int64, 8)
		ticket := tasks.Declare1("ticket", func(x *int64) { *x = calls.Add(1) }, tasks.Output)
		toggle := tasks.Declare1("toggle", func(x *int64) { *x = calls.Add(1) % 2 }, tasks.Output)
		for i := range x {
			ticket.Spawn(rt, &x[i])
			toggle.Spawn(rt, &x[i])
		}
		return after(nil)
	}},
	{"a body that sends what it captured", func(rt *dataflow.Runtime) func() any {
		x, out := make([]int, 4), make(chan int, 4) // full, if a body ran twice
		send := tasks.Declare1("send", func(x *int) { *x = 7; out <- *x }, tasks.Output)
		for i := range x {
			send.Spawn(rt, &x[i])
		}
		return after(x)
	}},
	{"a channel among the Values", func(rt *dataflow.Runtime) func() any {
		x, out := make([]int, 4), make(chan int, 4)
		send := tasks.Declare2("send", func(x *int, out chan int) { *x = 7; out <- *x }, tasks.Output, tasks.Value)
		for i := range x {
			send.Spawn(rt, &x[i], out)
		}
		return after(x)
	}},
	{"strings, maps and pointers", func(rt *dataflow.Runtime) func() any {
		names, e, m, xs := make([]string, 2), new(entry), new(map[string]int), make([][]int, 2)
		set := tasks.Declare4("set", func(names []string, e *entry, m *map[string]int, xs [][]int) {
			names[0], names[1] = "", "second"
			*e = entry{key: "key"}
			*m = map[string]int{"a": 1}
			xs[0], xs[1] = nil, []int{1}
		}, tasks.Output, tasks.Output, tasks.Output, tasks.Output)
		set.Spawn(rt, names, e, m, xs)
		set.Spawn(rt, names, e, m, xs)
		return func() any { return []any{names, *e, *m, xs} }
	}},
	{"structs with holes", func(rt *dataflow.Runtime) func() any {
		type holes struct {
			a byte
			_ int32
			b float64
			c bool
			d [3]int16
		}
		x := make([]holes, 5)
		set := tasks.Declare1("set", func(x []holes) {
			for i := range x {
				x[i].a, x[i].b, x[i].c, x[i].d = byte(i), 1, true, [3]int16{1, 2, 3}
			}
		}, tasks.Output)
		set.Spawn(rt, x)
		return after(x)
	}},
	{"an Output with a lock in it", func(rt *dataflow.Runtime) func() any {
		type locked struct {
			mu sync.Mutex
			n  int
		}
		l := new(locked)
		set := tasks.Declare1("set", func(l *locked) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.n = 7
		}, tasks.Output)
		set.Spawn(rt, l)
		return func() any { return l.n }
	}},
	{"types with a Region method", func(rt *dataflow.Runtime) func() any {
		f, g := &field{"a", numbers(8)}, &field{"b", numbers(8)}
		copyField := tasks.Declare2("copyField", func(in, out *field) { copy(out.data, in.data) }, tasks.Input, tasks.Output)
		scaleField := tasks.Declare1("scaleField", func(f *field) { scaled(f.data, 2) }, tasks.Inout)
		for range 3 {
			copyField.Spawn(rt, f, g)
			scaleField.Spawn(rt, f)
			rt.Spawn("dynamic", func(*tasks.Context) error { f.data[0] += g.data[0]; return nil }, tasks.Reads(g), tasks.Updates(f))
		}
		return after([]any{f.data, g.data})
	}},
	{"regions that are no memory", func(rt *dataflow.Runtime) func() any {
		x := make([]int, 3)
		place := tasks.Declare2("place", func(h token, x *int) { *x = int(h) }, tasks.Inout, tasks.Output)
		for i := range x {
			place.Spawn(rt, token(i%2), &x[i])
			rt.Spawn("dynamic", func(*tasks.Context) error { x[i]++; return nil }, tasks.Updates(&x[i]), tasks.Reads(token(1)), tasks.Writes(deps.Handle(9)))
		}
		return after(x)
	}},
	{"all clauses of the dynamic form", func(rt *dataflow.Runtime) func() any {
		x, xs, n := numbers(4), [][]int{integers(2), integers(3)}, new(int)
		rt.Spawn("write", func(*tasks.Context) error { fill(x, 2); return nil }, tasks.Writes(deps.Slice(x)))
		rt.Spawn("each", func(*tasks.Context) error { add(xs[0], 1); add(xs[1], 2); return nil }, tasks.With(tasks.Each(tasks.Inout), xs))
		rt.Spawn("clear", func(*tasks.Context) error { clear(xs[0]); clear(xs[1]); return nil }, tasks.With(tasks.Each(tasks.Output), xs))
		rt.Spawn("count", func(*tasks.Context) error { *n += len(x); return nil }, tasks.With(tasks.Commutative, n), tasks.Reads(x, xs[0]), tasks.If(false))
		rt.Spawn("weak", func(ctx *tasks.Context) error { scaleTask.Spawn(ctx, x, 2); return nil }, tasks.With(tasks.Weak(tasks.Inout), x), tasks.HighPriority)
		return after([]any{x, xs, n})
	}},
	{"Values that are read, and atomic ones", func(rt *dataflow.Runtime) func() any {
		table, hits, x := numbers(4), make([]atomic.Int32, 4), make([]float64, 8)
		lookUp := tasks.Declare4("lookUp", func(table []float64, hits []atomic.Int32, i int, x *float64) {
			*x = table[i]
			hits[i].Add(1)
		}, tasks.Value, tasks.Value, tasks.Value, tasks.Output)
		for i := range x {
			lookUp.Spawn(rt, table, hits, i%4, &x[i])
		}
		return after(x)
	}},
	{"a Value slice that children update", func(rt *dataflow.Runtime) func() any {
		x := numbers(8)
		outer := tasks.DeclareCtx2("outer", func(ctx *tasks.Context, x []float64, first *float64) error {
			scaleTask.Spawn(ctx, x[4:], 2)
			*first = 3
			return ctx.Wait()
		}, tasks.Value, tasks.Inout)
		outer.Spawn(rt, x, &x[0])
		return after(x)
	}},
	{"waits in between", func(rt *dataflow.Runtime) func() any {
		x, h, s := integers(4), integers(4), 0
		for range 3 {
			countTask.Spawn(rt, x)
			assert.NoError(nobody{}, rt.WaitOn(x))
			s += x[0]
			countTask.Spawn(rt, h)
			assert.NoError(nobody{}, rt.Wait())
			add(h, 1)
		}
		return after([]any{x, h, s})
	}},
	{"a body that panics on its own", func(rt *dataflow.Runtime) func() any {
		x := numbers(4)
		rt.Spawn("outer", func(ctx *tasks.Context) error {
			ctx.Spawn("inner", func(*tasks.Context) error { x[0] = 9; panic("deliberate") }, tasks.Updates(x))
			_ = ctx.Wait()
			return nil
		}, tasks.With(tasks.Weak(tasks.Inout), x))
		return after(x)
	}},
}

var errRight = errors.New("deliberate")

var calls atomic.Int64

// token is a type whose region is a handle.
type token int

func (t token) Region() deps.Region { return deps.Handle(uintptr(t)) }

// nobody panics where an assertion fails: programs run without a test, too.
type nobody struct{}

func (nobody) Errorf(format string, args ...any) { panic(format) }
