package mpitest

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// transferCases: one message from one rank to another.
func transferCases() []Case {
	return []Case{
		one("transfer/sizes", transferSizes),
		two("transfer/blocking there and back", transferBlocking),
		one("transfer/shorter than the buffer", transferShorter),
		one("transfer/layouts", transferLayouts),
		one("transfer/kinds", transferKinds),
		one("transfer/tags", transferTags),
		one("transfer/self", transferSelf),
		one("transfer/no rank", transferNoRank),
		one("transfer/no bytes", transferNoBytes),
		two("transfer/eager does not wait", transferEager),
		two("transfer/large both ways", transferBothWays),
		one("transfer/all pairs", transferAllPairs),
		one("transfer/odd addresses", transferOdd),
		one("transfer/allocated memory", transferAllocated),
		one("transfer/sendrecv", transferSendrecv),
		one("transfer/sendrecv of different tags and sizes", transferSendrecvUnequal),
		one("transfer/sendrecv with late peers", transferSendrecvLate),
		one("transfer/sendrecv replace", transferReplace),
		two("transfer/chain that ends nowhere", transferChain),
	}
}

// transferSizes sends around the ring, with the receive posted first or the send.
func transferSizes(r *rank) {
	for _, n := range r.sizes() {
		for _, first := range []bool{true, false} {
			r.at("%d bytes, receive first %v", n, first)
			m, data := newMailbox(n), octets(seedOf(r.Rank(), n), n)
			var in *mpi.Request
			if first {
				in = r.Irecv(m.buffer(), r.left(), n%97)
				r.must(r.Barrier())
			}
			out := r.Isend(mpi.Of(data), r.right(), n%97)
			if !first {
				r.must(r.Barrier())
				in = r.Irecv(m.buffer(), r.left(), n%97)
			}
			st, err := in.Wait()
			r.must(err)
			r.status(st, r.left(), n%97, n)
			r.equal("elements", st.Elements(m.buffer()), n)
			m.check(r, "message", octets(seedOf(r.left(), n), n))
			r.must(wait(out))
			same(r, "send buffer, unchanged", data, octets(seedOf(r.Rank(), n), n))
		}
	}
}

// transferBlocking plays ping-pong between neighbours; of an odd number of ranks the last is
// idle.
func transferBlocking(r *rank) {
	peer := r.Rank() ^ 1
	if peer >= r.Size() {
		return
	}
	for round, n := range r.sizes() {
		r.at("%d bytes", n)
		send := r.Send
		if round%2 == 1 {
			send = r.Ssend
		}
		m := newMailbox(n)
		if r.Rank() < peer {
			r.must(send(mpi.Of(octets(seedOf(r.Rank(), round), n)), peer, round))
			r.recv(m.buffer(), peer, round)
		} else {
			r.recv(m.buffer(), peer, round)
			r.must(send(mpi.Of(octets(seedOf(r.Rank(), round), n)), peer, round))
		}
		m.check(r, "message", octets(seedOf(peer, round), n))
	}
}

// transferShorter receives into buffers longer than the message: the rest stays unchanged.
func transferShorter(r *rank) {
	for _, n := range r.sizes() {
		r.at("%d bytes", n)
		m := newMailbox(n + 1000)
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 1)
		st, err := r.Recv(m.buffer(), r.left(), 1)
		r.must(err)
		r.status(st, r.left(), 1, n)
		m.check(r, "message", octets(seedOf(r.left()), n))
		r.must(wait(out))
	}
	for _, l := range layouts {
		r.at("12 of 40 elements, %s", l.name)
		x, b := l.blank(40)
		out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 12)), r.right(), 2)
		st, err := r.Recv(b, r.left(), 2)
		r.must(err)
		r.equal("elements", st.Elements(b), 12)
		want, _ := l.store(append(words(seedOf(r.left()), 12), blank(28)...))
		same(r, "memory", x, want)
		r.must(wait(out))
	}
}

// transferLayouts sends every layout to every layout.
func transferLayouts(r *rank) {
	for _, n := range r.lengths() {
		for i, from := range layouts {
			for j, to := range layouts {
				r.at("%d elements, from %s to %s", n, from.name, to.name)
				x, out := from.store(words(seedOf(r.Rank(), i, j), n))
				y, in := to.blank(n)
				st, err := r.Sendrecv(out, r.right(), i, in, r.left(), i)
				r.must(err)
				r.status(st, r.left(), i, 8*n)
				to.check(r, "received", y, words(seedOf(r.left(), i, j), n))
				from.check(r, "sent", x, words(seedOf(r.Rank(), i, j), n))
			}
		}
	}
}

// Types of elements: the suite sends a slice of each.
type (
	celsius float64
	pixel   struct {
		X, Y  int16
		Color [3]uint8
		On    bool
	}
	block [3]float32
)

