package dataflow_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

type ibuf = tasks.Buffer[int]

var (
	// hold reads a buffer and ends when it is told to.
	holdBuffer = tasks.DeclareCtx3("hold", func(ctx *tasks.Context, b *ibuf, want int, ev chan<- *tasks.Event) error {
		if got := b.Slice()[0]; got != want {
			return fmt.Errorf("the reader sees %d and should see %d", got, want)
		}
		ev <- ctx.Hold()
		return nil
	}, tasks.Input, tasks.Value, tasks.Value)

	// fill overwrites a buffer.
	fillBuffer = tasks.Declare3("fill", func(b *ibuf, x int, ran *atomic.Int32) {
		for i := range b.Slice() {
			b.Slice()[i] = x
		}
		ran.Add(1)
	}, tasks.Output, tasks.Value, tasks.Value)

	// bump updates a buffer.
	bumpBuffer = tasks.Declare1("bump", func(b *ibuf) { b.Slice()[0]++ }, tasks.Inout)
)

const intSize = 8

// A writer does not wait for a reader of the old content: here the reader ends
// only after the writer has run.
func TestRenaming_writer_passes_reader(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			err := audited(t, func(rt *dataflow.Runtime) error {
				b := tasks.NewBuffer[int](100)
				var ran atomic.Int32
				read := tasks.DeclareCtx1("read", func(ctx *tasks.Context, v *ibuf) error {
					before := v.Slice()[99]
					ctx.Block(func() { assert.True(t, seen(func() bool { return ran.Load() > 0 })) })
					if after := v.Slice()[99]; after != before {
						return fmt.Errorf("the writer changed %d to %d below a reader", before, after)
					}
					return nil
				}, tasks.Input)
				for k := range 20 {
					ran.Store(0)
					read.Spawn(rt, b)
					fillBuffer.Spawn(rt, b, k+1, &ran)
					bumpBuffer.Spawn(rt, b)
					require.NoError(t, rt.Wait())
					assert.Equal(t, k+2, b.Slice()[0])
					assert.Equal(t, k+1, b.Slice()[99])
				}
				return nil
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

// Within the budget writers pass; beyond it they wait. A version that nobody uses
// any more is used again.
func TestRenaming_budget(t *testing.T) {
	const size, copies = 50, 3
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			err := audited(t, func(rt *dataflow.Runtime) error {
				b := tasks.NewBuffer[int](size)
				var ran atomic.Int32
				held := make(chan *tasks.Event, 10)
				for k := range copies {
					holdBuffer.Spawn(rt, b, k, held)
					fillBuffer.Spawn(rt, b, k+1, &ran)
					assert.EqualValues(t, (k+1)*size*intSize, rt.RenamedBytes())
				}
				require.NoError(t, rt.WaitOn(b), "the last writer waits for no reader")
				assert.Eventually(t, func() bool { return ran.Load() == copies }, patience/2, time.Millisecond, "writers of older versions wait for nobody")
				assert.Equal(t, copies, b.Slice()[0])

				// The budget is used up: this writer waits for the reader before it.
				var done atomic.Bool
				holdBuffer.Spawn(rt, b, copies, held)
				fillBuffer.Spawn(rt, b, copies+1, &ran)
				rt.Spawn("check", do(func() { assert.True(t, done.Load(), "the writer passed the reader without a copy") }), tasks.Reads(b))
				assert.EqualValues(t, copies*size*intSize, rt.RenamedBytes())
				go func() {
					var events []*tasks.Event
					for range copies + 1 {
						events = append(events, <-held)
					}
					assert.EqualValues(t, copies, ran.Load())
					done.Store(true)
					for _, ev := range events {
						ev.Done()
					}
				}()
				require.NoError(t, rt.WaitOn(b))
				assert.Equal(t, copies+1, b.Slice()[0])

				// Now all versions but one are free again.
				holdBuffer.Spawn(rt, b, copies+1, held)
				fillBuffer.Spawn(rt, b, copies+2, &ran)
				require.NoError(t, rt.WaitOn(b))
				assert.EqualValues(t, copies*size*intSize, rt.RenamedBytes())
				assert.Equal(t, copies+2, b.Slice()[0])
				(<-held).Done()
				require.NoError(t, rt.Wait())
				assert.Equal(t, copies+2, b.Slice()[0])
				assert.Zero(t, rt.RenamedBytes(), "Wait gives the copies back")
				return nil
			}, dataflow.Workers(workers), dataflow.RenameBudget(copies*size*intSize))
			require.NoError(t, err)
		})
	}
}

