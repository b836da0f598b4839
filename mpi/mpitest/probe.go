package mpitest

import "github.com/weft-hpc/weft/mpi"

// probeCases: looking at messages before receiving them.
func probeCases() []Case {
	return []Case{
		one("probe/blocking", probeBlocking),
		one("probe/without waiting", probeLoop),
		one("probe/nothing there", probeNothing),
		one("probe/first of a sender", probeFirst),
		one("probe/any source and any tag", probeWild),
		one("probe/matched", probeMatched),
		one("probe/matched without waiting", probeMatchedLoop),
		one("probe/matched message is out of reach", probeTaken),
		one("probe/matched twice", probeTwice),
	}
}

func probeBlocking(r *rank) {
	for _, n := range r.sizes() {
		r.at("%d bytes", n)
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 6)
		for range 2 {
			st, err := r.Probe(r.left(), 6)
			r.must(err)
			r.status(st, r.left(), 6, n)
		}
		m := newMailbox(n)
		r.recv(m.buffer(), r.left(), 6)
		m.check(r, "message", octets(seedOf(r.left()), n))
		r.must(wait(out))
	}
}

func probeLoop(r *rank) {
	for _, n := range []int{0, 100, 200_000} {
		r.at("%d bytes", n)
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 6)
		for {
			st, found, err := r.Iprobe(mpi.AnySource, mpi.AnyTag)
			r.must(err)
			if found {
				r.status(st, r.left(), 6, n)
				break
			}
			r.yield()
		}
		m := newMailbox(n)
		r.recv(m.buffer(), r.left(), 6)
		m.check(r, "message", octets(seedOf(r.left()), n))
		r.must(wait(out))
	}
}

// probeNothing: a probe finds no message of another tag or communicator.
func probeNothing(r *rank) {
	other := r.keep(r.Dup())
	a := r.Isend(mpi.Of([]byte{1}), r.right(), 1)
	b := other.Isend(mpi.Of([]byte{2}), r.right(), 2)
	_, err := r.Probe(r.left(), 1)
	r.must(err)
	_, err = other.Probe(r.left(), 2)
	r.must(err)
	for range 20 {
		_, found, err := r.Iprobe(r.left(), 2)
		r.must(err)
		r.equal("finds a message of another communicator", found, false)
		m, err := other.Improbe(mpi.AnySource, 1)
		r.must(err)
		r.equal("takes a message of another communicator", m != nil, false)
	}
	r.recv(mpi.Of(make([]byte, 1)), r.left(), 1)
	other.recv(mpi.Of(make([]byte, 1)), r.left(), 2)
	r.must(mpi.Waitall(a, b))
	_, found, err := r.Iprobe(mpi.AnySource, mpi.AnyTag)
	r.must(err)
	r.equal("finds a message that has been received", found, false)
}

// probeFirst: a probe finds the first of several messages of different sizes.
func probeFirst(r *rank) {
	var out []*mpi.Request
	const count = 14
	for i := range count {
		out = append(out, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), mixedSize(r, i))), r.right(), i%2))
	}
	for i := range count {
		r.at("message %d", i)
		tag := mpi.AnyTag
		if i%3 == 0 {
			tag = i % 2
		}
		st, err := r.Probe(r.left(), tag)
		r.must(err)
		r.status(st, r.left(), i%2, mixedSize(r, i))
		m := newMailbox(st.Bytes)
		r.recv(m.buffer(), st.Source, st.Tag)
		m.check(r, "message", octets(seedOf(r.left(), i), mixedSize(r, i)))
	}
	r.must(mpi.Waitall(out...))
}

func probeWild(r *rank) {
	funnel(r, 15, func(i int) int { return i % 4 }, func(b mpi.Buffer) mpi.Status {
		st, err := r.Probe(mpi.AnySource, mpi.AnyTag)
		r.must(err)
		again, err := r.Recv(b, st.Source, st.Tag)
		r.must(err)
		r.equal("status of the receive and of the probe", again, st)
		return st
	})
}

func probeMatched(r *rank) {
	for _, n := range r.sizes() {
		r.at("%d bytes", n)
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 6)
		m, err := r.Mprobe(r.left(), 6)
		r.must(err)
		r.status(m.Status, r.left(), 6, n)
		box := newMailbox(n)
		st, err := m.Recv(box.buffer())
		r.must(err)
		r.status(st, r.left(), 6, n)
		box.check(r, "message", octets(seedOf(r.left()), n))
		r.must(wait(out))
	}
}

// probeMatchedLoop takes all messages by Improbe, and receives them later into strided
// buffers.
func probeMatchedLoop(r *rank) {
	const n = 20_000
	for i, l := range layouts {
		r.at("%s", l.name)
		out := r.Isend(mpi.Of(words(seedOf(r.Rank(), i), n)), r.right(), i)
		var m *mpi.Message
		for m == nil {
			var err error
			m, err = r.Improbe(mpi.AnySource, i)
			r.must(err)
			r.yield()
		}
		r.status(m.Status, r.left(), i, 8*n)
		x, b := l.blank(n)
		st, err := m.Irecv(b).Wait()
		r.must(err)
		r.status(st, r.left(), i, 8*n)
		l.check(r, "message", x, words(seedOf(r.left(), i), n))
		r.must(wait(out))
	}
}

// probeTaken: no other receive gets a message that Mprobe has taken, even if it is received
// after later messages.
func probeTaken(r *rank) {
	for _, n := range []int{3, 60_000} {
		r.at("%d elements", n)
		var out []*mpi.Request
		for i := range 3 {
			out = append(out, r.Isend(mpi.Of(words(seedOf(r.Rank(), i), n)), r.right(), 0))
		}
		first, err := r.Mprobe(mpi.AnySource, mpi.AnyTag)
		r.must(err)
		second := blank(n)
		r.recv(mpi.Of(second), r.left(), 0)
		same(r, "second message", second, words(seedOf(r.left(), 1), n))
		third, err := r.Mprobe(r.left(), mpi.AnyTag)
		r.must(err)
		got := blank(n)
		_, err = third.Recv(mpi.Of(got))
		r.must(err)
		same(r, "third message", got, words(seedOf(r.left(), 2), n))
		got = blank(n)
		_, err = first.Recv(mpi.Of(got))
		r.must(err)
		same(r, "first message", got, words(seedOf(r.left(), 0), n))
		r.must(mpi.Waitall(out...))
	}
}

func probeTwice(r *rank) {
	out := r.Isend(mpi.Of([]int64{4}), r.right(), 0)
	m, err := r.Mprobe(r.left(), 0)
	r.must(err)
	got := blank(1)
	_, err = m.Recv(mpi.Of(got))
	r.must(err)
	_, err = m.Recv(mpi.Of(got))
	r.wants(err, mpi.ErrState, "second receive of a message")
	same(r, "message", got, []int64{4})
	r.must(wait(out))
}
