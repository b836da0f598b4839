package mpi_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi"
)

type (
	celsius float64
	month   uint8
	point   struct{ X, Y, Z float32 }
	grid    [2]struct {
		A [3]int16
		B point
	}
	list struct {
		Value int
		Inner struct{ Next *list }
	}
)

func kind[T any]() mpi.Kind { return mpi.Of([]T{}).Kind() }

func TestKinds(t *testing.T) {
	ints := map[uintptr]mpi.Kind{4: mpi.KindInt32, 8: mpi.KindInt64}
	uints := map[uintptr]mpi.Kind{4: mpi.KindUint32, 8: mpi.KindUint64}
	for _, c := range []struct{ got, want mpi.Kind }{
		{kind[bool](), mpi.KindBool},
		{kind[int8](), mpi.KindInt8}, {kind[int16](), mpi.KindInt16}, {kind[int32](), mpi.KindInt32}, {kind[int64](), mpi.KindInt64},
		{kind[uint8](), mpi.KindUint8}, {kind[uint16](), mpi.KindUint16}, {kind[uint32](), mpi.KindUint32}, {kind[uint64](), mpi.KindUint64},
		{kind[int](), ints[unsafe.Sizeof(0)]}, {kind[uint](), uints[unsafe.Sizeof(uint(0))]}, {kind[uintptr](), uints[unsafe.Sizeof(uintptr(0))]},
		{kind[float32](), mpi.KindFloat32}, {kind[float64](), mpi.KindFloat64},
		{kind[complex64](), mpi.KindComplex64}, {kind[complex128](), mpi.KindComplex128},
		{kind[mpi.Loc[int32]](), mpi.KindLocInt32}, {kind[mpi.Loc[int64]](), mpi.KindLocInt64},
		{kind[mpi.Loc[float32]](), mpi.KindLocFloat32}, {kind[mpi.Loc[float64]](), mpi.KindLocFloat64},
		{kind[celsius](), mpi.KindFloat64}, {kind[month](), mpi.KindUint8}, {kind[time.Duration](), mpi.KindInt64},
		{kind[rune](), mpi.KindInt32}, {kind[byte](), mpi.KindUint8},
		{kind[point](), mpi.KindOpaque}, {kind[grid](), mpi.KindOpaque}, {kind[[4]float64](), mpi.KindOpaque}, {kind[struct{}](), mpi.KindOpaque},
	} {
		require.Equal(t, c.want, c.got)
	}
	require.Equal(t, mpi.KindNone, mpi.Buffer{}.Kind())
}

func TestPointersAreRefused(t *testing.T) {
	for text, b := range map[string]mpi.Buffer{
		"type string contains a pointer (string)": mpi.Of([]string{}),
		"(*int)":           mpi.Of([]*int{}),
		"(map[int]int)":    mpi.Of([]map[int]int{}),
		"(chan int)":       mpi.Of([]chan int{}),
		"(func())":         mpi.Of([]func(){}),
		"(error)":          mpi.Of([]error{}),
		"(unsafe.Pointer)": mpi.Of([]unsafe.Pointer{}),
		"(field Inner: field Next: *mpi_test.list)":       mpi.Of([]list{}),
		"type [3]mpi_test.list contains a pointer (field": mpi.Of([][3]list{}),
	} {
		require.ErrorContains(t, b.Err(), text)
		require.ErrorContains(t, b.Err(), text, "from the table of known types")
	}
}

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range mpi.Kinds {
		require.NotEmpty(t, k.String())
		seen[k.String()] = true
	}
	require.Len(t, seen, int(mpi.Kinds))
	require.Equal(t, "Kind(200)", mpi.Kind(200).String())
	require.Equal(t, "float64", mpi.KindFloat64.String())
}
