package engine

import (
	"cmp"
	"fmt"
	"unsafe"
)

// Op is the operation of a reduction. mpi.Op is the same with the methods for programs.
type Op struct {
	name        string
	code        opCode
	commutative bool
	kind        Kind // of the elements of a user's operation
	size        int
	apply       func(acc, in unsafe.Pointer, n int)
}

type opCode uint8

const (
	opUser opCode = iota
	opSum
	opProd
	opMax
	opMin
	opLand
	opLor
	opLxor
	opBand
	opBor
	opBxor
	opMaxLoc
	opMinLoc
	opReplace
)

// The predefined operations. Package mpi documents them.
var (
	Sum     = &Op{name: "sum", code: opSum, commutative: true}
	Prod    = &Op{name: "prod", code: opProd, commutative: true}
	Max     = &Op{name: "max", code: opMax, commutative: true}
	Min     = &Op{name: "min", code: opMin, commutative: true}
	Land    = &Op{name: "land", code: opLand, commutative: true}
	Lor     = &Op{name: "lor", code: opLor, commutative: true}
	Lxor    = &Op{name: "lxor", code: opLxor, commutative: true}
	Band    = &Op{name: "band", code: opBand, commutative: true}
	Bor     = &Op{name: "bor", code: opBor, commutative: true}
	Bxor    = &Op{name: "bxor", code: opBxor, commutative: true}
	MaxLoc  = &Op{name: "maxloc", code: opMaxLoc, commutative: true}
	MinLoc  = &Op{name: "minloc", code: opMinLoc, commutative: true}
	Replace = &Op{name: "replace", code: opReplace}
)

// UserOp returns an operation of a program on elements of a kind and a size. apply combines
// n elements at in into those at acc.
func UserOp(name string, commutative bool, kind Kind, size uintptr, apply func(acc, in unsafe.Pointer, n int)) *Op {
	return &Op{name: name, commutative: commutative, kind: kind, size: int(size), apply: apply}
}

// Name returns the name of the operation.
func (o *Op) Name() string { return o.name }

// Commutative reports whether the order of the operands does not matter.
func (o *Op) Commutative() bool { return o.commutative }

// Predefined reports whether o is one of the package's own operations.
func (o *Op) Predefined() bool { return o.code != opUser }

// Defined returns an error if o cannot combine elements of b.
func (o *Op) Defined(b Buffer) error {
	switch {
	case o.code == opUser && (b.kind != o.kind || b.ElemSize() != o.size):
		return fmt.Errorf("operation %q is defined on %v (%d bytes), not on %v (%d bytes)", o.name, o.kind, o.size, b.kind, b.ElemSize())
	case o.code == opReplace, o.code == opUser:
		return nil
	}
	if combiners[o.code][b.kind] == nil {
		return fmt.Errorf("operation %q is not defined on %v", o.name, b.kind)
	}
	return nil
}

// Apply combines n elements at acc, which come from lower ranks, with n elements at in, into
// acc. like has their kind, on which o must be defined.
func (o *Op) Apply(acc, in unsafe.Pointer, n int, like Buffer) {
	switch o.code {
	case opUser:
		o.apply(acc, in, n)
	case opReplace:
		bytes := n * like.ElemSize()
		copy(unsafe.Slice((*byte)(acc), bytes), unsafe.Slice((*byte)(in), bytes))
	default:
		combiners[o.code][like.kind](acc, in, n)
	}
}

type combiner func(acc, in unsafe.Pointer, n int)

// Immutable.
var combiners = makeCombiners()

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type number interface {
	integer | float32 | float64 | complex64 | complex128
}

func each[T any](f func(a, b T) T) combiner {
	return func(acc, in unsafe.Pointer, n int) {
		a, b := unsafe.Slice((*T)(acc), n), unsafe.Slice((*T)(in), n)
		for i := range a {
			a[i] = f(a[i], b[i])
		}
	}
}

// sum is written out, without a function call per element, because it is used most.
func sum[T number]() combiner {
	return func(acc, in unsafe.Pointer, n int) {
		a, b := unsafe.Slice((*T)(acc), n), unsafe.Slice((*T)(in), n)
		for i := range a {
			a[i] += b[i]
		}
	}
}

func addNumber[T number](t *[opReplace][Kinds]combiner, k Kind) {
	t[opSum][k] = sum[T]()
	t[opProd][k] = each(func(a, b T) T { return a * b })
}

func addOrdered[T cmp.Ordered](t *[opReplace][Kinds]combiner, k Kind) {
	t[opMax][k] = each(func(a, b T) T { return max(a, b) })
	t[opMin][k] = each(func(a, b T) T { return min(a, b) })
}

func addInteger[T integer](t *[opReplace][Kinds]combiner, k Kind) {
	addNumber[T](t, k)
	addOrdered[T](t, k)
	truth := func(b bool) T {
		if b {
			return 1
		}
		return 0
	}
	t[opLand][k] = each(func(a, b T) T { return truth(a != 0 && b != 0) })
	t[opLor][k] = each(func(a, b T) T { return truth(a != 0 || b != 0) })
	t[opLxor][k] = each(func(a, b T) T { return truth((a != 0) != (b != 0)) })
	t[opBand][k] = each(func(a, b T) T { return a & b })
	t[opBor][k] = each(func(a, b T) T { return a | b })
	t[opBxor][k] = each(func(a, b T) T { return a ^ b })
}

// loc has the memory layout of mpi.Loc.
type loc[T int32 | int64 | float32 | float64] struct {
	Value T
	Index int64
}

func addLoc[T int32 | int64 | float32 | float64](t *[opReplace][Kinds]combiner, k Kind) {
	pick := func(better func(a, b T) bool) combiner {
		return each(func(a, b loc[T]) loc[T] {
			if better(b.Value, a.Value) || b.Value == a.Value && b.Index < a.Index {
				return b
			}
			return a
		})
	}
	t[opMaxLoc][k] = pick(func(a, b T) bool { return a > b })
	t[opMinLoc][k] = pick(func(a, b T) bool { return a < b })
}

func makeCombiners() *[opReplace][Kinds]combiner {
	t := new([opReplace][Kinds]combiner)
	addInteger[int8](t, KindInt8)
	addInteger[int16](t, KindInt16)
	addInteger[int32](t, KindInt32)
	addInteger[int64](t, KindInt64)
	addInteger[uint8](t, KindUint8)
	addInteger[uint16](t, KindUint16)
	addInteger[uint32](t, KindUint32)
	addInteger[uint64](t, KindUint64)
	addNumber[float32](t, KindFloat32)
	addNumber[float64](t, KindFloat64)
	addNumber[complex64](t, KindComplex64)
	addNumber[complex128](t, KindComplex128)
	addOrdered[float32](t, KindFloat32)
	addOrdered[float64](t, KindFloat64)
	addLoc[int32](t, KindLocInt32)
	addLoc[int64](t, KindLocInt64)
	addLoc[float32](t, KindLocFloat32)
	addLoc[float64](t, KindLocFloat64)
	t[opLand][KindBool] = each(func(a, b bool) bool { return a && b })
	t[opLor][KindBool] = each(func(a, b bool) bool { return a || b })
	t[opLxor][KindBool] = each(func(a, b bool) bool { return a != b })
	return t
}