func transferKinds(r *rank) {
	exchange(r, "bool", func(w uint64) bool { return w&1 == 1 })
	exchange(r, "int8", func(w uint64) int8 { return int8(w) })
	exchange(r, "int16", func(w uint64) int16 { return int16(w) })
	exchange(r, "int32", func(w uint64) int32 { return int32(w) })
	exchange(r, "int64", func(w uint64) int64 { return int64(w) })
	exchange(r, "int", func(w uint64) int { return int(w) })
	exchange(r, "uint8", func(w uint64) uint8 { return uint8(w) })
	exchange(r, "uint16", func(w uint64) uint16 { return uint16(w) })
	exchange(r, "uint32", func(w uint64) uint32 { return uint32(w) })
	exchange(r, "uint64", func(w uint64) uint64 { return w })
	exchange(r, "float32", func(w uint64) float32 { return float32(w) })
	exchange(r, "float64", func(w uint64) float64 { return float64(w) })
	exchange(r, "complex64", func(w uint64) complex64 { return complex(float32(w), float32(w>>32)) })
	exchange(r, "complex128", func(w uint64) complex128 { return complex(float64(w), float64(w>>32)) })
	exchange(r, "Loc[int32]", func(w uint64) mpi.Loc[int32] { return mpi.Loc[int32]{Value: int32(w), Index: int64(w >> 8)} })
	exchange(r, "Loc[float64]", func(w uint64) mpi.Loc[float64] { return mpi.Loc[float64]{Value: float64(w), Index: int64(w >> 8)} })
	exchange(r, "named float64", func(w uint64) celsius { return celsius(w) })
	exchange(r, "array", func(w uint64) block { return block{float32(w & 0xff), float32(w >> 8 & 0xff), float32(w >> 16)} })
	exchange(r, "struct", func(w uint64) pixel {
		return pixel{int16(w), int16(w >> 16), [3]uint8{uint8(w), uint8(w >> 8), uint8(w >> 24)}, w>>33&1 == 1}
	})
	exchange(r, "array of structs", func(w uint64) [2]pixel { return [2]pixel{{X: int16(w)}, {Y: int16(w >> 5), On: w&1 == 1}} })
}

// exchange sends elements of type T around the ring, and broadcasts them: a slice, a strided
// buffer and one variable.
func exchange[T comparable](r *rank, name string, of func(w uint64) T) {
	r.at("%s", name)
	const n = 24
	make1 := func(from, n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = of(word(seedOf(from), i))
		}
		return x
	}
	got := make([]T, n)
	st, err := r.Sendrecv(mpi.Of(make1(r.Rank(), n)), r.right(), 0, mpi.Of(got), r.left(), 0)
	r.must(err)
	r.equal("elements", st.Elements(mpi.Of(got)), n)
	same(r, "slice", got, make1(r.left(), n))

	for _, blocks := range []int{10, 3000} { // the second in several packets of most networks
		spread, want := make([]T, 3*blocks), make([]T, 3*blocks)
		_, err = r.Sendrecv(mpi.Of(make1(r.Rank(), blocks)), r.right(), 0, mpi.Strided(spread, blocks, 1, 3), r.left(), 0)
		r.must(err)
		for i, v := range make1(r.left(), blocks) {
			want[3*i] = v
		}
		same(r, "strided slice", spread, want)
	}

	var x T
	mine := make1(r.Rank(), 1)[0]
	_, err = r.Sendrecv(mpi.One(&mine), r.right(), 0, mpi.One(&x), r.left(), 0)
	r.must(err)
	same(r, "variable", []T{x}, make1(r.left(), 1))
	if r.Rank() == 0 {
		copy(got, make1(0, n))
	}
	r.must(r.Bcast(mpi.Of(got), 0))
	same(r, "broadcast", got, make1(0, n))
}

// transferTags receives in another order than it sends.
func transferTags(r *rank) {
	tags := []int{0, 1, 5, 32767, r.inner().Engine().Limits().MaxTag}
	if tags[4] < 32767 {
		r.failf("tags go to %d only: MPI has at least 32767", tags[4])
	}
	var out []*mpi.Request
	for _, tag := range tags {
		out = append(out, r.Isend(mpi.Of(words(seedOf(r.Rank(), tag), 3)), r.right(), tag))
	}
	for _, i := range []int{4, 2, 0, 3, 1} {
		got := blank(3)
		r.recv(mpi.Of(got), r.left(), tags[i])
		same(r, "message", got, words(seedOf(r.left(), tags[i]), 3))
	}
	r.must(mpi.Waitall(out...))
}

