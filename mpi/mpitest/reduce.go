package mpitest

import (
	"fmt"
	"math"
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// reductionCases: reduce, allreduce, scan, exscan, reduce-scatter, and operations.
func reductionCases() []Case {
	return []Case{
		one("reduce/every root and size", reduceAll),
		one("reduce/in place", reduceInPlace),
		one("allreduce/sizes", allreduceSizes),
		one("scan/sizes", scanSizes),
		one("reductions/layouts", reductionLayouts),
		one("reduce-scatter/equal parts", reduceScatterEqual),
		one("reduce-scatter/any parts", reduceScatterAny),
		one("operation/predefined on integers", operationIntegers),
		one("operation/predefined on floats and complex numbers", operationFloats),
		one("operation/logical on bool", operationBool),
		one("operation/maxloc and minloc", operationLoc),
		one("operation/equal values", operationEqual),
		one("operation/NaN", operationNaN).needs(KeepsNaN),
		one("operation/of the user, commutative", operationUser),
		one("operation/of the user, in the order of ranks", operationMatrix),
		one("operation/same result in every run", operationRepeatable),
	}
}

// sums returns the elementwise sum of the data of ranks from to to-1.
func sums(seed, from, to, n int) []int64 {
	s := make([]int64, n)
	for p := from; p < to; p++ {
		for i, v := range words(seedOf(p, seed), n) {
			s[i] += v
		}
	}
	return s
}

func reduceAll(r *rank) {
	for _, n := range append(r.lengths(), 1, 7) {
		for _, root := range r.few(n) {
			forms(func(later bool) {
				r.at("%d elements, root %d, non-blocking %v", n, root, later)
				s, x := words(seedOf(r.Rank(), n), n), blank(n)
				to := mpi.Of(x)
				if r.Rank() != root && later {
					to = mpi.Buffer{}
				}
				r.must(both(later, func() error { return r.Reduce(mpi.Of(s), to, mpi.Sum, root) },
					func() *mpi.Request { return r.Ireduce(mpi.Of(s), to, mpi.Sum, root) }))
				want := blank(n)
				if r.Rank() == root {
					want = sums(n, 0, r.Size(), n)
				}
				same(r, "result", x, want)
				same(r, "input, unchanged", s, words(seedOf(r.Rank(), n), n))
			})
		}
	}
}

func reduceInPlace(r *rank) {
	for _, n := range r.lengths() {
		for _, root := range r.few(n) {
			r.at("%d elements, root %d", n, root)
			x := words(seedOf(r.Rank(), 1), n)
			if r.Rank() == root {
				r.must(r.Reduce(mpi.InPlace, mpi.Of(x), mpi.Sum, root))
				same(r, "result", x, sums(1, 0, r.Size(), n))
			} else {
				r.must(r.Reduce(mpi.Of(x), mpi.Buffer{}, mpi.Sum, root))
				same(r, "input, unchanged", x, words(seedOf(r.Rank(), 1), n))
			}
		}
	}
}

func allreduceSizes(r *rank) {
	for _, n := range append(r.lengths(), 1, 7, 1001) {
		forms(func(later bool) {
			r.at("%d elements, non-blocking %v", n, later)
			s, x := words(seedOf(r.Rank(), n), n), blank(n)
			r.must(both(later, func() error { return r.Allreduce(mpi.Of(s), mpi.Of(x), mpi.Sum) },
				func() *mpi.Request { return r.Iallreduce(mpi.Of(s), mpi.Of(x), mpi.Sum) }))
			same(r, "result", x, sums(n, 0, r.Size(), n))
			same(r, "input, unchanged", s, words(seedOf(r.Rank(), n), n))
			r.must(both(later, func() error { return r.Allreduce(mpi.InPlace, mpi.Of(s), mpi.Sum) },
				func() *mpi.Request { return r.Iallreduce(mpi.InPlace, mpi.Of(s), mpi.Sum) }))
			same(r, "result in place", s, sums(n, 0, r.Size(), n))
		})
	}
}

func scanSizes(r *rank) {
	for _, n := range append(r.lengths(), 1, 7) {
		forms(func(later bool) {
			for _, inPlace := range []bool{false, true} {
				r.at("%d elements, non-blocking %v, in place %v", n, later, inPlace)
				s, x := words(seedOf(r.Rank(), n), n), blank(n)
				from, to := mpi.Of(s), mpi.Of(x)
				if inPlace {
					copy(x, s)
					from = mpi.InPlace
				}
				r.must(both(later, func() error { return r.Scan(from, to, mpi.Sum) }, func() *mpi.Request { return r.Iscan(from, to, mpi.Sum) }))
				same(r, "scan", x, sums(n, 0, r.Rank()+1, n))
				if x = blank(n); inPlace {
					copy(x, s)
				}
				untouchedAt0 := slices.Clone(x)
				to = mpi.Of(x)
				r.must(both(later, func() error { return r.Exscan(from, to, mpi.Sum) }, func() *mpi.Request { return r.Iexscan(from, to, mpi.Sum) }))
				if r.Rank() == 0 {
					same(r, "exscan of rank 0", x, untouchedAt0)
				} else {
					same(r, "exscan", x, sums(n, 0, r.Rank(), n))
				}
			}
		})
	}
}

// reductionLayouts reduces from and into strided buffers.
func reductionLayouts(r *rank) {
	for _, n := range []int{12, 12_000} {
		for i, from := range layouts {
			to := layouts[(i+r.Rank()+1)%len(layouts)]
			r.at("%d elements, from %s to %s", n, from.name, to.name)
			_, s := from.store(words(seedOf(r.Rank(), i), n))
			x, b := to.blank(n)
			r.must(r.Allreduce(s, b, mpi.Sum))
			to.check(r, "allreduce", x, sums(i, 0, r.Size(), n))
			x, b = to.blank(n)
			r.must(r.Scan(s, b, mpi.Sum))
			to.check(r, "scan", x, sums(i, 0, r.Rank()+1, n))
			root := i % r.Size()
			x, b = to.blank(n)
			r.must(r.Reduce(s, b, mpi.Sum, root))
			if r.Rank() == root {
				to.check(r, "reduce", x, sums(i, 0, r.Size(), n))
			}
			x, b = to.store(words(seedOf(r.Rank(), i), n))
			r.must(r.Allreduce(mpi.InPlace, b, mpi.Sum))
			to.check(r, "allreduce in place", x, sums(i, 0, r.Size(), n))
		}
	}
}

func reduceScatterEqual(r *rank) {
	for _, part := range []int{0, 1, 5, 3000} {
		n := part * r.Size()
		forms(func(later bool) {
			r.at("%d elements each, non-blocking %v", part, later)
			s, x := words(seedOf(r.Rank(), n), n), blank(part)
			r.must(both(later, func() error { return r.ReduceScatter(mpi.Of(s), mpi.Of(x), nil, mpi.Sum) },
				func() *mpi.Request { return r.IreduceScatter(mpi.Of(s), mpi.Of(x), nil, mpi.Sum) }))
			want := sums(n, 0, r.Size(), n)[part*r.Rank() : part*(r.Rank()+1)]
			same(r, "result", x, want)
			r.must(both(later, func() error { return r.ReduceScatter(mpi.InPlace, mpi.Of(s), nil, mpi.Sum) },
				func() *mpi.Request { return r.IreduceScatter(mpi.InPlace, mpi.Of(s), nil, mpi.Sum) }))
			same(r, "result in place", s[:part], want)
		})
	}
}

// reduceScatterAny has parts of different lengths, some of them empty.
func reduceScatterAny(r *rank) {
	for _, unit := range []int{1, 2000} {
		counts, at, n := make([]int, r.Size()), 0, 0
		for p := range counts {
			counts[p] = (p * 2 % 3) * unit
			if p < r.Rank() {
				at += counts[p]
			}
			n += counts[p]
		}
		forms(func(later bool) {
			r.at("parts %v, non-blocking %v", counts, later)
			s, x := words(seedOf(r.Rank(), unit), n), blank(counts[r.Rank()])
			r.must(both(later, func() error { return r.ReduceScatter(mpi.Of(s), mpi.Of(x), counts, mpi.Sum) },
				func() *mpi.Request { return r.IreduceScatter(mpi.Of(s), mpi.Of(x), counts, mpi.Sum) }))
			same(r, "result", x, sums(unit, 0, r.Size(), n)[at:at+len(x)])
		})
	}
}

// operation is a predefined operation and its definition on two elements.
type operation[T any] struct {
	op *mpi.Op
	f  func(a, b T) T
}

// reduces checks operations on type T in all reductions. of returns the elements, for which
// the result must not depend on the order of the operations.
func reduces[T comparable](r *rank, name string, of func(rank, i int) T, ops ...operation[T]) {
	const n = 9
	mine := func(p int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = of(p, i)
		}
		return x
	}
	upTo := func(f func(a, b T) T, end int) []T {
		acc := mine(0)
		for p := 1; p < end; p++ {
			for i, v := range mine(p) {
				acc[i] = f(acc[i], v)
			}
		}
		return acc
	}
	for _, o := range ops {
		r.at("%s on %s", o.op.Name(), name)
		x := make([]T, n)
		r.must(r.Allreduce(mpi.Of(mine(r.Rank())), mpi.Of(x), o.op))
		same(r, "allreduce", x, upTo(o.f, r.Size()))
		r.must(r.Scan(mpi.Of(mine(r.Rank())), mpi.Of(x), o.op))
		same(r, "scan", x, upTo(o.f, r.Rank()+1))
		root := r.Size() - 1
		r.must(r.Reduce(mpi.Of(mine(r.Rank())), mpi.Of(x), o.op, root))
		if r.Rank() == root {
			same(r, "reduce", x, upTo(o.f, r.Size()))
		}
	}
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](r *rank) {
	var z T
	truth := func(b bool) T {
		if b {
			return 1
		}
		return 0
	}
	reduces(r, fmt.Sprintf("%T", z), func(p, i int) T { return T(word(seedOf(p), i) % 5 * uint64(i%4)) },
		operation[T]{mpi.Sum, func(a, b T) T { return a + b }},
		operation[T]{mpi.Prod, func(a, b T) T { return a * b }},
		operation[T]{mpi.Max, func(a, b T) T { return max(a, b) }},
		operation[T]{mpi.Min, func(a, b T) T { return min(a, b) }},
		operation[T]{mpi.Land, func(a, b T) T { return truth(a != 0 && b != 0) }},
		operation[T]{mpi.Lor, func(a, b T) T { return truth(a != 0 || b != 0) }},
		operation[T]{mpi.Lxor, func(a, b T) T { return truth((a != 0) != (b != 0)) }},
		operation[T]{mpi.Band, func(a, b T) T { return a & b }},
		operation[T]{mpi.Bor, func(a, b T) T { return a | b }},
		operation[T]{mpi.Bxor, func(a, b T) T { return a ^ b }})
	high := func(p, i int) T { return ^T(word(seedOf(p, 7), i)) }
	reduces(r, fmt.Sprintf("%T, all bits", z), high,
		operation[T]{mpi.Max, func(a, b T) T { return max(a, b) }},
		operation[T]{mpi.Min, func(a, b T) T { return min(a, b) }},
		operation[T]{mpi.Bxor, func(a, b T) T { return a ^ b }})
}

