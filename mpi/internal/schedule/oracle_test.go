package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// affine is x -> a x + b: composition is associative and not commutative.
type affine struct{ A, B int64 }

// compose is acc after in: the functions of lower ranks apply last.
var compose = must(mpi.NewOp("compose", false, func(acc, in []affine) {
	for i := range acc {
		acc[i] = affine{acc[i].A * in[i].A, acc[i].A*in[i].B + acc[i].B}
	}
}))

// matrix is a 2x2 integer matrix.
type matrix [4]int64

var multiply = must(mpi.NewOp("multiply", false, func(acc, in []matrix) {
	for i := range acc {
		x, y := acc[i], in[i]
		acc[i] = matrix{x[0]*y[0] + x[1]*y[2], x[0]*y[1] + x[1]*y[3], x[2]*y[0] + x[3]*y[2], x[2]*y[1] + x[3]*y[3]}
	}
}))

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// data makes elements of a type, and combines them as the oracle does.
type data[T any] struct {
	op      *mpi.Op
	random  func(*rand.Rand) T
	combine func(a, b T) T
}

var affines = data[affine]{compose, func(r *rand.Rand) affine { return affine{r.Int64(), r.Int64()} },
	func(a, b affine) affine {
		x := []affine{a}
		(*engine.Op)(compose).Apply(unsafe.Pointer(&x[0]), unsafe.Pointer(&b), 1, engine.Buffer(mpi.Of(x)))
		return x[0]
	}}

var matrices = data[matrix]{multiply, func(r *rand.Rand) matrix { return matrix{r.Int64(), r.Int64(), r.Int64(), r.Int64()} },
	func(a, b matrix) matrix {
		x := []matrix{a}
		(*engine.Op)(multiply).Apply(unsafe.Pointer(&x[0]), unsafe.Pointer(&b), 1, engine.Buffer(mpi.Of(x)))
		return x[0]
	}}

var integers = data[int64]{mpi.Sum, func(r *rand.Rand) int64 { return r.Int64() }, func(a, b int64) int64 { return a + b }}

var bytes = data[uint8]{mpi.Bxor, func(r *rand.Rand) uint8 { return uint8(r.Uint32()) }, func(a, b uint8) uint8 { return a ^ b }}

var locs = data[mpi.Loc[float64]]{mpi.MaxLoc,
	func(r *rand.Rand) mpi.Loc[float64] {
		return mpi.Loc[float64]{Value: float64(r.IntN(3)), Index: int64(r.IntN(9))}
	},
	func(a, b mpi.Loc[float64]) mpi.Loc[float64] {
		if b.Value > a.Value || b.Value == a.Value && b.Index < a.Index {
			return b
		}
		return a
	}}

// array is the memory of one buffer of a rank: contiguous, or in blocks with gaps that must
// stay unchanged.
type array[T comparable] struct {
	mem    []T
	before []T
	block  int
	stride int
	n      int
	buf    mpi.Buffer
}

func (d data[T]) values(r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = d.random(r)
	}
	return x
}

// newArray stores values in an array, strided if wanted and possible.
func newArray[T comparable](r *rand.Rand, d data[T], values []T, strided bool) *array[T] {
	n := len(values)
	a := &array[T]{n: n, block: n, stride: n}
	blocks := 1
	if strided && n > 0 {
		for blocks = 1 + r.IntN(4); n%blocks != 0; {
			blocks--
		}
		a.block = n / blocks
		a.stride = a.block + r.IntN(3)
	}
	a.mem = d.values(r, blocks*a.stride+2)
	a.buf = mpi.Strided(a.mem[:len(a.mem)-2], blocks, a.block, a.stride)
	a.set(values)
	a.before = slices.Clone(a.mem)
	return a
}

func (a *array[T]) at(i int) int { return i/a.block*a.stride + i%a.block }

func (a *array[T]) set(values []T) {
	for i, v := range values {
		a.mem[a.at(i)] = v
	}
}

// check compares the first elements with want, and all others with their former values.
func (a *array[T]) check(t testing.TB, want []T, format string, args ...any) {
	t.Helper()
	after := slices.Clone(a.before)
	for i, v := range want {
		after[a.at(i)] = v
	}
	if !slices.Equal(after, a.mem) {
		require.Equal(t, after, a.mem, fmt.Sprintf(format, args...))
	}
}

// fold combines rows[0] to rows[n-1], in this order, by a left fold.
func (d data[T]) fold(rows [][]T) []T {
	acc := slices.Clone(rows[0])
	for _, row := range rows[1:] {
		for i := range acc {
			acc[i] = d.combine(acc[i], row[i])
		}
	}
	return acc
}

// trial is one collective on random data, on all ranks of a communicator.
type trial[T comparable] struct {
	t    testing.TB
	d    data[T]
	rng  *rand.Rand
	cs   []*mpi.Comm
	n    int
	rs   []*mpi.Request
	then []func()
}

