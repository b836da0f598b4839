package mpitest

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// truncateCases: messages that are longer than the buffer they meet.
func truncateCases() []Case {
	return []Case{
		one("truncate/receive posted first", func(r *rank) { truncate(r, true) }),
		one("truncate/receive posted late", func(r *rank) { truncate(r, false) }),
		one("truncate/into no buffer", truncateNothing),
		one("truncate/strided", truncateStrided),
		one("truncate/matched message", truncateMatched),
		one("truncate/one of many", truncateOneOfMany),
	}
}

// sent checks the end of a send whose message was truncated: the sender may be told.
func (r *rank) sent(q *mpi.Request) {
	if err := wait(q); err != nil && !errors.Is(err, mpi.ErrTruncate) {
		r.failf("send of a truncated message: %v", err)
	}
}

// truncate sends more bytes than the receiver has room for: it is told, nothing
// behind its buffer is written to, and the communicator works on.
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
			r.settle()
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
	out := r.Isend(mpi.Of([]byte{1, 2, 3}), r.right(), 0)
	_, err := r.Recv(mpi.Buffer{}, r.left(), 0)
	r.wants(err, mpi.ErrTruncate, "receive into no buffer")
	r.sent(out)
	r.usable()
}

func truncateStrided(r *rank) {
	for _, l := range layouts {
		r.at("%s", l.name)
		x, b := l.room(16)
		clean := append([]int64(nil), x...)
		out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 18)), r.right(), 0)
		_, err := r.Recv(b, r.left(), 0)
		r.wants(err, mpi.ErrTruncate, "receive into a short buffer")
		r.sent(out)
		for i := range 16 {
			at := l.index(i)
			if v := int64(word(seedOf(r.left()), i)); x[at] == v {
				x[at] = untouched // it may hold the beginning, or what it held
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

// truncateOneOfMany: the receives before and after one that fails get their
// messages.
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
