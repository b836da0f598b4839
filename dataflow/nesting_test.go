package dataflow_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// everywhere runs a test in each mode, in parallel mode with several numbers of
// workers.
func everywhere(t *testing.T, test func(t *testing.T, opts ...dataflow.Option)) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) { test(t, dataflow.Workers(workers)) })
	}
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seeded=%d", seed+1), func(t *testing.T) { test(t, dataflow.Seeded(seed+1)) })
	}
	t.Run("serial", func(t *testing.T) { test(t, dataflow.Serial()) })
	t.Run("verify", func(t *testing.T) { test(t, dataflow.Verify()) })
}

// weakly spawns a task with weak accesses and this body.
func weakly(in tasks.Scope, name string, a tasks.Mode, x any, body func(*tasks.Context) error) {
	tasks.Spawn(in, name, body, tasks.With(tasks.Weak(a), x))
}

func do(f func()) func(*tasks.Context) error {
	return func(*tasks.Context) error {
		f()
		return nil
	}
}

// seen waits until f is true, or gives up after some seconds.
func seen(f func() bool) bool {
	for end := time.Now().Add(patience / 2); !f(); runtime.Gosched() {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// A task with a weak access starts although the region is being written; its child
// waits for the writer, and a later reader for the child.
func TestNesting_weak_access_is_the_childrens(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			x := make([]int, 4)
			var parent atomic.Bool
			err := audited(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("producer", func(ctx *tasks.Context) error {
					ev := ctx.Hold()
					go func() {
						assert.True(t, seen(parent.Load), "the parent did not start while the producer was unfinished")
						x[0] = 1
						ev.Done()
					}()
					return nil
				}, tasks.Updates(x))
				weakly(rt, "parent", tasks.Inout, x, func(ctx *tasks.Context) error {
					parent.Store(true)
					ctx.Spawn("child", do(func() { x[0] = 2*x[0] + 1 }), tasks.Updates(x[:1]))
					ctx.Spawn("child", do(func() { x[1] = 2*x[0] + 1 }), tasks.Reads(x[:1]), tasks.Writes(x[1:2]))
					return nil
				})
				rt.Spawn("reader", do(func() { x[2] = 10*x[0] + x[1] }), tasks.Reads(x[:2]), tasks.Writes(x[2:3]))
				require.NoError(t, rt.WaitOn(x[2:3]))
				assert.Equal(t, []int{3, 7, 37, 0}, x)
				return rt.Wait()
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

// Two generations below a weak access wait for the same producer, and a successor
// of the grandparent for the grandchild.
func TestNesting_weak_below_weak(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 8)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for round := range 20 {
				rt.Spawn("add", do(func() {
					for i := range x {
						x[i]++
					}
				}), tasks.Updates(x))
				weakly(rt, "grandparent", tasks.Inout, x, func(ctx *tasks.Context) error {
					for half := range 2 {
						h := x[4*half : 4*half+4]
						weakly(ctx, "parent", tasks.Inout, h, func(ctx *tasks.Context) error {
							for i := range h {
								ctx.Spawn("child", do(func() { h[i] = 3*h[i] + round }), tasks.Updates(&h[i]))
							}
							return nil
						})
					}
					return nil
				})
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		want := 0
		for round := range 20 {
			want = 3*(want+1) + round
		}
		for i := range x {
			assert.Equal(t, want, x[i])
		}
	})
}

var errChild = errors.New("the child failed")

func fails(*tasks.Context) error { return errChild }

// Children may access only regions that their parent has declared; the error names both.
func TestNesting_mistakes_name_parent_and_child(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 8)
		child := func(in tasks.Scope, a tasks.Access, x []int) {
			tasks.Spawn(in, "child", do(func() { t.Error("a bad spawn ran") }), tasks.With(a, x))
		}
		err := audited(t, func(rt *dataflow.Runtime) error {
			weakly(rt, "narrow", tasks.Inout, x[:4], func(ctx *tasks.Context) error {
				child(ctx, tasks.Weak(tasks.Inout), x[2:6])
				return nil
			})
			err := rt.Wait()
			assert.ErrorContains(t, err, `"narrow"`)
			assert.ErrorContains(t, err, `"child"`)
			assert.ErrorContains(t, err, "nesting_test.go")
			assert.ErrorContains(t, err, "declare it on the parent too")

			weakly(rt, "reader", tasks.Input, x, func(ctx *tasks.Context) error {
				child(ctx, tasks.Inout, x[:1])
				return ctx.Wait()
			})
			err = rt.Wait()
			assert.ErrorContains(t, err, `"reader"`)
			assert.ErrorContains(t, err, "weak in")
			assert.ErrorContains(t, err, "declare the stronger access on the parent")

			rt.Spawn("stranger", func(ctx *tasks.Context) error {
				child(ctx, tasks.Weak(tasks.Input), x)
				return nil
			})
			assert.ErrorContains(t, rt.Wait(), `"stranger"`)
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// A write below a weak read is fine where another access of the parent allows it.
func TestNesting_overlapping_weak_accesses(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []int{1, 2, 3, 4}
		err := audited(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("before", do(func() { x[1]++ }), tasks.Updates(x))
			tasks.Spawn(rt, "both", func(ctx *tasks.Context) error {
				ctx.Spawn("child", do(func() { x[1] *= 10 }), tasks.Updates(x[1:2]))
				ctx.Spawn("child", do(func() { x[2] += x[1] }), tasks.Reads(x[1:2]), tasks.Updates(x[2:3]))
				return nil
			}, tasks.With(tasks.Weak(tasks.Input), x), tasks.With(tasks.Weak(tasks.Inout), x[1:3]))
			tasks.Spawn(rt, "strong and weak", func(ctx *tasks.Context) error {
				x[0] += x[2]
				ctx.Spawn("child", do(func() { x[0] *= 2 }), tasks.Updates(x[:1]))
				return ctx.Wait()
			}, tasks.Updates(x), tasks.With(tasks.Weak(tasks.Inout), x[:2]))
			tasks.Spawn(rt, "weak and strong", func(ctx *tasks.Context) error {
				ctx.Spawn("child", do(func() { x[3] += x[0] }), tasks.Reads(x[:1]), tasks.Updates(x[3:]))
				return nil
			}, tasks.With(tasks.Weak(tasks.Inout), x), tasks.Reads(x[:2]))
			rt.Spawn("after", do(func() { x[3]++ }), tasks.Updates(x))
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, []int{68, 30, 33, 73}, x)
	})
}

// A task that does nothing with its overlapping weak accesses still keeps the
// writer before it and the reader behind it apart.
func TestNesting_unused_weak_accesses_keep_order(t *testing.T) {
	x := make([]int, 4)
	err := audited(t, func(rt *dataflow.Runtime) error {
		for i := range 200 {
			rt.Spawn("writer", func(ctx *tasks.Context) error {
				ev := ctx.Hold()
				go func() {
					runtime.Gosched()
					x[1] = i
					ev.Done()
				}()
				return nil
			}, tasks.Updates(x))
			tasks.Spawn(rt, "idle", do(func() {}), tasks.With(tasks.Weak(tasks.Input), x), tasks.With(tasks.Weak(tasks.Inout), x[:2]), tasks.With(tasks.Weak(tasks.Concurrent), x[1:]))
			rt.Spawn("reader", do(func() { assert.Equal(t, i, x[1]) }), tasks.Reads(x[1:2]))
		}
		return rt.Wait()
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// A reduction and a weak access to the same memory are a mistake in either order.
func TestNesting_weak_access_beside_a_reduction(t *testing.T) {
	sum := tasks.Reduction(0, func(dst, src []int) { dst[0] += src[0] })
	first := tasks.Declare2("first", func(a, b []int) { t.Error("ran") }, sum, tasks.Weak(tasks.Inout))
	last := tasks.Declare2("last", func(a, b []int) { t.Error("ran") }, tasks.Weak(tasks.Inout), sum)
	x := make([]int, 4)
	err := audited(t, func(rt *dataflow.Runtime) error {
		first.Spawn(rt, x, x[:2])
		require.ErrorIs(t, rt.Wait(), deps.ErrReductionMix)
		last.Spawn(rt, x, x)
		require.ErrorIs(t, rt.Wait(), deps.ErrReductionMix)
		return nil
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// A body that waits helps with other tasks, but never with a task that could wait for this
// body: neither could go on, on the same stack.
func TestNesting_waits_do_not_bury_each_other(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 4)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for range 50 {
				rt.Spawn("writer", func(ctx *tasks.Context) error {
					for range 3 {
						ctx.Spawn("child", do(runtime.Gosched))
					}
					err := ctx.Wait()
					x[0]++
					return err
				}, tasks.Updates(x))
				weakly(rt, "weak", tasks.Inout, x, func(ctx *tasks.Context) error {
					ctx.Spawn("child", do(func() { x[0] *= 3 }), tasks.Updates(x[:1]))
					if err := ctx.WaitOn(x[:1]); err != nil {
						return err
					}
					x[0] %= 1000
					ctx.Spawn("child", do(func() { x[0]++ }), tasks.Updates(x[:1]), tasks.If(false))
					return ctx.Wait()
				})
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		want := 0
		for range 50 {
			want = (want+1)*3%1000 + 1
		}
		assert.Equal(t, want, x[0])
	})
}

// A commutative lock is not held by a task whose children wait for another holder.
func TestNesting_commutative_beside_weak(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		c, x := make([]int, 1), make([]int, 1)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for range 30 {
				rt.Spawn("slow", do(func() { time.Sleep(50 * time.Microsecond) }), tasks.Updates(x))
				rt.Spawn("other", do(func() { c[0]++; x[0]++ }), tasks.Updates(x), tasks.With(tasks.Commutative, c))
				tasks.Spawn(rt, "weak", func(ctx *tasks.Context) error {
					c[0]++
					ctx.Spawn("child", do(func() { x[0] *= 2; x[0] %= 1000 }), tasks.Updates(x))
					return nil
				}, tasks.With(tasks.Commutative, c), tasks.With(tasks.Weak(tasks.Inout), x))
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, 60, c[0])
	})
}

var fib *tasks.Task3[int, *int, *atomic.Int64]

func init() {
	fib = tasks.DeclareCtx3("fib", func(ctx *tasks.Context, n int, out *int, ran *atomic.Int64) error {
		ran.Add(1)
		if n < 2 {
			*out = n
			return nil
		}
		var a, b int
		fib.Spawn(ctx, n-1, &a, ran)
		fib.Spawn(ctx, n-2, &b, ran)
		if err := ctx.Wait(); err != nil {
			return err
		}
		*out = a + b
		return nil
	}, tasks.Value, tasks.Output, tasks.Value)
}

// Thousands of tasks that all wait for their children.
func TestNesting_recursion(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		var result int
		var ran atomic.Int64
		err := audited(t, func(rt *dataflow.Runtime) error {
			fib.Spawn(rt, 14, &result, &ran)
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, 377, result)
		assert.EqualValues(t, 1219, ran.Load())
	})
}

// A tree of weak tasks that nobody waits for inside; two passes over the leaves
// follow each other leaf by leaf.
func TestNesting_weak_recursion(t *testing.T) {
	var pass *tasks.Task2[[]int, int]
	pass = tasks.DeclareCtx2("pass", func(ctx *tasks.Context, x []int, k int) error {
		if len(x) <= 4 {
			ctx.Spawn("leaf", do(func() {
				for i := range x {
					x[i] = x[i]*k + i
				}
			}), tasks.Updates(x))
			return nil
		}
		pass.Spawn(ctx, x[:len(x)/2], k)
		pass.Spawn(ctx, x[len(x)/2:], k)
		return nil
	}, tasks.Weak(tasks.Inout), tasks.Value)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 256)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range 8 {
				pass.Spawn(rt, x, k)
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		for i := range x {
			want := 0
			for k := range 8 {
				want = want*k + i%4
			}
			require.Equal(t, want, x[i], "element %d", i)
		}
	})
}

// A long line of descendants ends without recursion, waited for or not.
func TestNesting_deep(t *testing.T) {
	for _, depth := range []int{2000, 200} {
		everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
			count := 0
			var down func(ctx *tasks.Context, left int) error
			down = func(ctx *tasks.Context, left int) error {
				count++
				if left == 0 {
					return nil
				}
				ctx.Spawn("down", func(ctx *tasks.Context) error { return down(ctx, left-1) })
				if depth == 200 {
					return ctx.Wait()
				}
				return nil
			}
			err := audited(t, func(rt *dataflow.Runtime) error {
				rt.Spawn("top", func(ctx *tasks.Context) error { return down(ctx, depth) }, tasks.Updates(&count))
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, depth+1, count)
		})
	}
}

