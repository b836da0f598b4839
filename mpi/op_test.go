package mpi_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

// apply returns a op b.
func apply[T any](op *mpi.Op, a, b []T) []T {
	acc := append([]T(nil), a...)
	op.Apply(mpi.Of(acc).Pointer(), mpi.Of(b).Pointer(), len(acc), mpi.Of(acc))
	return acc
}

type integers interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func logic[T integers](f func(a, b bool) bool) func(a, b T) T {
	return func(a, b T) T {
		if f(a != 0, b != 0) {
			return 1
		}
		return 0
	}
}

// checkIntegers compares all operations on one integer type with their definitions.
func checkIntegers[T integers](t *testing.T) {
	values := []T{0, 1, 2, 3, 100, 127, ^T(0), ^T(0) - 5}
	for op, f := range map[*mpi.Op]func(a, b T) T{
		mpi.Sum: func(a, b T) T { return a + b }, mpi.Prod: func(a, b T) T { return a * b },
		mpi.Max: func(a, b T) T { return max(a, b) }, mpi.Min: func(a, b T) T { return min(a, b) },
		mpi.Band: func(a, b T) T { return a & b }, mpi.Bor: func(a, b T) T { return a | b }, mpi.Bxor: func(a, b T) T { return a ^ b },
		mpi.Land:    logic[T](func(a, b bool) bool { return a && b }),
		mpi.Lor:     logic[T](func(a, b bool) bool { return a || b }),
		mpi.Lxor:    logic[T](func(a, b bool) bool { return a != b }),
		mpi.Replace: func(_, b T) T { return b },
	} {
		require.NoError(t, op.Defined(mpi.Of(values)))
		require.True(t, op.Predefined())
		for _, a := range values {
			for _, b := range values {
				require.Equal(t, []T{f(a, b), f(b, a)}, apply(op, []T{a, b}, []T{b, a}), "%v %v %v", a, op.Name(), b)
			}
		}
	}
	for _, op := range []*mpi.Op{mpi.MaxLoc, mpi.MinLoc} {
		require.ErrorContains(t, op.Defined(mpi.Of(values)), "is not defined on")
	}
}

func TestOpsOnIntegers(t *testing.T) {
	checkIntegers[int8](t)
	checkIntegers[int16](t)
	checkIntegers[int32](t)
	checkIntegers[int64](t)
	checkIntegers[uint8](t)
	checkIntegers[uint16](t)
	checkIntegers[uint32](t)
	checkIntegers[uint64](t)
	checkIntegers[month](t)
}

func checkFloats[T float32 | float64](t *testing.T) {
	nan := T(math.NaN())
	a, b := []T{1.5, -2, 0, 7}, []T{2, -3, 1, -7}
	require.Equal(t, []T{3.5, -5, 1, 0}, apply(mpi.Sum, a, b))
	require.Equal(t, []T{3, 6, 0, -49}, apply(mpi.Prod, a, b))
	require.Equal(t, []T{2, -2, 1, 7}, apply(mpi.Max, a, b))
	require.Equal(t, []T{1.5, -3, 0, -7}, apply(mpi.Min, a, b))
	for _, op := range []*mpi.Op{mpi.Max, mpi.Min, mpi.Sum, mpi.Prod} {
		for i, x := range apply(op, []T{nan, 1, nan}, []T{1, nan, nan}) {
			require.True(t, x != x, "%s forgets NaN number %d", op.Name(), i)
		}
	}
	for _, op := range []*mpi.Op{mpi.Land, mpi.Lor, mpi.Lxor, mpi.Band, mpi.Bor, mpi.Bxor} {
		require.Error(t, op.Defined(mpi.Of(a)))
	}
}

func TestOpsOnOtherKinds(t *testing.T) {
	checkFloats[float32](t)
	checkFloats[float64](t)
	require.Equal(t, []complex128{3 + 4i}, apply(mpi.Sum, []complex128{1 + 1i}, []complex128{2 + 3i}))
	require.Equal(t, []complex64{-1}, apply(mpi.Prod, []complex64{1i}, []complex64{1i}))
	require.Error(t, mpi.Max.Defined(mpi.Of([]complex64{1})))
	p, q := []bool{false, false, true, true}, []bool{false, true, false, true}
	require.Equal(t, []bool{false, false, false, true}, apply(mpi.Land, p, q))
	require.Equal(t, []bool{false, true, true, true}, apply(mpi.Lor, p, q))
	require.Equal(t, []bool{false, true, true, false}, apply(mpi.Lxor, p, q))
	require.Error(t, mpi.Sum.Defined(mpi.Of(p)))
	require.Error(t, mpi.Sum.Defined(mpi.Of([]point{{}})))
	require.NoError(t, mpi.Replace.Defined(mpi.Of([]point{{}})))
	require.Equal(t, []point{{X: 2}}, apply(mpi.Replace, []point{{X: 1}}, []point{{X: 2}}))
}

func checkLoc[T int32 | int64 | float32 | float64](t *testing.T) {
	type loc = mpi.Loc[T]
	a := []loc{{1, 5}, {2, 5}, {3, 5}, {3, 5}}
	b := []loc{{2, 1}, {1, 1}, {3, 7}, {3, 2}}
	require.NoError(t, mpi.MaxLoc.Defined(mpi.Of(a)))
	require.Error(t, mpi.Sum.Defined(mpi.Of(a)))
	require.Equal(t, []loc{{2, 1}, {2, 5}, {3, 5}, {3, 2}}, apply(mpi.MaxLoc, a, b))
	require.Equal(t, []loc{{1, 5}, {1, 1}, {3, 5}, {3, 2}}, apply(mpi.MinLoc, a, b))
}

func TestLoc(t *testing.T) {
	checkLoc[int32](t)
	checkLoc[int64](t)
	checkLoc[float32](t)
	checkLoc[float64](t)
}

func TestOpsOfUsers(t *testing.T) {
	first, err := mpi.NewOp("first", false, func(acc, in []point) { require.Len(t, in, len(acc)) })
	require.NoError(t, err)
	require.Equal(t, "first", first.Name())
	require.False(t, first.Commutative())
	require.False(t, first.Predefined())
	require.True(t, mpi.Sum.Commutative())
	require.NoError(t, first.Defined(mpi.Of([]point{})))
	require.ErrorContains(t, first.Defined(mpi.Of([]int64{})), `operation "first" is defined on opaque (12 bytes), not on int64 (8 bytes)`)
	require.Error(t, first.Defined(mpi.Of([]grid{})), "opaque, but of another size")
	require.Equal(t, []point{{X: 1}}, apply(first, []point{{X: 1}}, []point{{X: 2}}))
	_, err = mpi.NewOp("words", true, func(acc, in []string) {})
	require.ErrorContains(t, err, `operation "words": type string contains a pointer`)
	_, err = mpi.NewOp[int]("nothing", true, nil)
	require.ErrorContains(t, err, `operation "nothing" has no function`)
}