func operationIntegers(r *rank) {
	integers[int8](r)
	integers[int16](r)
	integers[int32](r)
	integers[int64](r)
	integers[uint8](r)
	integers[uint16](r)
	integers[uint32](r)
	integers[uint64](r)
}

func operationFloats(r *rank) {
	floats[float32](r)
	floats[float64](r)
	reduces(r, "complex64", func(p, i int) complex64 { return complex(float32(p+i), float32(i-p)) },
		operation[complex64]{mpi.Sum, func(a, b complex64) complex64 { return a + b }})
	reduces(r, "complex128", func(p, i int) complex128 { return complex(float64(p+i), float64(i-p)) },
		operation[complex128]{mpi.Sum, func(a, b complex128) complex128 { return a + b }})
	units := []complex128{1, 1i, -1, -1i, 2}
	reduces(r, "complex128", func(p, i int) complex128 { return units[(p+i)%5] },
		operation[complex128]{mpi.Prod, func(a, b complex128) complex128 { return a * b }})
}

func floats[T float32 | float64](r *rank) {
	var z T
	reduces(r, fmt.Sprintf("%T", z), func(p, i int) T { return T(int(word(seedOf(p), i)%9)-4) / 2 },
		operation[T]{mpi.Sum, func(a, b T) T { return a + b }},
		operation[T]{mpi.Prod, func(a, b T) T { return a * b }},
		operation[T]{mpi.Max, func(a, b T) T { return max(a, b) }},
		operation[T]{mpi.Min, func(a, b T) T { return min(a, b) }})
}

