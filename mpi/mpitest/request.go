package mpitest

import (
	"errors"

	"github.com/weft-hpc/weft/mpi"
)

// requestCases: the ways to wait for operations under way.
func requestCases() []Case {
	return []Case{
		one("request/waitall", requestWaitall),
		one("request/waitany", requestWaitany),
		one("request/waitsome", requestWaitsome),
		one("request/testsome", requestTestsome),
		one("request/testany", requestTestany),
		one("request/testall", requestTestall),
		one("request/test makes progress", requestTest),
		one("request/wait again", requestWaitAgain),
		one("request/thousands in random order", requestThousands),
		one("request/errors are joined", requestErrors),
		one("cancel/receive that nobody sends to", cancelReceive),
		one("cancel/one of many", cancelOneOfMany),
		one("cancel/too late", cancelTooLate),
		one("cancel/send", cancelSend),
		two("synchronous/waits for its receive", synchronousWaits),
		one("synchronous/waits for its receive, to itself", synchronousSelf),
	}
}

// batch is a number of receives from the left and sends to the right, each with its tag;
// some are large.
type batch struct {
	r     *rank
	boxes []guardedBuffer
	in    []*mpi.Request
	out   []*mpi.Request
}

func (r *rank) batch(count int) *batch {
	b := &batch{r: r, boxes: make([]guardedBuffer, count), in: make([]*mpi.Request, count), out: make([]*mpi.Request, count)}
	for i := range count {
		b.boxes[i] = newMailbox(mixedSize(r, i))
		b.in[i] = r.Irecv(b.boxes[i].buffer(), r.left(), i)
	}
	for _, i := range r.dice(count, r.Rank()).Perm(count) {
		b.out[i] = r.Isend(mpi.Of(octets(seedOf(r.Rank(), i), mixedSize(r, i))), r.right(), i)
	}
	return b
}

// arrived checks message i.
func (b *batch) arrived(i int) {
	b.boxes[i].check(b.r, "message", octets(seedOf(b.r.left(), i), mixedSize(b.r, i)))
}

// arrivedOnce checks message i, and that it is reported once.
func (b *batch) arrivedOnce(seen []bool, i int) {
	if seen[i] {
		b.r.failf("request %d is reported twice", i)
	}
	seen[i] = true
	b.arrived(i)
}

func (b *batch) end() { b.r.must(mpi.Waitall(b.out...)) }

func requestWaitall(r *rank) {
	b := r.batch(50)
	r.must(mpi.Waitall(append(append([]*mpi.Request{nil}, b.in...), nil)...))
	for i := range b.in {
		b.arrived(i)
		st, err := b.in[i].Wait()
		r.must(err)
		r.status(st, r.left(), i, mixedSize(r, i))
	}
	b.end()
	r.must(mpi.Waitall())
	r.must(mpi.Waitall(nil, nil))
}

func requestWaitany(r *rank) {
	b := r.batch(40)
	seen := make([]bool, len(b.in))
	for range b.in {
		i, st, err := mpi.Waitany(b.in...)
		r.must(err)
		if i < 0 {
			r.failf("Waitany finds none under way")
		}
		r.status(st, r.left(), i, mixedSize(r, i))
		b.arrivedOnce(seen, i)
	}
	i, _, err := mpi.Waitany(b.in...)
	r.must(err)
	r.equal("index when none is under way", i, -1)
	b.end()
}

func requestWaitsome(r *rank) {
	b := r.batch(40)
	seen, left := make([]bool, len(b.in)), len(b.in)
	for left > 0 {
		done, err := mpi.Waitsome(b.in...)
		r.must(err)
		if len(done) == 0 {
			r.failf("Waitsome returns none of %d", left)
		}
		for _, i := range done {
			b.arrivedOnce(seen, i)
		}
		left -= len(done)
	}
	done, err := mpi.Waitsome(b.in...)
	r.must(err)
	r.equal("indices when none is under way", len(done), 0)
	b.end()
}

func requestTestsome(r *rank) {
	b := r.batch(40)
	seen, left := make([]bool, len(b.in)), len(b.in)
	for left > 0 {
		done, err := mpi.Testsome(b.in...)
		r.must(err)
		for _, i := range done {
			b.arrivedOnce(seen, i)
		}
		left -= len(done)
		if len(done) == 0 {
			r.yield()
		}
	}
	b.end()
}