// A failed child fails its parent, unless the parent has waited for it and returns
// nil.
func TestNesting_failed_child(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 2)
		err := audited(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("careless", func(ctx *tasks.Context) error {
				ctx.Spawn("child", fails)
				return nil
			}, tasks.Updates(x[:1]))
			rt.Spawn("dependent", do(func() { t.Error("ran") }), tasks.Reads(x[:1]))
			rt.Spawn("careful", func(ctx *tasks.Context) error {
				ctx.Spawn("child", fails, tasks.Updates(x[1:]))
				ctx.Spawn("skipped", do(func() { t.Error("ran") }), tasks.Reads(x[1:]))
				assert.ErrorIs(t, ctx.Wait(), errChild)
				ctx.Spawn("next", do(func() { x[1] = 1 }), tasks.Updates(x[1:])) // forgiven
				return ctx.Wait()
			}, tasks.Updates(x[1:]))
			rt.Spawn("independent", do(func() { x[1]++ }), tasks.Updates(x[1:]))
			err := rt.Wait()
			require.ErrorIs(t, err, errChild)
			var te *dataflow.TaskError
			require.ErrorAs(t, err, &te)
			assert.Equal(t, "careless", te.Label)
			assert.Contains(t, err.Error(), `"child"`)
			assert.NotContains(t, err.Error(), "careful")
			assert.Equal(t, []int{0, 2}, x)
			assert.NoError(t, rt.Wait(), "an error is reported once")
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// A weak access fails with its task: what depends on it is skipped.
func TestNesting_failure_passes_weak_accesses(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x, y, z := make([]int, 1), make([]int, 1), make([]int, 1)
		err := audited(t, func(rt *dataflow.Runtime) error {
			weakly(rt, "weak", tasks.Inout, x, func(ctx *tasks.Context) error {
				ctx.Spawn("child", fails, tasks.Updates(x))
				return nil
			})
			rt.Spawn("dependent", do(func() { t.Error("ran after a failed weak task") }), tasks.Reads(x))

			// The children of this one are skipped, for what failed outside: then it has
			// not done its work either.
			tasks.Spawn(rt, "middle", func(ctx *tasks.Context) error {
				ctx.Spawn("child", do(func() { t.Error("ran without its input") }), tasks.Reads(x), tasks.Updates(y))
				return nil
			}, tasks.With(tasks.Weak(tasks.Input), x), tasks.With(tasks.Weak(tasks.Inout), y))
			rt.Spawn("dependent", do(func() { t.Error("ran after a task whose children were skipped") }), tasks.Reads(y))

			// A task that is skipped itself.
			tasks.Spawn(rt, "skipped", do(func() { t.Error("ran") }), tasks.Reads(y), tasks.With(tasks.Weak(tasks.Inout), z))
			rt.Spawn("dependent", do(func() { t.Error("ran after a skipped task") }), tasks.Reads(z))

			err := rt.Wait()
			require.ErrorIs(t, err, errChild)
			assert.Contains(t, err.Error(), "5 tasks that depended on failed ones were skipped")
			rt.Spawn("after", do(func() { x[0], y[0], z[0] = 1, 1, 1 }), tasks.Updates(x, y, z))
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, []int{1, 1, 1}, append(append(x, y...), z...))
	})
}