// transferSelf sends to the rank itself.
func transferSelf(r *rank) {
	me := r.Rank()
	for _, n := range r.sizes() {
		r.at("%d bytes", n)
		m := newMailbox(n)
		in := r.Irecv(m.buffer(), me, 3)
		r.must(r.Send(mpi.Of(octets(seedOf(me, 1), n)), me, 3))
		st, err := in.Wait()
		r.must(err)
		r.status(st, me, 3, n)
		m.check(r, "receive first", octets(seedOf(me, 1), n))

		m = newMailbox(n)
		out := r.Issend(mpi.Of(octets(seedOf(me, 2), n)), me, 4)
		r.recv(m.buffer(), me, 4)
		m.check(r, "send first", octets(seedOf(me, 2), n))
		r.must(wait(out))
	}
}

func transferNoRank(r *rank) {
	x := blank(4)
	r.must(r.Send(mpi.Of(x), mpi.ProcNull, 0))
	r.must(r.Ssend(mpi.Of(x), mpi.ProcNull, 0))
	r.must(wait(r.Isend(mpi.Of(x), mpi.ProcNull, 0)))
	null := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
	st, err := r.Recv(mpi.Of(x), mpi.ProcNull, 5)
	r.must(err)
	r.equal("status of recv", st, null)
	st, err = r.Irecv(mpi.Of(x), mpi.ProcNull, mpi.AnyTag).Wait()
	r.must(err)
	r.equal("status of irecv", st, null)
	st, err = r.Probe(mpi.ProcNull, 5)
	r.must(err)
	r.equal("status of probe", st, null)
	st, found, err := r.Iprobe(mpi.ProcNull, 5)
	r.must(err)
	r.equal("iprobe finds", found, true)
	r.equal("status of iprobe", st, null)
	m, err := r.Mprobe(mpi.ProcNull, 5)
	r.must(err)
	st, err = m.Recv(mpi.Of(x))
	r.must(err)
	r.equal("status of mrecv", st, null)
	same(r, "memory", x, blank(4))
}

// transferNoBytes mixes empty messages with others: all keep their order.
func transferNoBytes(r *rank) {
	var out []*mpi.Request
	for i := range 6 {
		b := mpi.Buffer{}
		switch i % 3 {
		case 1:
			b = mpi.Of(words(seedOf(r.Rank(), i), 2))
		case 2:
			b = mpi.Strided([]int64(nil), 0, 4, 9)
		}
		out = append(out, r.Isend(b, r.right(), 1))
	}
	for i := range 6 {
		r.at("message %d", i)
		got := blank(2)
		st, err := r.Recv(mpi.Of(got), r.left(), 1)
		r.must(err)
		if i%3 == 1 {
			r.status(st, r.left(), 1, 16)
			same(r, "message", got, words(seedOf(r.left(), i), 2))
			continue
		}
		r.status(st, r.left(), 1, 0)
		same(r, "message", got, blank(2))
	}
	r.must(mpi.Waitall(out...))
	again := r.Isend(mpi.Of([]byte{}), r.right(), 2)
	r.recv(mpi.Buffer{}, r.left(), 2)
	r.must(wait(again))
}

// transferEager: all ranks send around the ring before they receive. It would deadlock if
// messages up to the eager limit waited for their receive.
func transferEager(r *rank) {
	eager := r.inner().Engine().Limits().Eager
	if eager < 0 || eager > 4<<20 {
		eager = min(eager, 4<<20)
	}
	for _, n := range []int{0, 1, eager / 2, eager} {
		if n > eager {
			continue
		}
		r.at("%d bytes", n)
		m := newMailbox(n)
		r.must(r.Send(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 0))
		r.recv(m.buffer(), r.left(), 0)
		m.check(r, "message", octets(seedOf(r.left()), n))
	}
}

// transferBothWays: two large messages cross; then many of them.
func transferBothWays(r *rank) {
	const n = 400_000
	for _, count := range []int{1, 5} {
		var all []*mpi.Request
		boxes := make([]guardedBuffer, count)
		for i := range count {
			all = append(all, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), n)), r.right(), i))
		}
		for i := range count {
			boxes[i] = newMailbox(n)
			all = append(all, r.Irecv(boxes[i].buffer(), r.left(), i))
		}
		r.must(mpi.Waitall(all...))
		for i, m := range boxes {
			m.check(r, "message", octets(seedOf(r.left(), i), n))
		}
	}
}

// transferAllPairs sends from every rank to every rank.
func transferAllPairs(r *rank) {
	for _, n := range []int{10, 50_000} {
		r.at("%d bytes", n)
		var all []*mpi.Request
		boxes := make([]guardedBuffer, r.Size())
		for p := range r.Size() {
			boxes[p] = newMailbox(n + p)
			all = append(all, r.Irecv(boxes[p].buffer(), p, p))
		}
		for p := range r.Size() {
			to := (p + r.Rank()) % r.Size()
			all = append(all, r.Isend(mpi.Of(octets(seedOf(r.Rank(), to), n+r.Rank())), to, r.Rank()))
		}
		r.must(mpi.Waitall(all...))
		for p, m := range boxes {
			m.check(r, "message", octets(seedOf(p, r.Rank()), n+p))
		}
	}
}