func requestTestany(r *rank) {
	b := r.batch(40)
	seen := make([]bool, len(b.in))
	for left := len(b.in); left > 0; {
		i, done, st, err := mpi.Testany(b.in...)
		r.must(err)
		if i < 0 {
			r.equal("done while some are under way", done, false)
			r.yield()
			continue
		}
		r.status(st, r.left(), i, mixedSize(r, i))
		b.arrivedOnce(seen, i)
		left--
	}
	i, done, _, err := mpi.Testany(b.in...)
	r.must(err)
	r.equal("index when none is under way", i, -1)
	r.equal("done when none is under way", done, true)
	b.end()
}

func requestTestall(r *rank) {
	b := r.batch(40)
	never := r.Irecv(mpi.Of(make([]byte, 1)), r.left(), 1000)
	for range 20 {
		done, err := mpi.Testall(append(b.in, never)...)
		r.must(err)
		r.equal("done although one is not", done, false)
	}
	r.must(never.Cancel())
	r.wants(wait(never), mpi.ErrCancelled, "cancelled receive")
	for {
		done, err := mpi.Testall(b.in...)
		r.must(err)
		if done {
			break
		}
		r.yield()
	}
	for i := range b.in {
		b.arrived(i)
	}
	b.end()
}

// requestTest completes large transfers by Test alone.
func requestTest(r *rank) {
	b := r.batch(10)
	for i, q := range b.in {
		for {
			done, st, err := q.Test()
			r.must(err)
			if done {
				r.status(st, r.left(), i, mixedSize(r, i))
				break
			}
			r.yield()
		}
		b.arrived(i)
	}
	for _, q := range b.out {
		for done := false; !done; r.yield() {
			var err error
			done, _, err = q.Test()
			r.must(err)
		}
	}
}

func requestWaitAgain(r *rank) {
	got := blank(2)
	q := r.Irecv(mpi.Of(got), r.left(), 0)
	out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 2)), r.right(), 0)
	for range 3 {
		st, err := q.Wait()
		r.must(err)
		r.status(st, r.left(), 0, 16)
	}
	done, st, err := q.Test()
	r.must(err)
	r.equal("done", done, true)
	r.status(st, r.left(), 0, 16)
	r.must(wait(out))
	var none *mpi.Request
	_, err = none.Wait()
	r.must(err)
}

// requestThousands has many receives under way, whose messages are sent in random order.
func requestThousands(r *rank) {
	count := 2000
	if r.long {
		count = 10_000
	}
	got, in := blank(count), make([]*mpi.Request, count)
	for i := range count {
		in[i] = r.Irecv(mpi.One(&got[i]), r.left(), i)
	}
	r.must(r.Barrier())
	data := words(seedOf(r.Rank()), count)
	var out []*mpi.Request
	for _, i := range r.dice(r.Rank()).Perm(count) {
		out = append(out, r.Isend(mpi.One(&data[i]), r.right(), i))
	}
	for _, i := range r.dice(r.Rank(), 1).Perm(count)[:count/2] {
		st, err := in[i].Wait()
		r.must(err)
		r.status(st, r.left(), i, 8)
	}
	r.must(mpi.Waitall(in...))
	r.must(mpi.Waitall(out...))
	same(r, "messages", got, words(seedOf(r.left()), count))
}

// requestErrors waits for requests, some of which fail at once.
func requestErrors(r *rank) {
	got := blank(1)
	bad := r.Irecv(mpi.Of(got), r.Size(), 0)
	worse := r.Isend(mpi.Of(got), 0, -7)
	in := r.Irecv(mpi.Of(got), r.left(), 0)
	out := r.Isend(mpi.Of([]int64{int64(r.Rank())}), r.right(), 0)
	err := mpi.Waitall(bad, in, worse, out)
	r.wants(err, mpi.ErrRank, "receive from a rank that does not exist")
	r.wants(err, mpi.ErrTag, "send with a negative tag")
	same(r, "message", got, []int64{int64(r.left())})
	i, _, err := mpi.Waitany(r.Irecv(mpi.Of(got), -9, 0))
	r.equal("index of a request that failed", i, 0)
	r.wants(err, mpi.ErrRank, "Waitany")
	_, err = mpi.Testsome(r.Irecv(mpi.Of(got), -9, 0))
	r.wants(err, mpi.ErrRank, "Testsome")
}

