package dataflow_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// join appends digits. It is neither commutative nor associative, so its result shows every
// other order than the order of submission.
var join = tasks.Reduction(uint64(0), func(dst, src []uint64) {
	for i := range dst {
		dst[i] = mix(dst[i], src[i])
	}
})

var (
	joinSlice   = tasks.Declare2("join", func(x []uint64, k uint64) { joinBody(x, k) }, join, tasks.Value)
	joinPointer = tasks.Declare2("join one", func(x *uint64, k uint64) { joinBody(one(x), k) }, join, tasks.Value)
)

func joinBody(x []uint64, k uint64) {
	for range k % 5 {
		runtime.Gosched()
	}
	for i := range x {
		x[i] += k + uint64(i) // the copy starts with zeros
	}
}

func joined(x uint64, i, from, to int) uint64 {
	for k := from; k < to; k++ {
		x = mix(x, uint64(k+i))
	}
	return x
}

// Copies are combined in the order of submission, also when there are more than
// are kept at one time, and before whatever touches the region next.
func TestReduction_order_of_submission(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		for _, n := range []int{1, 2, 63, 64, 65, 129, 300} {
			x, p := []uint64{7, 8, 9}, uint64(1)
			err := audited(t, func(rt *dataflow.Runtime) error {
				for k := range n {
					joinSlice.Spawn(rt, x, uint64(k))
					joinPointer.Spawn(rt, &p, uint64(k))
				}
				rt.Spawn("reader", do(func() {
					assert.Equal(t, joined(7, 0, 0, n), x[0])
					assert.Equal(t, joined(1, 0, 0, n), p)
				}), tasks.Reads(x[:1], &p))
				for k := range n {
					joinSlice.Spawn(rt, x, uint64(n+k))
				}
				require.NoError(t, rt.WaitOn(x[1:]))
				assert.Equal(t, joined(9, 2, 0, 2*n), x[2])
				return rt.Wait()
			}, opts...)
			require.NoError(t, err)
			assert.Equal(t, []uint64{joined(7, 0, 0, 2*n), joined(8, 1, 0, 2*n), joined(9, 2, 0, 2*n)}, x)
		}
	})
}

// Sums of floats round, and are the same bit for bit in every schedule.
func TestReduction_floats_repeat(t *testing.T) {
	plus := tasks.Reduction(0.0, func(dst, src []float64) {
		for i := range dst {
			dst[i] += src[i]
		}
	})
	term := tasks.Declare2("term", func(x []float64, k int) {
		for i := range x {
			x[i] += unit(mix(uint64(i), uint64(k))) * math.Pow(10, float64(k%17))
		}
	}, plus, tasks.Value)
	var first []float64
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]float64, 5)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range 500 {
				term.Spawn(rt, x, k)
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		if first == nil {
			first = x
		}
		assert.Equal(t, first, x)
	})
}

// Two reductions of one region are told apart: each waits for the result of the
// one before. The same holds for regions that overlap.
func TestReduction_two_operations(t *testing.T) {
	other := tasks.Reduction(uint64(1), func(dst, src []uint64) {
		for i := range dst {
			dst[i] = dst[i]*src[i] + 1
		}
	})
	times := tasks.Declare2("times", func(x []uint64, k uint64) {
		for i := range x {
			x[i] *= k // the copy starts with ones
		}
	}, other, tasks.Value)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []uint64{1, 2, 3, 4}
		want := slices.Clone(x)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range uint64(200) {
				part := []int{int(k % 2), 4 - int(k%3/2)}
				switch k % 5 {
				case 0, 1:
					joinSlice.Spawn(rt, x[part[0]:part[1]], k)
					for i := part[0]; i < part[1]; i++ {
						want[i] = mix(want[i], k+uint64(i-part[0]))
					}
				case 2, 3:
					times.Spawn(rt, x[part[0]:part[1]], k)
					for i := part[0]; i < part[1]; i++ {
						want[i] = want[i]*k + 1
					}
				default:
					rt.Spawn("update", do(func() { x[1] += x[2] }), tasks.Updates(x[1:2]), tasks.Reads(x[2:3]))
					want[1] += want[2]
				}
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, want, x)
	})
}

