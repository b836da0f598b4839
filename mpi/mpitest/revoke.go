package mpitest

import (
	"errors"
	"strings"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// revokeCases: a rank that cannot go on revokes the communicator.
func revokeCases() []Case {
	cases := []Case{
		one("revoke/later operations", revokeLater),
		one("revoke/the first reason counts", revokeReason),
		one("revoke/others work on", revokeOthers),
		two("revoke/by all at once", revokeByAll),
		two("revoke/pending operations of its own", revokeOwn).needs(FullRevoke),
		two("revoke/many pending requests", revokeMany).needs(FullRevoke),
	}
	for _, p := range pendingOperations {
		cases = append(cases, two("revoke/pending "+p.name, func(r *rank) { revokePending(r, p.call) }).needs(FullRevoke))
	}
	return cases
}

// pendingOperations are calls of the other ranks that cannot complete without rank 0.
var pendingOperations = []struct {
	name string
	call func(c *rank) error
}{
	{"recv", func(c *rank) error { _, err := c.Recv(mpi.Of(blank(1)), 0, 0); return err }},
	{"recv from any source", func(c *rank) error { _, err := c.Recv(mpi.Of(blank(1)), mpi.AnySource, mpi.AnyTag); return err }},
	{"ssend", func(c *rank) error { return c.Ssend(mpi.Of(blank(1)), 0, 0) }},
	{"large send", func(c *rank) error {
		n := max(c.inner().Engine().Limits().Eager, 1<<20) + 100_000
		if n > 8<<20 {
			return c.Ssend(mpi.Of(make([]byte, 1<<20)), 0, 0)
		}
		return c.Send(mpi.Of(make([]byte, n)), 0, 0)
	}},
	{"sends in line", func(c *rank) error {
		big := make([]byte, 8<<20+100_000)
		calls := c.inLine([][]byte{big, big, big}, 0, 0, 1)
		for _, k := range calls {
			k.Kind = engine.CallSsend
		}
		c.inner().Engine().Post(calls)
		c.inner().Engine().Await(false, calls)
		for _, k := range calls {
			if !errors.Is(k.Err, mpi.ErrRevoked) {
				return k.Err
			}
		}
		return calls[0].Err
	}},
	{"sendrecv", func(c *rank) error {
		_, err := c.Sendrecv(mpi.Of(blank(1)), 0, 0, mpi.Of(blank(1)), 0, 0)
		return err
	}},
	{"probe", func(c *rank) error { _, err := c.Probe(0, 0); return err }},
	{"mprobe", func(c *rank) error { _, err := c.Mprobe(mpi.AnySource, 3); return err }},
	{"barrier", func(c *rank) error { return c.Barrier() }},
	{"bcast", func(c *rank) error { return c.Bcast(mpi.Of(blank(3)), 0) }},
	{"allreduce", func(c *rank) error { return c.Allreduce(mpi.InPlace, mpi.Of(blank(3)), mpi.Sum) }},
	{"allgather", func(c *rank) error { return c.Allgather(mpi.Of(blank(1)), mpi.Of(blank(c.Size()))) }},
	{"iallreduce", func(c *rank) error { return wait(c.Iallreduce(mpi.InPlace, mpi.Of(blank(3)), mpi.Sum)) }},
}

// newRevocable makes a communicator for the case to revoke.
func (r *rank) newRevocable() *rank { return r.keep(r.Dup()) }

// mustBeRevoked checks that c has been revoked for the reason.
func (r *rank) mustBeRevoked(c *rank, reason string) {
	err := c.Revoked()
	r.wants(err, mpi.ErrRevoked, "state of the communicator")
	if !strings.Contains(err.Error(), reason) {
		r.failf("the reason is missing: %v, and not %q", err, reason)
	}
}

// revokePending: rank 0 revokes the communicator while the others wait for it.
func revokePending(r *rank, call func(c *rank) error) {
	c := r.newRevocable()
	if r.Rank() == 0 {
		for p := 1; p < r.Size(); p++ {
			r.recv(mpi.Buffer{}, p, 0)
		}
		r.must(c.Revoked())
		c.Revoke(errors.New("no more input"))
	} else {
		r.must(r.Send(mpi.Buffer{}, 0, 0))
		r.wants(call(c), mpi.ErrRevoked, "pending operation")
	}
	r.must(r.Barrier())
	r.mustBeRevoked(c, "no more input")
	r.usable()
}

// revokeLater: every operation on a revoked communicator fails in the same way.
func revokeLater(r *rank) {
	c := r.newRevocable()
	w := c.open(mpi.Of(blank(2)))
	in := c.RecvInit(mpi.Of(blank(1)), c.left(), 0)
	r.must(r.Barrier())
	c.Revoke(errors.New("out of paper"))
	b := mpi.Of(blank(1))
	calls := map[string]func() error{
		"send":      func() error { return c.Send(b, c.right(), 0) },
		"ssend":     func() error { return c.Ssend(b, c.right(), 0) },
		"isend":     func() error { return wait(c.Isend(b, c.right(), 0)) },
		"recv":      func() error { _, err := c.Recv(b, c.left(), 0); return err },
		"iprobe":    func() error { _, _, err := c.Iprobe(c.left(), 0); return err },
		"mprobe":    func() error { _, err := c.Mprobe(c.left(), 0); return err },
		"start":     func() error { return errors.Join(in.Start(), wait(in)) },
		"barrier":   c.Barrier,
		"ibarrier":  func() error { return wait(c.Ibarrier()) },
		"allreduce": func() error { return c.Allreduce(mpi.InPlace, b, mpi.Sum) },
		"put":       func() error { return w.Put(b, c.right(), 0) },
		"fence":     w.Fence,
		"await":     func() error { return w.AwaitNotify(0, 1) },
		"dup":       func() error { _, err := c.Dup(); return err },
		"split":     func() error { _, err := c.Split(0, 0); return err },
		"free":      c.Free,
	}
	for name, call := range calls {
		r.at("%s", name)
		r.wants(call(), mpi.ErrRevoked, name)
	}
	r.mustBeRevoked(c, "out of paper")
	r.usable()
}

func revokeReason(r *rank) {
	c := r.newRevocable()
	if r.Rank() == 0 {
		c.Revoke(errors.New("first"))
		c.Revoke(errors.New("second"))
	}
	r.must(r.Barrier())
	_, err := c.Recv(mpi.Of(blank(1)), c.left(), 0)
	r.wants(err, mpi.ErrRevoked, "recv")
	r.mustBeRevoked(c, "by rank 0: first")
}

// revokeOthers: other communicators still work after a revocation.
func revokeOthers(r *rank) {
	a, b := r.keep(r.Dup()), r.newRevocable()
	got := blank(1)
	q := a.Irecv(mpi.Of(got), a.left(), 0)
	b.Revoke(errors.New("one of two"))
	r.must(r.Barrier())
	r.must(a.Revoked())
	r.must(a.Send(mpi.Of([]int64{int64(r.Rank())}), a.right(), 0))
	r.must(wait(q))
	r.equal("message", got[0], int64(a.left()))
	a.usable()
	c := a.keep(a.Dup())
	c.usable()
	c.usableCollectively(1)
}

func revokeByAll(r *rank) {
	c := r.newRevocable()
	q := c.Irecv(mpi.Of(blank(1)), mpi.AnySource, 0)
	c.Revoke(errors.New("everyone"))
	r.wants(wait(q), mpi.ErrRevoked, "pending receive")
	r.must(r.Barrier())
	r.mustBeRevoked(c, "everyone")
	r.usable()
}

// revokeOwn: the operations of the revoking rank end, too.
func revokeOwn(r *rank) {
	c := r.newRevocable()
	var q []*mpi.Request
	if r.Rank() == 0 {
		q = append(q, c.Irecv(mpi.Of(blank(1)), 1, 0), c.Issend(mpi.Of(blank(1)), 1, 1), c.Ibarrier())
		c.Revoke(errors.New("me too"))
	} else {
		// Until this rank knows of it, a collective operation of its own, as in Free, would
		// match the barrier that rank 0 has abandoned.
		_, err := c.Recv(mpi.Of(blank(1)), 0, 2)
		r.wants(err, mpi.ErrRevoked, "operation of a rank that has not revoked")
	}
	for _, p := range q {
		r.wants(wait(p), mpi.ErrRevoked, "pending operation")
	}
	r.must(r.Barrier())
	r.usable()
}

// revokeMany: each of many requests fails, but not the requests of another communicator.
func revokeMany(r *rank) {
	const count = 100
	c := r.newRevocable()
	x := blank(2 * count)
	var q []*mpi.Request
	for i := range count {
		q = append(q, c.Irecv(mpi.One(&x[i]), c.left(), i), r.Irecv(mpi.One(&x[count+i]), r.left(), i))
	}
	r.must(r.Barrier())
	if r.Rank() == r.Size()-1 {
		c.Revoke(errors.New("all of them"))
	}
	data := words(seedOf(r.Rank()), count)
	for i := range count {
		q = append(q, r.Isend(mpi.One(&data[i]), r.right(), i))
	}
	r.wants(mpi.Waitall(q...), mpi.ErrRevoked, "waitall")
	for i, p := range q {
		if i < 2*count && i%2 == 0 {
			r.wants(wait(p), mpi.ErrRevoked, "receive on the revoked communicator")
		} else {
			r.must(wait(p))
		}
	}
	same(r, "messages", x, append(blank(count), words(seedOf(r.left()), count)...))
}