func cancelReceive(r *rank) {
	for _, src := range []int{r.left(), mpi.AnySource} {
		got := blank(2)
		q := r.Irecv(mpi.Of(got), src, 1)
		r.must(q.Cancel())
		r.wants(wait(q), mpi.ErrCancelled, "cancelled receive")
		r.must(q.Cancel())
		same(r, "memory", got, blank(2))
	}
	r.must(r.Barrier())
	out := r.Isend(mpi.Of(words(seedOf(r.Rank()), 2)), r.right(), 1)
	got := blank(2)
	r.recv(mpi.Of(got), r.left(), 1)
	same(r, "message after the cancelled receives", got, words(seedOf(r.left()), 2))
	r.must(wait(out))
}

// cancelOneOfMany cancels one of many receives: the others keep their order.
func cancelOneOfMany(r *rank) {
	got := blank(5)
	in := make([]*mpi.Request, 5)
	for i := range in {
		in[i] = r.Irecv(mpi.One(&got[i]), r.left(), 0)
	}
	r.must(in[2].Cancel())
	r.wants(wait(in[2]), mpi.ErrCancelled, "cancelled receive")
	r.must(r.Barrier())
	data := words(seedOf(r.Rank()), 4)
	for i := range data {
		r.must(r.Send(mpi.One(&data[i]), r.right(), 0))
	}
	for i, q := range in {
		if i != 2 {
			r.must(wait(q))
		}
	}
	want := words(seedOf(r.left()), 4)
	same(r, "messages", got, []int64{want[0], want[1], untouched, want[2], want[3]})
}

// cancelTooLate cancels a receive whose message has arrived or is arriving: it ends in one of
// the two ways, and no message is lost.
func cancelTooLate(r *rank) {
	for round := range 10 {
		got := blank(1)
		q := r.Irecv(mpi.Of(got), r.left(), round)
		out := r.Isend(mpi.Of([]int64{int64(100*r.Rank() + round)}), r.right(), round)
		if round%2 == 0 {
			r.must(r.Barrier())
		}
		r.must(q.Cancel())
		err := wait(q)
		if errors.Is(err, mpi.ErrCancelled) {
			same(r, "memory", got, blank(1))
			r.recv(mpi.Of(got), r.left(), round)
		} else {
			r.must(err)
		}
		same(r, "message", got, []int64{int64(100*r.left() + round)})
		r.must(wait(out))
	}
}

func cancelSend(r *rank) {
	q := r.Issend(mpi.Of([]int64{7}), r.Rank(), 0)
	r.wants(q.Cancel(), mpi.ErrState, "cancel of a send")
	got := blank(1)
	r.recv(mpi.Of(got), r.Rank(), 0)
	r.must(wait(q))
	r.must(q.Cancel()) // it has completed
}

// synchronousWaits: rank 1 receives only after rank 0 has found that its send has not
// completed.
func synchronousWaits(r *rank) {
	if r.Rank() > 1 {
		return
	}
	for _, n := range []int{0, 8, 200_000} {
		r.at("%d bytes", n)
		if r.Rank() == 1 {
			r.recv(mpi.Buffer{}, 0, 2)
			m := newMailbox(n)
			r.recv(m.buffer(), 0, 1)
			m.check(r, "message", octets(seedOf(n), n))
			continue
		}
		q := r.Issend(mpi.Of(octets(seedOf(n), n)), 1, 1)
		for range 200 {
			done, _, err := q.Test()
			r.must(err)
			r.equal("complete before its receive", done, false)
		}
		r.must(r.Send(mpi.Buffer{}, 1, 2))
		r.must(wait(q))
	}
}

func synchronousSelf(r *rank) {
	q := r.Issend(mpi.Of([]int64{int64(r.Rank())}), r.Rank(), 0)
	for range 50 {
		done, _, err := q.Test()
		r.must(err)
		r.equal("complete before its receive", done, false)
	}
	got := blank(1)
	r.recv(mpi.Of(got), r.Rank(), 0)
	r.must(wait(q))
}
