package mpi_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
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

func kind[T any]() engine.Kind { return mpi.Of([]T{}).Kind() }

func TestKinds(t *testing.T) {
	ints := map[uintptr]engine.Kind{4: engine.KindInt32, 8: engine.KindInt64}
	uints := map[uintptr]engine.Kind{4: engine.KindUint32, 8: engine.KindUint64}
	for _, c := range []struct{ got, want engine.Kind }{
		{kind[bool](), engine.KindBool},
		{kind[int8](), engine.KindInt8}, {kind[int16](), engine.KindInt16}, {kind[int32](), engine.KindInt32}, {kind[int64](), engine.KindInt64},
		{kind[uint8](), engine.KindUint8}, {kind[uint16](), engine.KindUint16}, {kind[uint32](), engine.KindUint32}, {kind[uint64](), engine.KindUint64},
		{kind[int](), ints[unsafe.Sizeof(0)]}, {kind[uint](), uints[unsafe.Sizeof(uint(0))]}, {kind[uintptr](), uints[unsafe.Sizeof(uintptr(0))]},
		{kind[float32](), engine.KindFloat32}, {kind[float64](), engine.KindFloat64},
		{kind[complex64](), engine.KindComplex64}, {kind[complex128](), engine.KindComplex128},
		{kind[mpi.Loc[int32]](), engine.KindLocInt32}, {kind[mpi.Loc[int64]](), engine.KindLocInt64},
		{kind[mpi.Loc[float32]](), engine.KindLocFloat32}, {kind[mpi.Loc[float64]](), engine.KindLocFloat64},
		{kind[celsius](), engine.KindFloat64}, {kind[month](), engine.KindUint8}, {kind[time.Duration](), engine.KindInt64},
		{kind[rune](), engine.KindInt32}, {kind[byte](), engine.KindUint8},
		{kind[point](), engine.KindOpaque}, {kind[grid](), engine.KindOpaque}, {kind[[4]float64](), engine.KindOpaque}, {kind[struct{}](), engine.KindOpaque},
	} {
		require.Equal(t, c.want, c.got)
	}
	require.Equal(t, engine.KindNone, mpi.Buffer{}.Kind())
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
	for k := range engine.Kinds {
		require.NotEmpty(t, k.String())
		seen[k.String()] = true
	}
	require.Len(t, seen, int(engine.Kinds))
	require.Equal(t, "Kind(200)", engine.Kind(200).String())
	require.Equal(t, "float64", engine.KindFloat64.String())
}