// inputs gives each rank n random elements.
func (x *trial[T]) inputs(n int) [][]T {
	rows := make([][]T, len(x.cs))
	for i := range rows {
		rows[i] = x.d.values(x.rng, n)
	}
	return rows
}

func (x *trial[T]) coin() bool { return x.rng.IntN(2) == 0 }

func (x *trial[T]) array(values []T, strided bool) *array[T] {
	return newArray(x.rng, x.d, values, strided && x.coin())
}

func (x *trial[T]) room(n int, strided bool) *array[T] {
	return x.array(x.d.values(x.rng, n), strided)
}

func (x *trial[T]) add(r *mpi.Request) { x.rs = append(x.rs, r) }

// expect adds a check of the final contents of a buffer.
func (x *trial[T]) expect(a *array[T], want []T, what string, rank int) {
	x.then = append(x.then, func() {
		x.t.Helper()
		a.check(x.t, want, "%s of %d ranks, %d elements: rank %d", what, len(x.cs), x.n, rank)
	})
}

// reduction starts one of the reductions that give every rank n elements.
func (x *trial[T]) reduction(kind engine.CallKind) {
	rows := x.inputs(x.n)
	root := x.rng.IntN(len(x.cs))
	inPlace := x.coin()
	for i, c := range x.cs {
		var want []T
		switch {
		case kind == engine.CallScan:
			want = x.d.fold(rows[:i+1])
		case kind == engine.CallExscan && i > 0:
			want = x.d.fold(rows[:i])
		case kind == engine.CallAllreduce, kind == engine.CallReduce && i == root:
			want = x.d.fold(rows)
		}
		send, recv := x.array(rows[i], true), x.room(x.n, true)
		sb := send.buf
		if inPlace && (kind != engine.CallReduce || i == root) {
			recv, sb = x.array(rows[i], true), mpi.InPlace
		}
		x.expect(send, nil, kind.String()+" input", i)
		x.expect(recv, want, kind.String(), i)
		switch kind {
		case engine.CallScan:
			x.add(c.Iscan(sb, recv.buf, x.d.op))
		case engine.CallExscan:
			x.add(c.Iexscan(sb, recv.buf, x.d.op))
		case engine.CallAllreduce:
			x.add(c.Iallreduce(sb, recv.buf, x.d.op))
		case engine.CallReduce:
			rb := recv.buf
			if i != root && x.coin() {
				rb = mpi.Buffer{}
			}
			x.add(c.Ireduce(sb, rb, x.d.op, root))
		}
	}
}

func (x *trial[T]) reduceScatter() {
	p := len(x.cs)
	counts, total := make([]int, p), 0
	for i := range counts {
		counts[i] = x.rng.IntN(2*x.n/p + 2)
		if x.coin() {
			counts[i] = 0
		}
		total += counts[i]
	}
	given := counts
	if x.coin() {
		for i := range counts {
			counts[i] = x.n / p
		}
		total, given = x.n/p*p, nil
	}
	rows := x.inputs(total)
	sum := x.d.fold(rows)
	inPlace := x.coin()
	at := 0
	for i, c := range x.cs {
		send, recv := x.array(rows[i], true), x.room(counts[i], true)
		sb := send.buf
		if inPlace {
			recv, sb = x.array(rows[i], true), mpi.InPlace
		}
		x.expect(send, nil, "reduce-scatter input", i)
		x.expect(recv, sum[at:at+counts[i]], "reduce-scatter", i)
		at += counts[i]
		x.add(c.IreduceScatter(sb, recv.buf, given, x.d.op))
	}
}

func (x *trial[T]) bcast() {
	rows := x.inputs(x.n)
	root := x.rng.IntN(len(x.cs))
	for i, c := range x.cs {
		a := x.array(rows[i], true)
		x.expect(a, rows[root], "bcast", i)
		x.add(c.Ibcast(a.buf, root))
	}
}

// parts returns the layout of parts with gaps: counts, displacements, whole length.
func (x *trial[T]) parts(counts []int) (displs []int, whole int) {
	displs = make([]int, len(counts))
	for _, i := range x.rng.Perm(len(counts)) {
		whole += x.rng.IntN(3)
		displs[i] = whole
		whole += counts[i]
	}
	return displs, whole + x.rng.IntN(3)
}

func (x *trial[T]) counts() []int {
	counts := make([]int, len(x.cs))
	for i := range counts {
		if counts[i] = x.rng.IntN(2*x.n + 1); x.rng.IntN(4) == 0 {
			counts[i] = 0
		}
	}
	return counts
}

// image returns a copy of before with the parts at their displacements.
func image[T any](before []T, rows [][]T, displs []int) []T {
	out := slices.Clone(before)
	for i, row := range rows {
		copy(out[displs[i]:], row)
	}
	return out
}