// Without renaming nothing is copied, and with it the buffers of one runtime share
// the budget.
func TestRenaming_budget_is_shared(t *testing.T) {
	err := audited(t, func(rt *dataflow.Runtime) error {
		a, b := tasks.NewBuffer[int](10), tasks.NewBuffer[int](10)
		var ran atomic.Int32
		held := make(chan *tasks.Event, 2)
		holdBuffer.Spawn(rt, a, 0, held)
		holdBuffer.Spawn(rt, b, 0, held)
		fillBuffer.Spawn(rt, a, 1, &ran)
		fillBuffer.Spawn(rt, b, 1, &ran)
		assert.EqualValues(t, 10*intSize, rt.RenamedBytes())
		require.NoError(t, rt.WaitOn(a))
		for range 2 {
			ev := <-held
			go ev.Done()
		}
		return rt.Wait()
	}, dataflow.Workers(2), dataflow.RenameBudget(15*intSize))
	require.NoError(t, err)

	err = audited(t, func(rt *dataflow.Runtime) error {
		b := tasks.NewBuffer[int](10)
		first := &b.Slice()[0]
		var ran atomic.Int32
		for k := range 100 {
			held := make(chan *tasks.Event, 1)
			holdBuffer.Spawn(rt, b, k, held)
			go func() { (<-held).Done() }()
			fillBuffer.Spawn(rt, b, k+1, &ran)
			assert.Zero(t, rt.RenamedBytes())
		}
		require.NoError(t, rt.Wait())
		assert.Same(t, first, &b.Slice()[0])
		return nil
	}, dataflow.Workers(2), dataflow.RenameBudget(0))
	require.NoError(t, err)
}

// An Output that would not have to wait keeps the memory it has.
func TestRenaming_only_when_busy(t *testing.T) {
	err := audited(t, func(rt *dataflow.Runtime) error {
		b := tasks.NewBuffer[int](10)
		first := &b.Slice()[0]
		var ran atomic.Int32
		for k := range 10 {
			fillBuffer.Spawn(rt, b, k, &ran)
			require.NoError(t, rt.WaitOn(b))
			assert.Same(t, first, &b.Slice()[0])
		}
		return nil
	}, dataflow.Workers(1))
	require.NoError(t, err)
}