// A body that waits for children that are skipped gets to know.
func TestNesting_wait_reports_skipped_children(t *testing.T) {
	x := make([]int, 1)
	err := audited(t, func(rt *dataflow.Runtime) error {
		rt.Spawn("first", fails, tasks.Updates(x))
		weakly(rt, "weak", tasks.Inout, x, func(ctx *tasks.Context) error {
			ctx.Spawn("child", do(func() { t.Error("ran") }), tasks.Updates(x))
			err := ctx.Wait()
			assert.ErrorContains(t, err, "1 children")
			assert.ErrorContains(t, err, "skipped")
			return err
		})
		require.ErrorIs(t, rt.Wait(), errChild)
		return nil
	}, dataflow.Workers(2))
	require.NoError(t, err)
}

// Final children, and If(false), run in place: before Spawn returns.
func TestNesting_in_place(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 1)
		err := audited(t, func(rt *dataflow.Runtime) error {
			rt.Spawn("slow", do(func() { time.Sleep(time.Millisecond); x[0] = 1 }), tasks.Updates(x))
			rt.Spawn("inline", do(func() { x[0] *= 2 }), tasks.Updates(x), tasks.If(false))
			assert.Equal(t, 2, x[0])
			rt.Spawn("final", func(ctx *tasks.Context) error {
				done := 0
				ctx.Spawn("child", func(ctx *tasks.Context) error {
					ctx.Spawn("grandchild", do(func() { done++ }))
					assert.Equal(t, 1, done)
					done++
					return nil
				})
				assert.Equal(t, 2, done)
				return nil
			}, tasks.Final(true))
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
	})
}

// A parent ends after its own held events and after its children's.
func TestNesting_events_delay_the_parent(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]int, 3)
		later := func(ctx *tasks.Context, f func()) {
			ev := ctx.Hold()
			go func() {
				time.Sleep(100 * time.Microsecond)
				f()
				ev.Done()
			}()
		}
		err := audited(t, func(rt *dataflow.Runtime) error {
			for range 20 {
				rt.Spawn("parent", func(ctx *tasks.Context) error {
					ctx.Spawn("child", func(ctx *tasks.Context) error {
						later(ctx, func() { x[1] = 2 * x[0] })
						return nil
					}, tasks.Reads(&x[0]), tasks.Writes(&x[1]))
					ctx.Spawn("sibling", do(func() { x[1]++ }), tasks.Updates(&x[1]))
					later(ctx, func() { x[2]++ })
					return nil
				}, tasks.Updates(x))
				rt.Spawn("after", do(func() { x[0] = (x[1] + x[2]) % 1000 }), tasks.Updates(x))
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		a, b, c := 0, 0, 0
		for range 20 {
			b = 2*a + 1
			c++
			a = (b + c) % 1000
		}
		assert.Equal(t, []int{a, b, c}, x)
	})
}