// A task cannot reduce into a region and touch it in another way.
func TestReduction_mix_in_one_task(t *testing.T) {
	body := func(a, b []uint64) { t.Error("a bad spawn ran") }
	read := tasks.Declare2("reads too", body, join, tasks.Input)
	write := tasks.Declare2("writes too", body, tasks.Output, join)
	twice := tasks.Declare2("reduces twice", body, join, join)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]uint64, 8)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for _, bad := range []*tasks.Task2[[]uint64, []uint64]{read, write, twice} {
				for _, b := range [][]uint64{x, x[3:5]} {
					joinSlice.Spawn(rt, x, 1)
					bad.Spawn(rt, x, b)
					err := rt.Wait()
					require.ErrorIs(t, err, deps.ErrReductionMix)
					assert.ErrorContains(t, err, "parameter 2")
					assert.ErrorContains(t, err, "reduction_test.go")
				}
			}
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// The children of weak tasks reduce into what their parents were given, in the
// order of a serial run.
func TestReduction_weak(t *testing.T) {
	parent := tasks.DeclareCtx2("parent", func(ctx *tasks.Context, x []uint64, k uint64) error {
		for j := range uint64(3) {
			joinSlice.Spawn(ctx, x, 10*k+j)
		}
		return nil
	}, tasks.Weak(join), tasks.Value)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []uint64{5}
		want := x[0]
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range uint64(40) {
				parent.Spawn(rt, x, k)
				for j := range uint64(3) {
					want = mix(want, 10*k+j)
				}
				if k%7 == 0 {
					joinSlice.Spawn(rt, x, k)
					want = mix(want, k)
				}
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, want, x[0])
	})
}

// The children share the private copy of their parent.
func TestReduction_children_use_the_private_copy(t *testing.T) {
	parent := tasks.DeclareCtx2("parent", func(ctx *tasks.Context, x []uint64, k uint64) error {
		x[0] = k
		joinSlice.Spawn(ctx, x[:1], k)
		ctx.Spawn("child", do(func() { x[1] = x[0] + 1 }), tasks.Reads(x[:1]), tasks.Updates(x[1:]))
		return nil
	}, join, tasks.Value)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []uint64{5, 6}
		want := slices.Clone(x)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range uint64(100) {
				parent.Spawn(rt, x, k)
				y := mix(k, k)
				want[0], want[1] = mix(want[0], y), mix(want[1], y+1)
			}
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, want, x)
	})
}

// Copies that are used again start with the neutral element again, whatever their
// length was.
func TestReduction_storage_is_used_again(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := make([]uint64, 64)
		want := slices.Clone(x)
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range 300 {
				at, n := k*7%32, k*13%32
				joinSlice.Spawn(rt, x[at:at+n], uint64(k))
				for i := range n {
					want[at+i] = mix(want[at+i], uint64(k+i))
				}
				if k%50 == 49 {
					require.NoError(t, rt.Wait())
				}
			}
			return nil
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, want, x)
	})
}

// When a part fails, nothing is combined, and readers are skipped.
func TestReduction_failed_part(t *testing.T) {
	part := tasks.DeclareCtx2("part", func(_ *tasks.Context, x []uint64, k int) error {
		x[0] = 1
		if k == 3 {
			return errChild
		}
		return nil
	}, join, tasks.Value)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []uint64{5}
		err := audited(t, func(rt *dataflow.Runtime) error {
			for k := range 6 {
				part.Spawn(rt, x, k)
			}
			rt.Spawn("reader", do(func() { t.Error("ran") }), tasks.Reads(x))
			require.ErrorIs(t, rt.Wait(), errChild)
			assert.EqualValues(t, 5, x[0])
			joinSlice.Spawn(rt, x, 9)
			return rt.Wait()
		}, opts...)
		require.NoError(t, err)
		assert.Equal(t, mix(5, 9), x[0])
	})
}

