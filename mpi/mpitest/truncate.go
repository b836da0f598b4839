package mpitest

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// truncateCases: messages longer than their receive buffer.
func truncateCases() []Case {
	return []Case{
		one("truncate/receive posted first", func(r *rank) { truncate(r, true) }),
		one("truncate/receive posted late", func(r *rank) { truncate(r, false) }),
		one("truncate/into no buffer", truncateNothing),
		one("truncate/strided", truncateStrided),
		one("truncate/matched message", truncateMatched),
		one("truncate/one of many", truncateOneOfMany),
		one("truncate/from anywhere", truncateFromAnywhere),
		one("truncate/persistent", truncatePersistent),
		two("truncate/long ones among others", truncateAmongOthers), // Open MPI reports none from a rank to itself
		two("truncate/broadcast", truncateBroadcast),
	}
}

// sent checks the end of a send whose message was truncated: it may have ErrTruncate.
func (r *rank) sent(q *mpi.Request) {
	if err := wait(q); err != nil && !errors.Is(err, mpi.ErrTruncate) {
		r.failf("send of a truncated message: %v", err)
	}
}

// truncate sends more bytes than the receive buffer holds: the receive fails, no byte behind
// the buffer is written, and the communicator still works.
func truncate(r *rank, early bool) {
	for _, n := range r.sizes() {
		if n < 2 {
			continue
		}
		r.at("%d bytes into %d", n, n/2)
		m := newMailbox(n)
		room := mpi.Of(m.bytes()[:n/2])
		var in *mpi.Request
		if early {
			in = r.Irecv(room, r.left(), 3)
			r.must(r.Barrier())
		}
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank(), n), n)), r.right(), 3)
		if !early {
			r.awaitRing()
			in = r.Irecv(room, r.left(), 3)
		}
		r.wants(wait(in), mpi.ErrTruncate, "receive into a short buffer")
		r.sent(out)
		same(r, "memory behind the buffer", m.whole[8+n/2:], newMailbox(n).whole[8+n/2:])
		if n < 1<<16 {
			r.usable()
		}
	}
	r.usable()
}

func truncateNothing(r *rank) {
	for _, n := range []int{3, 300_000} {
		r.at("%d bytes", n)
		out := r.Isend(mpi.Of(octets(1, n)), r.right(), 0)
		_, err := r.Recv(mpi.Buffer{}, r.left(), 0)
		r.wants(err, mpi.ErrTruncate, "receive into no buffer")
		r.sent(out)
		r.usable()
	}
}

func truncateStrided(r *rank) {
	for _, l := range layouts {
		r.at("%s", l.name)
		x, b := l.blank(16)
		clean := append([]int64(nil), x...)
		out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 18)), r.right(), 0)
		_, err := r.Recv(b, r.left(), 0)
		r.wants(err, mpi.ErrTruncate, "receive into a short buffer")
		r.sent(out)
		for i := range 16 {
			at := l.index(i)
			if v := int64(word(seedOf(r.left()), i)); x[at] == v {
				x[at] = untouched // it may hold the beginning of the message, or be unchanged
			}
		}
		same(r, "gaps", x, clean)
	}
	r.usable()
}

func truncateMatched(r *rank) {
	for _, n := range []int{10, 300_000} {
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 0)
		m, err := r.Mprobe(r.left(), 0)
		r.must(err)
		_, err = m.Recv(mpi.Of(make([]byte, n-1)))
		r.wants(err, mpi.ErrTruncate, "receive into a short buffer")
		r.sent(out)
		r.usable()
	}
}

// truncateOneOfMany: the receives before and after a failed one get their messages.
func truncateOneOfMany(r *rank) {
	got := []([]int64){blank(4), blank(2), blank(4), blank(4)}
	var in, out []*mpi.Request
	for i := range got {
		in = append(in, r.Irecv(mpi.Of(got[i]), r.left(), 0))
	}
	for i := range got {
		out = append(out, r.Isend(mpi.Of(words(seedOf(r.Rank(), i), 4)), r.right(), 0))
	}
	r.wants(mpi.Waitall(in...), mpi.ErrTruncate, "Waitall")
	for _, q := range out {
		r.sent(q)
	}
	for i := range got {
		if i != 1 {
			r.must(wait(in[i]))
			same(r, "message", got[i], words(seedOf(r.left(), i), 4))
		}
	}
	var e *mpi.Error
	if err := wait(in[1]); !errors.As(err, &e) {
		r.failf("the error is %T, and not *mpi.Error", err)
	}
	r.equal("rank in the error", e.Rank, r.Rank())
	r.equal("communicator in the error", e.Comm, r.Name())
	r.usable()
}