// A task that has one buffer as two parameters sees one memory.
func TestRenaming_same_buffer_twice(t *testing.T) {
	next := tasks.Declare2("next", func(dst, src *ibuf) {
		for i, x := range src.Slice() {
			dst.Slice()[i] = x + 1
		}
	}, tasks.Output, tasks.Input)
	swap := tasks.Declare2("swap", func(dst, src []*ibuf) {
		dst[0].Slice()[0], dst[1].Slice()[0] = src[1].Slice()[0], src[0].Slice()[0]
	}, tasks.Each(tasks.Output), tasks.Each(tasks.Input))
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		err := audited(t, func(rt *dataflow.Runtime) error {
			a, b := tasks.NewBuffer[int](1), tasks.NewBuffer[int](1)
			for k := range 100 {
				rt.Spawn("read", do(func() {}), tasks.Reads(a))
				next.Spawn(rt, a, a)
				if k%3 == 0 {
					swap.Spawn(rt, []*ibuf{a, b}, []*ibuf{a, b})
				}
				if k%5 == 0 {
					next.Spawn(rt, b, a)
				}
			}
			require.NoError(t, rt.Wait())
			x, y := 0, 0
			for k := range 100 {
				x++
				if k%3 == 0 {
					x, y = y, x
				}
				if k%5 == 0 {
					y = x + 1
				}
			}
			assert.Equal(t, []int{x, y}, []int{a.Slice()[0], b.Slice()[0]})
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// A buffer belongs to the tasks of one scope; its versions can be passed on to
// children, where they are memory like any other.
func TestRenaming_in_children(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		var ran atomic.Int32
		err := audited(t, func(rt *dataflow.Runtime) error {
			b := tasks.NewBuffer[int](4)
			bumpBuffer.Spawn(rt, b)
			rt.Spawn("thief", func(ctx *tasks.Context) error {
				bumpBuffer.Spawn(ctx, b)
				return nil
			})
			assert.ErrorContains(t, rt.Wait(), "pass the parameter on to children")

			parent := tasks.DeclareCtx1("parent", func(ctx *tasks.Context, v *ibuf) error {
				own := tasks.NewBuffer[int](4)
				for k := range 5 {
					bumpBuffer.Spawn(ctx, v)
					fillBuffer.Spawn(ctx, own, k, &ran)
					bumpBuffer.Spawn(ctx, own)
					fillBuffer.Spawn(ctx, v, 10*k, &ran)
				}
				bumpBuffer.Spawn(ctx, v)
				if err := ctx.WaitOn(own); err != nil {
					return err
				}
				assert.Equal(t, 5, own.Slice()[0])
				return nil
			}, tasks.Inout)
			for range 10 {
				parent.Spawn(rt, b)
			}
			require.NoError(t, rt.Wait())
			assert.Equal(t, 41, b.Slice()[0])
			assert.Zero(t, rt.RenamedBytes(), "also copies of buffers that children used are given back")
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// A buffer outlives the task that made it and used it for its children.
func TestRenaming_buffer_made_in_a_body(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		var ran atomic.Int32
		err := audited(t, func(rt *dataflow.Runtime) error {
			for range 10 {
				var b *ibuf
				rt.Spawn("maker", func(ctx *tasks.Context) error {
					b = tasks.NewBuffer[int](4)
					for k := range 5 {
						fillBuffer.Spawn(ctx, b, k, &ran)
						bumpBuffer.Spawn(ctx, b)
					}
					return nil
				}, tasks.Writes(&b))
				rt.Spawn("busy", func(ctx *tasks.Context) error { // takes over the maker's domain
					own := tasks.NewBuffer[int](4)
					bumpBuffer.Spawn(ctx, own)
					return nil
				})
				require.NoError(t, rt.WaitOn(&b))
				assert.Equal(t, 5, b.Slice()[0])
				bumpBuffer.Spawn(rt, b)
				require.NoError(t, rt.WaitOn(b))
				assert.Equal(t, 6, b.Slice()[0])
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
	})
}

// A pipeline over a few buffers computes the same with any budget.
func TestRenaming_pipeline(t *testing.T) {
	step := tasks.Declare2("step", func(src, dst *ibuf) {
		for i, x := range src.Slice() {
			dst.Slice()[i] = x*31 + i
		}
	}, tasks.Input, tasks.Output)
	run := func(opts ...dataflow.Option) (sums []int) {
		out := make([]int, 200)
		err := audited(t, func(rt *dataflow.Runtime) error {
			var b [3]*ibuf
			for i := range b {
				b[i] = tasks.NewBuffer[int](16)
			}
			var ran atomic.Int32
			collect := tasks.Declare2("collect", func(v *ibuf, sum *int) {
				for _, x := range v.Slice() {
					*sum = *sum*7 + x
				}
			}, tasks.Input, tasks.Output)
			for k := range out {
				fillBuffer.Spawn(rt, b[0], k, &ran)
				step.Spawn(rt, b[0], b[1])
				step.Spawn(rt, b[1], b[2])
				collect.Spawn(rt, b[2], &out[k])
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		return out
	}
	want := run(dataflow.Serial(), dataflow.RenameBudget(0))
	for _, budget := range []int64{0, 16 * intSize, 100 * intSize, 1 << 20} {
		for _, workers := range []int{1, 2, 4} {
			assert.Equal(t, want, run(dataflow.Workers(workers), dataflow.RenameBudget(budget)))
		}
		assert.Equal(t, want, run(dataflow.Seeded(uint64(budget+1)), dataflow.RenameBudget(budget)))
	}
}
