package mpitest

import (
	"math/rand/v2"

	"github.com/weft-hpc/weft/mpi"
)

// orderCases: which message matches which receive.
func orderCases() []Case {
	return []Case{
		one("order/one tag", orderOneTag),
		one("order/small after large", orderSmallAfterLarge),
		one("order/unexpected messages", orderUnexpected),
		one("order/any source", orderAnySource),
		one("order/any tag", orderAnyTag),
		one("order/any source and any tag", orderAnything),
		one("order/ring from any source", orderRing),
		one("order/exact and wild receives, posted first", func(r *rank) { orderMixed(r, true) }),
		one("order/exact and wild receives, posted late", func(r *rank) { orderMixed(r, false) }),
		two("order/exact receive among wild ones", orderExactAmongWild),
	}
}

// mixedSize is the length of message i of a series of small and large ones.
func mixedSize(r *rank, i int) int {
	eager := min(max(r.inner().Engine().Limits().Eager, 0), 1<<16)
	return [...]int{8, eager + 8, 24, 8, eager/2 + 8, eager + 1000, 16}[i%7] + i%5
}

// orderOneTag sends a series of small and large messages with one tag.
func orderOneTag(r *rank) {
	const count = 70
	for _, first := range []bool{true, false} {
		r.at("receives first %v", first)
		var all []*mpi.Request
		boxes := make([]guardedBuffer, count)
		receive := func() {
			for i := range boxes {
				boxes[i] = newMailbox(mixedSize(r, i))
				all = append(all, r.Irecv(boxes[i].buffer(), r.left(), 7))
			}
		}
		if first {
			receive()
			r.must(r.Barrier())
		}
		for i := range count {
			all = append(all, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), mixedSize(r, i))), r.right(), 7))
		}
		if !first {
			receive()
		}
		r.must(mpi.Waitall(all...))
		for i, m := range boxes {
			m.check(r, "message", octets(seedOf(r.left(), i), mixedSize(r, i)))
		}
	}
}

// orderSmallAfterLarge: a small message must not overtake a large one, whose bytes arrive
// later.
func orderSmallAfterLarge(r *rank) {
	large, small := octets(seedOf(r.Rank(), 1), 300_000), octets(seedOf(r.Rank(), 2), 4)
	a, b := r.Isend(mpi.Of(large), r.right(), 0), r.Isend(mpi.Of(small), r.right(), 0)
	r.must(r.Barrier())
	m, n := newMailbox(300_000), newMailbox(300_000)
	for _, box := range []guardedBuffer{m, n} {
		_, err := r.Recv(box.buffer(), mpi.AnySource, mpi.AnyTag)
		r.must(err)
	}
	m.check(r, "first", octets(seedOf(r.left(), 1), 300_000))
	n.check(r, "second", octets(seedOf(r.left(), 2), 4))
	r.must(mpi.Waitall(a, b))
}

// orderUnexpected receives messages of many tags in reverse order, long after their sends.
func orderUnexpected(r *rank) {
	const count = 100
	var out []*mpi.Request
	for i := range count {
		out = append(out, r.Isend(mpi.Of(words(seedOf(r.Rank(), i), 1+i%9)), r.right(), i))
	}
	r.must(r.Barrier())
	for i := count - 1; i >= 0; i-- {
		r.at("tag %d", i)
		got := blank(1 + i%9)
		r.recv(mpi.Of(got), r.left(), i)
		same(r, "message", got, words(seedOf(r.left(), i), 1+i%9))
	}
	r.must(mpi.Waitall(out...))
}

// funnel sends count messages from every rank to rank 0, which calls receive for each with a
// buffer; receive returns the status.
func funnel(r *rank, count int, tag func(i int) int, receive func(b mpi.Buffer) mpi.Status) {
	var out []*mpi.Request
	for i := range count {
		out = append(out, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), mixedSize(r, i))), 0, tag(i)))
	}
	next := make([]int, r.Size())
	if r.Rank() == 0 {
		for range count * r.Size() {
			m := newMailbox(1 << 17)
			st := receive(m.buffer())
			if st.Source < 0 || st.Source >= r.Size() {
				r.failf("source is %d", st.Source)
			}
			i := next[st.Source]
			next[st.Source]++
			r.at("message %d of rank %d", i, st.Source)
			r.status(st, st.Source, tag(i), mixedSize(r, i))
			m.check(r, "message", octets(seedOf(st.Source, i), mixedSize(r, i)))
		}
	}
	r.must(mpi.Waitall(out...))
}

func orderAnySource(r *rank) {
	funnel(r, 30, func(int) int { return 4 }, func(b mpi.Buffer) mpi.Status {
		st, err := r.Recv(b, mpi.AnySource, 4)
		r.must(err)
		return st
	})
}

func orderAnyTag(r *rank) {
	from := 0
	funnel(r, 30, func(i int) int { return i * i }, func(b mpi.Buffer) mpi.Status {
		st, err := r.Recv(b, from%r.Size(), mpi.AnyTag)
		from++
		r.must(err)
		return st
	})
}