// tooLong checks the error and the memory of a receive of a longer message into the first
// room bytes of m.
func (m guardedBuffer) tooLong(r *rank, err error, room int) {
	r.wants(err, mpi.ErrTruncate, "receive into a short buffer")
	same(r, "memory behind the buffer", m.whole[8+room:], newMailbox(len(m.bytes())).whole[8+room:])
}

// truncateFromAnywhere receives too long messages from any source with any tag, with
// receives posted before and after the sends.
func truncateFromAnywhere(r *rank) {
	const n = 200_000
	for _, room := range []int{0, 8, 5000, n - 1} {
		for _, early := range []bool{true, false} {
			r.at("room for %d, posted first %v", room, early)
			m := newMailbox(n)
			var in *mpi.Request
			if early {
				in = r.Irecv(mpi.Of(m.bytes()[:room]), mpi.AnySource, mpi.AnyTag)
				r.must(r.Barrier())
			}
			out := r.Isend(mpi.Of(octets(seedOf(r.Rank()), n)), r.right(), 9)
			if !early {
				r.must(r.Barrier())
				in = r.Irecv(mpi.Of(m.bytes()[:room]), mpi.AnySource, mpi.AnyTag)
			}
			m.tooLong(r, wait(in), room)
			r.sent(out)
			r.usable()
		}
	}
}

// truncatePersistent starts a persistent receive for messages that fit and for messages that
// do not.
func truncatePersistent(r *rank) {
	const n, room = 100_000, 60_000
	m := newMailbox(n)
	in := r.RecvInit(mpi.Of(m.bytes()[:room]), r.left(), 2)
	for i, length := range []int{room, n, 10, n} {
		r.at("start %d, %d bytes", i, length)
		r.must(in.Start())
		out := r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), length)), r.right(), 2)
		if err := wait(in); length > room {
			m.tooLong(r, err, room)
		} else {
			r.must(err)
			same(r, "message", m.bytes()[:length], octets(seedOf(r.left(), i), length))
		}
		r.sent(out)
	}
	r.usable()
}

// truncateAmongOthers posts receives of all lengths, adjacent in memory, and then sends
// messages of which some are too long. The others arrive, and no byte beside a buffer is
// written.
func truncateAmongOthers(r *rank) {
	lengths := []int{8, 70_000, 0, 5000, 300_000, 16, 4097, 70_001}
	total := 0
	for _, n := range lengths {
		total += n
	}
	m := newMailbox(total)
	excess := func(i int) int { return []int{0, 90_000, 1}[i%3] }
	var in, out []*mpi.Request
	at := 0
	for _, n := range lengths {
		in = append(in, r.Irecv(mpi.Of(m.bytes()[at:at+n]), r.left(), 4))
		at += n
	}
	r.must(r.Barrier())
	for i, n := range lengths {
		out = append(out, r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), n+excess(i))), r.right(), 4))
	}
	for i := range lengths {
		r.at("message %d", i)
		if err := wait(in[i]); excess(i) > 0 {
			r.wants(err, mpi.ErrTruncate, "receive into a short buffer")
		} else {
			r.must(err)
		}
		r.sent(out[i])
	}
	at = 0
	for i, n := range lengths {
		r.at("message %d", i)
		got, want := m.bytes()[at:at+n], octets(seedOf(r.left(), i), n)
		at += n
		if excess(i) == 0 {
			same(r, "message", got, want)
			continue
		}
		for k, b := range got { // the beginning of the message, or unchanged
			if b != want[k] && b != guardByte {
				r.failf("byte %d of a short buffer belongs to another message", k)
			}
		}
	}
	same(r, "ends", []byte{m.whole[7], m.whole[8+total]}, []byte{guardByte, guardByte})
	r.usable()
}

// truncateBroadcast: pairs of ranks disagree about the length of a broadcast. The contract
// leaves the error open, but the memory beside the buffers stays unchanged.
func truncateBroadcast(r *rank) {
	const n, room = 200_000, 100_000
	pair := r.keep(r.Split(r.Rank()/2, r.Rank()))
	if pair.Size() == 2 {
		m := newMailbox(n)
		b := mpi.Of(octets(1, n))
		if pair.Rank() == 1 {
			b = mpi.Of(m.bytes()[:room])
		}
		_ = pair.Bcast(b, 0)
		pair.Revoke(errors.New("its ranks disagree"))
		if pair.Rank() == 1 {
			same(r, "memory behind the buffer", m.whole[8+room:], newMailbox(n).whole[8+room:])
		}
	}
	r.usable()
}