// transferOdd sends from and to unaligned addresses.
func transferOdd(r *rank) {
	for _, n := range []int{1, 63, 4097, 200_003} {
		for off := range 4 {
			r.at("%d bytes, offset %d", n, off)
			src, dst := make([]byte, n+off), make([]byte, n+8)
			copy(src[off:], octets(seedOf(r.Rank(), off), n))
			_, err := r.Sendrecv(mpi.Of(src[off:]), r.right(), 0, mpi.Of(dst[3-off:n+3-off]), r.left(), 0)
			r.must(err)
			same(r, "message", dst[3-off:n+3-off], octets(seedOf(r.left(), off), n))
		}
	}
}

func transferAllocated(r *rank) {
	const n = 30_000
	x, y := mpi.Alloc[int64](n), mpi.Alloc[int64](n)
	copy(x, words(seedOf(r.Rank()), n))
	_, err := r.Sendrecv(mpi.Of(x), r.right(), 0, mpi.Of(y), r.left(), 0)
	r.must(err)
	same(r, "message", y, words(seedOf(r.left()), n))
	r.must(r.Barrier())
	r.must(mpi.Free(x))
	r.must(mpi.Free(y))
}

func transferSendrecv(r *rank) {
	for _, n := range r.sizes() {
		for shift := range r.Size() {
			if shift > 1 && n > 100_000 {
				continue
			}
			r.at("%d bytes, shift %d", n, shift)
			to, from := (r.Rank()+shift)%r.Size(), (r.Rank()+r.Size()-shift)%r.Size()
			m := newMailbox(n)
			st, err := r.Sendrecv(mpi.Of(octets(seedOf(r.Rank(), shift), n)), to, shift, m.buffer(), from, shift)
			r.must(err)
			r.status(st, from, shift, n)
			m.check(r, "message", octets(seedOf(from, shift), n))
		}
	}
}

func transferSendrecvUnequal(r *rank) {
	n := func(rank int) int { return 100 + 1000*rank }
	m := newMailbox(n(r.left()))
	st, err := r.Sendrecv(mpi.Of(octets(seedOf(r.Rank()), n(r.Rank()))), r.right(), r.Rank(), m.buffer(), mpi.AnySource, mpi.AnyTag)
	r.must(err)
	r.status(st, r.left(), r.left(), n(r.left()))
	m.check(r, "message", octets(seedOf(r.left()), n(r.left())))
}

// transferSendrecvLate exchanges with ranks that come while the others wait already, by
// about as long as an engine may stay in its library, and longer.
func transferSendrecvLate(r *rank) {
	for i, late := range []time.Duration{0, 10 * time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
		r.must(r.Barrier())
		if r.Rank() == i%r.Size() {
			osthread.Sleep(late)
		}
		for k := range 3 {
			n := 3 + 1000*k
			m := newMailbox(n)
			st, err := r.Sendrecv(mpi.Of(octets(seedOf(r.Rank(), i, k), n)), r.right(), k, m.buffer(), r.left(), k)
			r.must(err)
			r.status(st, r.left(), k, n)
			m.check(r, "message", octets(seedOf(r.left(), i, k), n))
		}
	}
}

func transferReplace(r *rank) {
	for _, n := range r.lengths() {
		for _, l := range layouts {
			r.at("%d elements, %s", n, l.name)
			x, b := l.store(words(seedOf(r.Rank()), n))
			st, err := r.SendrecvReplace(b, r.right(), 1, r.left(), 1)
			r.must(err)
			r.status(st, r.left(), 1, 8*n)
			l.check(r, "replaced", x, words(seedOf(r.left()), n))
		}
	}
}

// transferChain shifts along a line: its ends have no neighbour on one side.
func transferChain(r *rank) {
	up, down := r.Rank()+1, r.Rank()-1
	want := words(seedOf(down), 5)
	if up == r.Size() {
		up = mpi.ProcNull
	}
	if down < 0 {
		down, want = mpi.ProcNull, words(seedOf(0), 5)
	}
	x := words(seedOf(r.Rank()), 5)
	_, err := r.SendrecvReplace(mpi.Of(x), up, 0, down, 0)
	r.must(err)
	same(r, "message", x, want)
	y := blank(5)
	_, err = r.Sendrecv(mpi.Of(words(seedOf(r.Rank()), 5)), down, 0, mpi.Of(y), up, 0)
	r.must(err)
	if up != mpi.ProcNull {
		same(r, "message", y, words(seedOf(up), 5))
	} else {
		same(r, "message from nowhere", y, blank(5))
	}
}