// A panic of the operation is an error that Wait returns.
func TestReduction_panic_of_the_operation(t *testing.T) {
	bad := tasks.Reduction(0, func(dst, src []int) { panic("no sum") })
	part := tasks.Declare1("part", func(x []int) { x[0]++ }, bad)
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		x := []int{0}
		err := audited(t, func(rt *dataflow.Runtime) error {
			part.Spawn(rt, x)
			part.Spawn(rt, x)
			rt.Spawn("reader", do(func() { t.Error("ran") }), tasks.Reads(x))
			err := rt.Wait()
			require.Error(t, err)
			assert.ErrorContains(t, err, "no sum")
			return nil
		}, opts...)
		require.NoError(t, err)
	})
}

// Reductions of nothing are tasks like others.
func TestReduction_of_nothing(t *testing.T) {
	ran := 0
	count := tasks.Declare2("count", func(x, y []uint64) { ran++ }, join, join)
	point := tasks.Declare1("point", func(x *uint64) { assert.Nil(t, x); ran++ }, join)
	err := audited(t, func(rt *dataflow.Runtime) error {
		x := make([]uint64, 4)
		for range 10 {
			count.Spawn(rt, nil, nil)
			count.Spawn(rt, x[2:2], x[:0])
			point.Spawn(rt, nil)
		}
		return rt.Wait()
	}, dataflow.Workers(1))
	require.NoError(t, err)
	assert.Equal(t, 30, ran)
}

// Parts of a reduction run side by side: each waits for the other.
func TestReduction_parts_run_together(t *testing.T) {
	both := make(chan int)
	part := tasks.DeclareCtx2("part", func(ctx *tasks.Context, x []uint64, k int) (err error) {
		ctx.Block(func() {
			select {
			case both <- k:
			case <-both:
			case <-ctx.Done():
				err = errors.New("the other part did not start")
			}
		})
		return err
	}, join, tasks.Value)
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("workers=%d", workers), func(t *testing.T) {
			err := audited(t, func(rt *dataflow.Runtime) error {
				x := []uint64{0}
				rt.Spawn("before", do(runtime.Gosched), tasks.Updates(x))
				part.Spawn(rt, x, 0)
				part.Spawn(rt, x, 1)
				return rt.Wait()
			}, dataflow.Workers(workers))
			require.NoError(t, err)
		})
	}
}

var joinTwice = tasks.Declare2("join twice", func(x, y []uint64) { x[0]++; y[0]++ }, join, join)

// A task that names a region twice as a reduction fails, also if the copies that are
// kept for the region reach their limit just between the two names.
func TestReduction_twice_in_one_task(t *testing.T) {
	everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
		for _, open := range []int{0, 1, 62, 63, 64, 127} {
			x := []uint64{7}
			err := audited(t, func(rt *dataflow.Runtime) error {
				for k := range open {
					joinSlice.Spawn(rt, x, uint64(k))
				}
				joinTwice.Spawn(rt, x, x)
				assert.ErrorIs(t, rt.Wait(), deps.ErrReductionMix, "after %d copies", open)
				return nil
			}, opts...)
			require.NoError(t, err)
		}
	})
}

// A reduction and a weak access to the same region are refused, in either order, also after
// another weak access. (In serial mode the copies would be combined between the two, which
// would wait for the task itself.)
func TestReduction_and_weak_in_one_task(t *testing.T) {
	ignore := func(x, y, z []uint64) {}
	weak := tasks.Weak(tasks.Input)
	for name, d := range map[string]*tasks.Task3[[]uint64, []uint64, []uint64]{
		"reduction first":        tasks.Declare3("mixed", ignore, join, weak, weak),
		"another weak one first": tasks.Declare3("mixed", ignore, weak, join, weak),
		"the weak one first":     tasks.Declare3("mixed", ignore, weak, weak, join),
	} {
		everywhere(t, func(t *testing.T, opts ...dataflow.Option) {
			x, other := []uint64{7}, []uint64{8}
			require.NoError(t, audited(t, func(rt *dataflow.Runtime) error {
				if name == "reduction first" {
					d.Spawn(rt, x, x, other)
				} else {
					d.Spawn(rt, other, x, x)
				}
				assert.ErrorIs(t, rt.Wait(), deps.ErrReductionMix, name)
				return nil
			}, opts...))
			assert.Equal(t, []uint64{7}, x)
		})
	}
}
