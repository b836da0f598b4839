package mpitest

import (
	"math"
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// windowCases: memory that other ranks read and write.
func windowCases() []Case {
	return []Case{
		one("window/put", windowPut),
		one("window/get", windowGet),
		one("window/layouts", windowLayouts),
		one("window/without waiting", windowLater),
		one("window/kinds", windowKinds),
		one("window/different lengths", windowLengths),
		one("window/several", windowSeveral),
		one("window/of a part of the ranks", windowPart),
		one("window/of no rank", windowOfNobody),
		one("window/flush, then a barrier", windowFlushBarrier),
		two("window/flush, then a message", windowFlushMessage),
		one("accumulate/sums from all ranks", accumulateSums),
		one("accumulate/operations", accumulateOperations),
		one("accumulate/replace", accumulateReplace),
		one("accumulate/no update is lost", accumulateAtomic),
		one("accumulate/in order", accumulateInOrder),
	}
}

// open opens x; close closes it.
func (r *rank) open(b mpi.Buffer) *mpi.Win {
	w, err := r.NewWin(b)
	r.must(err)
	return w
}

func (r *rank) close(w *mpi.Win) { r.must(w.Free()) }

// windowPut writes a part from every rank to every rank.
func windowPut(r *rank) {
	for _, n := range []int{0, 1, 7, 20_000} {
		mem := blank(n*r.Size() + 2)
		w := r.open(mpi.Of(mem))
		for round := range 3 {
			r.at("%d elements, round %d", n, round)
			for p := range r.Size() {
				to := (r.Rank() + p) % r.Size()
				r.must(w.Put(mpi.Of(words(seedOf(r.Rank(), to, round), n)), to, 1+n*r.Rank()))
			}
			r.must(w.Fence())
			for p := range r.Size() {
				same(r, "part", mem[1+n*p:1+n*p+n], words(seedOf(p, r.Rank(), round), n))
			}
			same(r, "ends", []int64{mem[0], mem[len(mem)-1]}, blank(2))
			r.must(w.Fence())
		}
		r.close(w)
	}
}

func windowGet(r *rank) {
	for _, n := range []int{0, 1, 7, 20_000} {
		r.at("%d elements", n)
		mem := words(seedOf(r.Rank()), n+10)
		w := r.open(mpi.Of(mem))
		for p := range r.Size() {
			from := (r.Rank() + p) % r.Size()
			got := blank(n + 2)
			r.must(w.Get(mpi.Of(got[1:n+1]), from, 4))
			same(r, "read", got[1:n+1], wordsFrom(seedOf(from), 4, n))
			same(r, "memory around it", []int64{got[0], got[n+1]}, blank(2))
		}
		r.must(w.Fence())
		same(r, "window", mem, words(seedOf(r.Rank()), n+10))
		r.close(w)
	}
}

// windowLayouts puts and gets from and to strided buffers; in the window the elements
// lie one after another.
func windowLayouts(r *rank) {
	for _, n := range []int{12, 9000} {
		mem := blank(n * r.Size())
		w := r.open(mpi.Of(mem))
		for i, l := range layouts {
			r.at("%d elements, %s", n, l.name)
			_, b := l.store(words(seedOf(r.Rank(), i), n))
			r.must(w.Put(b, r.right(), n*r.Rank()))
			r.must(w.Fence())
			same(r, "written", mem[n*r.left():n*r.left()+n], words(seedOf(r.left(), i), n))
			x, b := l.blank(n)
			r.must(w.Get(b, r.right(), n*r.Rank()))
			l.check(r, "read back", x, words(seedOf(r.Rank(), i), n))
			r.must(w.Fence())
		}
		r.close(w)
	}
}

// windowLater has many accesses under way.
func windowLater(r *rank) {
	const count = 40
	mem := make([]int64, count*r.Size())
	w := r.open(mpi.Of(mem))
	data := words(seedOf(r.Rank()), count)
	var q []*mpi.Request
	for i := range count {
		for p := range r.Size() {
			q = append(q, w.Iput(mpi.One(&data[i]), p, count*r.Rank()+i))
		}
	}
	r.must(mpi.Waitall(q...))
	r.must(wait(w.Iflush(mpi.AllRanks)))
	r.must(wait(w.Ifence()))
	for p := range r.Size() {
		same(r, "written", mem[count*p:count*p+count], words(seedOf(p), count))
	}
	got := blank(count)
	q = nil
	for i := range count {
		q = append(q, w.Iget(mpi.One(&got[i]), i%r.Size(), count*r.Rank()+i))
	}
	r.must(mpi.Waitall(q...))
	same(r, "read", got, data)
	r.must(w.Fence())
	for i := range count {
		r.must(wait(w.Iaccumulate(mpi.One(&data[i]), mpi.Sum, r.right(), count*r.Rank()+i)))
	}
	r.must(w.Fence())
	for i, v := range words(seedOf(r.left()), count) {
		r.equal("sum", mem[count*r.left()+i], 2*v)
	}
	r.close(w)
}

func windowKinds(r *rank) {
	r.at("structs")
	mem := make([]pixel, r.Size())
	w := r.open(mpi.Of(mem))
	r.must(w.Put(mpi.Of([]pixel{{X: int16(r.Rank()), On: true}}), r.right(), r.Rank()))
	r.must(w.Fence())
	r.equal("struct", mem[r.left()], pixel{X: int16(r.left()), On: true})
	r.close(w)
	r.at("bytes")
	b := make([]byte, 33)
	w = r.open(mpi.Of(b))
	r.must(w.Put(mpi.Of(octets(seedOf(r.Rank()), 30)), r.right(), 3))
	r.must(w.Fence())
	same(r, "bytes", b[3:], octets(seedOf(r.left()), 30))
	r.close(w)
	r.at("complex numbers in allocated memory")
	z := mpi.Alloc[complex128](8)
	w = r.open(mpi.Of(z))
	r.must(w.Put(mpi.Of([]complex128{complex(float64(r.Rank()), -1)}), r.right(), 7))
	r.must(w.Fence())
	r.equal("complex number", z[7], complex(float64(r.left()), -1))
	r.close(w)
	r.must(mpi.Free(z))
}

// windowLengths: every rank opens a different number of elements, some of them none.
func windowLengths(r *rank) {
	length := func(p int) int { return (p + r.Size()) % 3 * 5 }
	mem := blank(length(r.Rank()))
	w := r.open(mpi.Of(mem))
	for p := range r.Size() {
		r.equal("length", w.Size(p), length(p))
		if length(p) > 0 && p == r.right() {
			r.must(w.Put(mpi.Of(words(seedOf(r.Rank()), length(p))), p, 0))
		}
		r.wants(w.Put(mpi.Of([]int64{1}), p, length(p)), mpi.ErrWindow, "put behind the end")
	}
	r.must(w.Fence())
	same(r, "window", mem, words(seedOf(r.left()), len(mem)))
	r.equal("communicator", w.Comm(), r.Comm)
	r.equal("elements of its own", w.Memory().Len(), len(mem))
	r.close(w)
}

func windowSeveral(r *rank) {
	a, b := blank(r.Size()), blank(r.Size())
	v, w := r.open(mpi.Of(a)), r.open(mpi.Of(b))
	for p := range r.Size() {
		r.must(v.Put(mpi.Of([]int64{int64(r.Rank())}), p, r.Rank()))
		r.must(w.Put(mpi.Of([]int64{int64(1000 + r.Rank())}), p, r.Rank()))
	}
	r.must(w.Fence())
	r.must(v.Fence())
	for p := range r.Size() {
		r.equal("in one window", a[p], int64(p))
		r.equal("in the other", b[p], int64(1000+p))
	}
	r.close(v)
	r.must(w.Put(mpi.Of([]int64{-1}), r.right(), r.Rank()))
	r.close(w)
	r.equal("written before the end", b[r.left()], int64(-1))
}

// windowPart opens windows on the halves of a communicator, in reverse order.
func windowPart(r *rank) {
	c := r.keep(r.Split(r.Rank()%2, -r.Rank()))
	mem := blank(3)
	w := c.open(mpi.Of(mem))
	r.must(w.Put(mpi.Of(words(seedOf(r.Rank()), 3)), c.right(), 0))
	r.must(w.Fence())
	from := r.gatherAll(int64(c.Rank()))
	for p, place := range from {
		if p%2 == r.Rank()%2 && int(place) == c.left() {
			same(r, "window", mem, words(seedOf(p), 3))
		}
	}
	c.close(w)
}

// windowFlushBarrier: data put before a Flush is visible after the barrier, and no rank
// passes the barrier before all have put.
func windowFlushBarrier(r *rank) {
	mem := make([]int64, r.Size())
	w := r.open(mpi.Of(mem))
	for round := range 30 {
		r.at("round %d", round)
		x := []int64{int64(round)}
		for p := range r.Size() {
			r.must(w.Put(mpi.Of(x), p, r.Rank()))
		}
		r.must(w.Flush(mpi.AllRanks))
		r.must(r.Barrier())
		for p := range mem {
			r.equal("round of a rank", mem[p], int64(round))
		}
		r.must(r.Barrier())
	}
	r.close(w)
}

// windowFlushMessage: after a Put and a Flush, a message announces the data.
func windowFlushMessage(r *rank) {
	const n = 3000
	mem := blank(n)
	w := r.open(mpi.Of(mem))
	for round := range 6 {
		r.at("round %d", round)
		r.must(w.Put(mpi.Of(words(seedOf(r.Rank(), round), n)), r.right(), 0))
		if round%2 == 0 {
			r.must(w.Flush(r.right()))
		} else {
			r.must(wait(w.Iflush(r.right())))
		}
		q := r.Isend(mpi.Buffer{}, r.right(), round)
		r.recv(mpi.Buffer{}, r.left(), round)
		same(r, "window", mem, words(seedOf(r.left(), round), n))
		r.must(wait(q))
		q = r.Isend(mpi.Buffer{}, r.left(), round)
		r.recv(mpi.Buffer{}, r.right(), round)
		r.must(wait(q))
	}
	r.close(w)
}

// accumulateSums adds from all ranks to all ranks at once.
func accumulateSums(r *rank) {
	for _, n := range []int{1, 7, 5000} {
		r.at("%d elements", n)
		mem := make([]float64, n)
		w := r.open(mpi.Of(mem))
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.Rank()*i + 1)
		}
		for p := range r.Size() {
			r.must(w.Accumulate(mpi.Of(x), mpi.Sum, (r.Rank()+p)%r.Size(), 0))
		}
		r.must(w.Fence())
		ranks := float64(r.Size())
		for i := range mem {
			r.equal("sum", mem[i], ranks+float64(i)*ranks*(ranks-1)/2)
		}
		r.close(w)
	}
}