func operationBool(r *rank) {
	reduces(r, "bool", func(p, i int) bool { return word(seedOf(p), i)%3 != 0 },
		operation[bool]{mpi.Land, func(a, b bool) bool { return a && b }},
		operation[bool]{mpi.Lor, func(a, b bool) bool { return a || b }},
		operation[bool]{mpi.Lxor, func(a, b bool) bool { return a != b }})
}

func operationLoc(r *rank) {
	locs[int32](r)
	locs[int64](r)
	locs[float32](r)
	locs[float64](r)
}

func locs[T int32 | int64 | float32 | float64](r *rank) {
	var z T
	reduces(r, fmt.Sprintf("Loc[%T]", z), func(p, i int) mpi.Loc[T] {
		return mpi.Loc[T]{Value: T(int(word(seedOf(p), i)%1000)*100+p) - 50_000, Index: int64(1000*p + i)}
	}, pickers[T]()...)
}

// pickers are MaxLoc and MinLoc: among equals the lower index wins.
func pickers[T int32 | int64 | float32 | float64]() []operation[mpi.Loc[T]] {
	pick := func(sign T) func(a, b mpi.Loc[T]) mpi.Loc[T] {
		return func(a, b mpi.Loc[T]) mpi.Loc[T] {
			if a.Value*sign > b.Value*sign || a.Value == b.Value && a.Index < b.Index {
				return a
			}
			return b
		}
	}
	return []operation[mpi.Loc[T]]{{mpi.MaxLoc, pick(1)}, {mpi.MinLoc, pick(-1)}}
}