func orderAnything(r *rank) {
	funnel(r, 30, func(i int) int { return i % 3 }, func(b mpi.Buffer) mpi.Status {
		st, err := r.Recv(b, mpi.AnySource, mpi.AnyTag)
		r.must(err)
		return st
	})
}

// orderRing receives from any source where only one rank sends.
func orderRing(r *rank) {
	for round := range 5 {
		out := r.Isend(mpi.Of(words(seedOf(r.Rank(), round), 6)), r.right(), round)
		got := blank(6)
		st, err := r.Recv(mpi.Of(got), mpi.AnySource, round)
		r.must(err)
		r.status(st, r.left(), round, 48)
		same(r, "message", got, words(seedOf(r.left(), round), 6))
		r.must(wait(out))
	}
}

// match returns for each message of one sender the index of its receive: the first that
// fits. Receives name a tag or AnyTag; the slices are in the order of posting.
func match(sent, posted []int) []int {
	taken, to := make([]bool, len(posted)), make([]int, len(sent))
	for i, tag := range sent {
		for j, want := range posted {
			if !taken[j] && (want == tag || want == mpi.AnyTag) {
				taken[j], to[i] = true, j
				break
			}
		}
	}
	return to
}

// matchLate is match for receives posted after all messages: each takes the first message
// that fits.
func matchLate(sent, posted []int) []int {
	taken, to := make([]bool, len(sent)), make([]int, len(sent))
	for j, want := range posted {
		for i, tag := range sent {
			if !taken[i] && (want == tag || want == mpi.AnyTag) {
				taken[i], to[i] = true, j
				break
			}
		}
	}
	return to
}

// orderSeries returns tags of messages and of as many receives, some of them AnyTag, that all
// match if the receives are posted early, or late. It draws again if an AnyTag receive takes
// a message that an exact receive needs.
func orderSeries(dice *rand.Rand, early bool) (sent, posted []int) {
	for {
		sent, posted = nil, nil
		for range 12 {
			sent = append(sent, dice.IntN(3))
		}
		for _, i := range dice.Perm(12) {
			tag := sent[i]
			if dice.IntN(2) == 0 {
				tag = mpi.AnyTag
			}
			posted = append(posted, tag)
		}
		to := matchLate(sent, posted)
		if early {
			to = match(sent, posted)
		}
		if permutation(to) {
			return sent, posted
		}
	}
}

func permutation(x []int) bool {
	seen := make([]bool, len(x))
	for _, i := range x {
		if seen[i] {
			return false
		}
		seen[i] = true
	}
	return true
}

// orderMixed posts exact and AnyTag receives: each message matches the receive that MPI
// prescribes.
func orderMixed(r *rank, early bool) {
	for round := range 20 {
		sent, posted := orderSeries(r.dice(round), early)
		to := matchLate(sent, posted)
		if early {
			to = match(sent, posted)
		}
		r.at("round %d: tags %v, receives %v", round, sent, posted)
		var in, out []*mpi.Request
		boxes := make([]guardedBuffer, len(posted))
		receive := func() {
			for j, tag := range posted {
				boxes[j] = newMailbox(64)
				src := r.left()
				if (j+round)%3 == 0 {
					src = mpi.AnySource
				}
				in = append(in, r.Irecv(boxes[j].buffer(), src, tag))
			}
		}
		if early {
			receive()
			r.must(r.Barrier())
		}
		for i, tag := range sent {
			out = append(out, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), 20+i)), r.right(), tag))
		}
		if !early {
			r.awaitRing()
			receive()
		}
		for i, j := range to {
			st, err := in[j].Wait()
			r.must(err)
			r.status(st, r.left(), sent[i], 20+i)
			boxes[j].check(r, "message", octets(seedOf(r.left(), i), 20+i))
		}
		r.must(mpi.Waitall(out...))
	}
}

// awaitRing returns when all messages sent around the ring have arrived: it sends one more
// and waits for it, because messages of one sender keep their order.
func (r *rank) awaitRing() {
	const last = 99
	end := r.Isend(mpi.Buffer{}, r.right(), last)
	_, err := r.Probe(r.left(), last)
	r.must(err)
	r.recv(mpi.Buffer{}, r.left(), last)
	r.must(wait(end))
}

// orderExactAmongWild: rank 0 has receives from any source and from one rank. An exact
// receive gets the first message of its rank that no earlier receive takes.
func orderExactAmongWild(r *rank) {
	if r.Rank() > 1 {
		return
	}
	if r.Rank() == 1 {
		r.recv(mpi.Buffer{}, 0, 9)
		for i := range 3 {
			r.must(r.Send(mpi.Of([]int64{int64(i)}), 0, i))
		}
		return
	}
	got := blank(3)
	a := r.Irecv(mpi.One(&got[0]), 1, 1)
	b := r.Irecv(mpi.One(&got[1]), mpi.AnySource, mpi.AnyTag)
	c := r.Irecv(mpi.One(&got[2]), 1, mpi.AnyTag)
	r.must(r.Send(mpi.Buffer{}, 1, 9))
	r.must(mpi.Waitall(a, b, c))
	same(r, "messages", got, []int64{1, 0, 2})
}