func accumulateOperations(r *rank) {
	accumulate(r, "float64", []operation[float64]{
		{mpi.Sum, func(a, b float64) float64 { return a + b }},
		{mpi.Prod, func(a, b float64) float64 { return a * b }},
		{mpi.Max, math.Max},
		{mpi.Min, math.Min},
	}, func(p, i int) float64 { return float64((p+i)%3 + 1) })
	accumulate(r, "int64", []operation[int64]{
		{mpi.Band, func(a, b int64) int64 { return a & b }},
		{mpi.Bor, func(a, b int64) int64 { return a | b }},
		{mpi.Bxor, func(a, b int64) int64 { return a ^ b }},
	}, func(p, i int) int64 { return int64(word(seedOf(p), i)) })
	accumulate(r, "int32", []operation[int32]{
		{mpi.Sum, func(a, b int32) int32 { return a + b }},
		{mpi.Max, func(a, b int32) int32 { return max(a, b) }},
	}, func(p, i int) int32 { return int32(word(seedOf(p), i)) })
	accumulate(r, "uint8", []operation[uint8]{
		{mpi.Sum, func(a, b uint8) uint8 { return a + b }},
	}, func(p, i int) uint8 { return uint8(word(seedOf(p), i)) })
	accumulate(r, "complex128", []operation[complex128]{
		{mpi.Sum, func(a, b complex128) complex128 { return a + b }},
	}, func(p, i int) complex128 { return complex(float64(p), float64(i)) })
}