// operationEqual: among equal values the lowest index wins.
func operationEqual(r *rank) {
	reduces(r, "Loc[float64], equal values", func(p, i int) mpi.Loc[float64] {
		return mpi.Loc[float64]{Value: float64(i), Index: int64((p*7 + i) % 5)}
	}, pickers[float64]()...)
	reduces(r, "Loc[int32], equal values", func(p, i int) mpi.Loc[int32] {
		return mpi.Loc[int32]{Value: int32(i), Index: int64(100 - p)}
	}, pickers[int32]()...)
}

func operationNaN(r *rank) {
	for _, op := range []*mpi.Op{mpi.Max, mpi.Min} {
		for p := range r.Size() {
			x := []float64{1, 2}
			if r.Rank() == p {
				x[1] = math.NaN()
			}
			r.must(r.Allreduce(mpi.InPlace, mpi.Of(x), op))
			if x[0] != 1 || !math.IsNaN(x[1]) {
				r.failf("%s of numbers of which that of rank %d is NaN: %v", op.Name(), p, x)
			}
		}
	}
}

func operationUser(r *rank) {
	gcd := func(a, b uint32) uint32 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	op, err := mpi.NewOp("gcd", true, func(acc, in []uint32) {
		for i := range acc {
			acc[i] = gcd(acc[i], in[i])
		}
	})
	r.must(err)
	reduces(r, "uint32", func(p, i int) uint32 { return uint32(word(seedOf(p), i)%50+1) * 12 }, operation[uint32]{op, gcd})
	wider, err := mpi.NewOp("wider", true, func(acc, in []pixel) {
		for i := range acc {
			acc[i].X, acc[i].Y = max(acc[i].X, in[i].X), min(acc[i].Y, in[i].Y)
		}
	})
	r.must(err)
	reduces(r, "struct", func(p, i int) pixel { return pixel{X: int16(word(p, i) % 999), Y: int16(word(i, p) % 999)} },
		operation[pixel]{wider, func(a, b pixel) pixel { return pixel{X: max(a.X, b.X), Y: min(a.Y, b.Y)} }})
}