// gather starts Gather or Allgather, with or without counts.
func (x *trial[T]) gather(all bool) {
	p := len(x.cs)
	v, inPlace, root := x.coin(), x.coin(), x.rng.IntN(p)
	counts := slices.Repeat([]int{x.n}, p)
	if v {
		counts = x.counts()
	}
	rows := make([][]T, p)
	for i := range rows {
		rows[i] = x.d.values(x.rng, counts[i])
	}
	displs, whole := x.parts(counts)
	if !v {
		for i := range displs {
			displs[i] = i * x.n
		}
		whole = p * x.n
	}
	for i, c := range x.cs {
		send, recv := x.array(rows[i], true), x.room(whole, false)
		sb, rb := send.buf, recv.buf
		has := all || i == root
		if has && inPlace {
			copy(recv.mem[displs[i]:], rows[i])
			recv.before = slices.Clone(recv.mem)
			sb = mpi.InPlace
		}
		x.expect(send, nil, "gather input", i)
		switch {
		case has:
			x.expect(recv, image(recv.before[:whole], rows, displs), fmt.Sprintf("gather, all %v, counts %v, displs %v", all, counts, displs), i)
		default:
			x.expect(recv, nil, "gather beside the root", i)
		}
		switch {
		case all && v:
			x.add(c.Iallgatherv(sb, rb, counts, displs))
		case all:
			x.add(c.Iallgather(sb, rb))
		case v && (has || x.coin()):
			x.add(c.Igatherv(sb, rb, counts, displs, root))
		case v:
			x.add(c.Igatherv(sb, mpi.Buffer{}, nil, nil, root))
		default:
			x.add(c.Igather(sb, rb, root))
		}
	}
}

func (x *trial[T]) scatter() {
	p := len(x.cs)
	v, inPlace, root := x.coin(), x.coin(), x.rng.IntN(p)
	counts := slices.Repeat([]int{x.n}, p)
	if v {
		counts = x.counts()
	}
	displs, whole := x.parts(counts)
	if !v {
		for i := range displs {
			displs[i] = i * x.n
		}
		whole = p * x.n
	}
	all := x.d.values(x.rng, whole)
	for i, c := range x.cs {
		send, recv := x.array(all, false), x.room(counts[i], true)
		rb := recv.buf
		want := all[displs[i] : displs[i]+counts[i]]
		if inPlace && i == root {
			rb, want = mpi.InPlace, nil
		}
		x.expect(send, nil, "scatter input", i)
		x.expect(recv, want, "scatter", i)
		switch {
		case i != root:
			x.add(c.Iscatterv(mpi.Buffer{}, nil, nil, rb, root))
		case v:
			x.add(c.Iscatterv(send.buf, counts, displs, rb, root))
		default:
			x.add(c.Iscatter(send.buf, rb, root))
		}
	}
}

func (x *trial[T]) alltoall() {
	p := len(x.cs)
	v := x.coin()
	counts := make([][]int, p) // from, to
	for i := range counts {
		counts[i] = slices.Repeat([]int{x.n}, p)
		if v {
			counts[i] = x.counts()
		}
	}
	pieces := make([][][]T, p)
	for i := range pieces {
		pieces[i] = make([][]T, p)
		for j := range pieces[i] {
			pieces[i][j] = x.d.values(x.rng, counts[i][j])
		}
	}
	for i, c := range x.cs {
		var rcounts []int
		var incoming [][]T
		for j := range p {
			rcounts = append(rcounts, counts[j][i])
			incoming = append(incoming, pieces[j][i])
		}
		sdispls, sn := x.parts(counts[i])
		rdispls, rn := x.parts(rcounts)
		if !v {
			for j := range p {
				sdispls[j], rdispls[j] = j*x.n, j*x.n
			}
			sn, rn = p*x.n, p*x.n
		}
		send := x.array(image(x.d.values(x.rng, sn), pieces[i], sdispls), false)
		recv := x.room(rn, false)
		x.expect(send, nil, "alltoall input", i)
		x.expect(recv, image(recv.before[:rn], incoming, rdispls), "alltoall", i)
		if v {
			x.add(c.Ialltoallv(send.buf, counts[i], sdispls, recv.buf, rcounts, rdispls))
		} else {
			x.add(c.Ialltoall(send.buf, recv.buf))
		}
	}
}

func (x *trial[T]) barrier() {
	for _, c := range x.cs {
		x.add(c.Ibarrier())
	}
}

// start starts any collective.
func (x *trial[T]) start(kind engine.CallKind) {
	switch kind {
	case engine.CallBarrier:
		x.barrier()
	case engine.CallBcast:
		x.bcast()
	case engine.CallGather, engine.CallAllgather:
		x.gather(kind == engine.CallAllgather)
	case engine.CallScatter:
		x.scatter()
	case engine.CallAlltoall:
		x.alltoall()
	case engine.CallReduceScatter:
		x.reduceScatter()
	default:
		x.reduction(kind)
	}
}

func (x *trial[T]) verify() {
	x.t.Helper()
	for _, f := range x.then {
		f()
	}
}