// accumulate combines data of all ranks into the window of each, which starts with its own
// data.
func accumulate[T comparable](r *rank, name string, ops []operation[T], of func(p, i int) T) {
	const n = 6
	for _, o := range ops {
		r.at("%s on %s", o.op.Name(), name)
		mem, x := make([]T, n), make([]T, n)
		for i := range n {
			mem[i], x[i] = of(r.Rank(), i), of(r.Rank(), i)
		}
		w := r.open(mpi.Of(mem))
		for p := range r.Size() {
			if p != r.Rank() {
				r.must(w.Accumulate(mpi.Of(x), o.op, p, 0))
			}
		}
		r.must(w.Fence())
		for i := range n {
			want := of(r.Rank(), i)
			for p := range r.Size() {
				if p != r.Rank() {
					want = o.f(want, of(p, i))
				}
			}
			r.equal("result", mem[i], want)
		}
		r.close(w)
	}
}

// accumulateReplace: all ranks replace the same elements; each element ends with the value of
// one of them.
func accumulateReplace(r *rank) {
	mem := blank(50)
	w := r.open(mpi.Of(mem))
	for p := range r.Size() {
		r.must(w.Accumulate(mpi.Of(words(seedOf(r.Rank()), 50)), mpi.Replace, p, 0))
	}
	r.must(w.Fence())
	for i, v := range mem {
		found := false
		for p := range r.Size() {
			found = found || v == int64(word(seedOf(p), i))
		}
		r.equal("element is of one of the ranks", found, true)
	}
	r.must(w.Fence())
	r.must(w.Accumulate(mpi.Of([]int64{int64(r.Rank())}), mpi.Replace, r.right(), 10))
	r.must(w.Fence())
	r.equal("replaced", mem[10], int64(r.left()))
	r.close(w)
}