// matrix is 2 x 2, row by row, of integers modulo 2^32: multiplication is associative,
// and not commutative.
type matrix [4]uint32

func (a matrix) times(b matrix) matrix {
	return matrix{a[0]*b[0] + a[1]*b[2], a[0]*b[1] + a[1]*b[3], a[2]*b[0] + a[3]*b[2], a[2]*b[1] + a[3]*b[3]}
}

func matrixOp(r *rank) *mpi.Op {
	op, err := mpi.NewOp("matrix product", false, func(acc, in []matrix) {
		for i := range acc {
			acc[i] = acc[i].times(in[i])
		}
	})
	r.must(err)
	return op
}

func matrices(rank, n int) []matrix {
	x := make([]matrix, n)
	for i := range x {
		w := word(seedOf(rank, 77), i)
		x[i] = matrix{uint32(w), uint32(w >> 8), uint32(w >> 16), uint32(w>>24) | 1}
	}
	return x
}

// products returns the products of the matrices of ranks 0 to end-1.
func products(end, n int) []matrix {
	acc := matrices(0, n)
	for p := 1; p < end; p++ {
		for i, m := range matrices(p, n) {
			acc[i] = acc[i].times(m)
		}
	}
	return acc
}

func operationMatrix(r *rank) {
	op := matrixOp(r)
	for _, n := range []int{1, 6, 3000} {
		n *= r.Size()
		all := products(r.Size(), n)
		x := make([]matrix, n)
		for _, root := range r.few(n) {
			r.at("reduce of %d, root %d", n, root)
			r.must(r.Reduce(mpi.Of(matrices(r.Rank(), n)), mpi.Of(x), op, root))
			if r.Rank() == root {
				same(r, "reduce", x, all)
			}
		}
		forms(func(later bool) {
			r.at("%d matrices, non-blocking %v", n, later)
			x := matrices(r.Rank(), n)
			r.must(both(later, func() error { return r.Allreduce(mpi.InPlace, mpi.Of(x), op) },
				func() *mpi.Request { return r.Iallreduce(mpi.InPlace, mpi.Of(x), op) }))
			same(r, "allreduce", x, all)
		})
		r.must(r.Scan(mpi.Of(matrices(r.Rank(), n)), mpi.Of(x), op))
		same(r, "scan", x, products(r.Rank()+1, n))
		r.must(r.Exscan(mpi.Of(matrices(r.Rank(), n)), mpi.Of(x), op))
		if r.Rank() > 0 {
			same(r, "exscan", x, products(r.Rank(), n))
		}
		part := n / r.Size()
		r.must(r.ReduceScatter(mpi.Of(matrices(r.Rank(), n)), mpi.Of(x[:part]), nil, op))
		same(r, "reduce-scatter", x[:part], all[part*r.Rank():part*(r.Rank()+1)])
	}
}

// operationRepeatable adds numbers of very different sizes several times: the order of the
// additions, and so the result, is the same every time and on all ranks.
func operationRepeatable(r *rank) {
	const n = 500
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(float64(word(seedOf(r.Rank()), i)%1000)-500, int(word(seedOf(r.Rank()), i)>>32%60))
	}
	first := make([]float64, n)
	for round := range 6 {
		y := make([]float64, n)
		r.must(both(round >= 3, func() error { return r.Allreduce(mpi.Of(x), mpi.Of(y), mpi.Sum) },
			func() *mpi.Request { return r.Iallreduce(mpi.Of(x), mpi.Of(y), mpi.Sum) }))
		if round%3 == 0 {
			copy(first, y)
		}
		same(r, "sum", y, first)
	}
	r.must(r.Bcast(mpi.Of(first), 0))
	y := make([]float64, n)
	r.must(wait(r.Iallreduce(mpi.Of(x), mpi.Of(y), mpi.Sum)))
	same(r, "sum of this rank and of rank 0", y, first)
}