// accumulateAtomic adds 1 to one element many times, from all ranks.
func accumulateAtomic(r *rank) {
	const times = 200
	mem := make([]int64, 2)
	w := r.open(mpi.Of(mem))
	var q []*mpi.Request
	one := []int64{1}
	for i := range times {
		target := i % r.Size()
		if i%3 == 0 {
			q = append(q, w.Iaccumulate(mpi.Of(one), mpi.Sum, target, 1))
		} else {
			r.must(w.Accumulate(mpi.Of(one), mpi.Sum, target, 1))
		}
	}
	r.must(mpi.Waitall(q...))
	r.must(w.Fence())
	count := 0
	for i := range times {
		if i%r.Size() == r.Rank() {
			count += r.Size()
		}
	}
	same(r, "window", mem, []int64{0, int64(count)})
	r.close(w)
}

// windowOfNobody: accesses to ProcNull do nothing, as in MPI; other wrong arguments are
// still errors.
func windowOfNobody(r *rank) {
	mem, x := words(seedOf(r.Rank()), 4), blank(2)
	w := r.open(mpi.Of(mem))
	b := mpi.Of(x)
	for _, err := range []error{
		w.Put(b, mpi.ProcNull, 0), w.Get(b, mpi.ProcNull, 3), w.Accumulate(b, mpi.Sum, mpi.ProcNull, 100), w.PutNotify(b, mpi.ProcNull, -1, 0),
		w.PutTileNotify(b, mpi.ProcNull, -1, 0, 0, 0), wait(w.IputTileNotify(b, mpi.ProcNull, 0, 5, 1, 0)),
		w.Lock(mpi.ProcNull, true), w.Lock(mpi.ProcNull, true), w.Flush(mpi.ProcNull), w.Unlock(mpi.ProcNull),
		wait(w.Iput(b, mpi.ProcNull, 0)), wait(w.Iget(b, mpi.ProcNull, 0)), wait(w.IputNotify(b, mpi.ProcNull, 0, 1)), wait(w.Iflush(mpi.ProcNull)),
	} {
		r.must(err)
	}
	r.wants(w.Put(mpi.Of([]float64{1}), mpi.ProcNull, 0), mpi.ErrKind, "put of another kind")
	r.must(w.Fence())
	same(r, "window", mem, words(seedOf(r.Rank()), 4))
	same(r, "buffer, unchanged", x, blank(2))
	r.close(w)
}

// accumulateInOrder replaces one element, and a long part behind it, many times: the last
// value stays, with waits one by one or all at once.
func accumulateInOrder(r *rank) {
	const count, long = 200, 3000
	mem := make([]int64, 1+long)
	w := r.open(mpi.Of(mem))
	data := make([]int64, count*long)
	for i := range data {
		data[i] = int64(i/long + 1)
	}
	part := func(i, n int) mpi.Buffer { return mpi.Of(data[i*long:][:n]) }
	for _, atOnce := range []bool{false, true} {
		r.at("all at once %v", atOnce)
		var q []*mpi.Request
		for i := range count {
			q = append(q, w.Iaccumulate(part(i, 1), mpi.Replace, r.right(), 0))
			if i%20 == 19 {
				q = append(q, w.Iaccumulate(part(i-1, long), mpi.Replace, r.right(), 1), w.Iaccumulate(part(i, long), mpi.Replace, r.right(), 1))
			}
			if !atOnce {
				r.must(mpi.Waitall(q...))
				q = q[:0]
			}
		}
		r.must(mpi.Waitall(q...))
		r.must(w.Fence())
		same(r, "replaced last", mem, slices.Repeat([]int64{count}, 1+long))
		r.must(w.Fence())
		clear(mem)
		r.must(w.Fence())
	}
	r.close(w)
}
