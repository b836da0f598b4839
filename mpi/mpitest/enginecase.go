package mpitest

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// engineCases: the Engine interface, as tools and a communication thread use it.
func engineCases() []Case {
	return []Case{
		one("engine/name, host and limits", engineAbout),
		one("engine/calls in one batch", engineBatch),
		one("engine/sends in line", engineInLine),
		one("engine/gets in line", engineGetsInLine),
		one("engine/a fence completes all gets", engineFenceOfGets),
		one("engine/every call completes once", engineOnce),
		one("engine/poll counts completions", enginePoll),
		one("engine/await any of many", engineAwaitAny),
		one("engine/outstanding calls", engineOutstanding),
		one("engine/wake ends a sleep", engineWake),
		one("engine/sleep ends on arrival", engineSleep),
		one("engine/a tool sees every call", engineTool),
		one("engine/tools go in the opposite order", engineTools),
		one("engine/clock", engineClock),
	}
}

func engineAbout(r *rank) {
	e := r.inner().Engine()
	r.equal("it has a name", e.Name() != "", true)
	r.equal("it has a host", e.Host() != "", true)
	me, world := e.Group(r.inner().Handle())
	r.equal("rank", me, r.Rank())
	r.equal("size", len(world), r.Size())
	for p, x := range world {
		r.equal("world rank", x, r.World(p))
	}
	all := r.gatherAll(int64(e.Limits().MaxTag))
	for _, x := range all {
		r.equal("largest tag of all ranks", x, all[0])
	}
	if reason, yes := e.Revoked(r.inner().Handle()); yes {
		r.failf("revoked before anything happened: %s", reason)
	}
}

// call returns a send or receive of one element.
func (r *rank) call(kind engine.CallKind, x *int64, peer, tag int) *engine.Call {
	k := &engine.Call{Kind: kind, Comm: r.inner(), Peer: peer, Tag: tag}
	if kind.Sends() {
		k.Send = engine.Buffer(mpi.One(x))
	} else {
		k.Recv = engine.Buffer(mpi.One(x))
	}
	return k
}

// engineBatch posts sends and receives in one call: they keep their order.
func engineBatch(r *rank) {
	const count = 50
	e := r.inner().Engine()
	data, got := words(seedOf(r.Rank()), count), blank(count)
	var calls []*engine.Call
	for i := range count {
		calls = append(calls, r.call(engine.CallRecv, &got[i], r.left(), i%2), r.call(engine.CallSend, &data[i], r.right(), i%2))
	}
	for range 2 { // the same calls twice
		copy(got, blank(count))
		e.Post(calls)
		e.Await(false, calls)
		for _, k := range calls {
			r.equal("done", k.Done(), true)
			r.must(k.Err)
		}
		same(r, "messages", got, words(seedOf(r.left()), count))
		for _, k := range calls {
			k.Rearm()
		}
	}
}

// inLine returns sends of the parts of a message; width of them need be under way at a time.
func (r *rank) inLine(parts [][]byte, peer, tag, width int) (calls []*engine.Call) {
	for _, p := range parts {
		calls = append(calls, &engine.Call{Kind: engine.CallSend, Comm: r.inner(), Peer: peer, Tag: tag, InLine: width, Send: engine.Buffer(mpi.Of(p))})
	}
	return calls
}

// engineInLine sends two messages in parts, which the engine may hold back, before any
// receive. The parts of each arrive in order; the second message need not wait for the first.
func engineInLine(r *rank) {
	sizes := []int{200_000, 8, 70_000, 0, 300_000, 5000}
	for _, width := range []int{1, 2, len(sizes)} {
		r.at("%d at a time", width)
		var calls []*engine.Call
		for m := range 2 {
			var parts [][]byte
			for i, n := range sizes {
				parts = append(parts, octets(seedOf(r.Rank(), m, i), n))
			}
			calls = append(calls, r.inLine(parts, r.right(), m, width)...)
		}
		r.inner().Engine().Post(calls)
		r.must(r.Barrier())
		for _, m := range []int{1, 0} {
			for i, n := range sizes {
				box := newMailbox(n)
				r.recv(box.buffer(), r.left(), m)
				box.check(r, "part", octets(seedOf(r.left(), m, i), n))
			}
		}
		r.inner().Engine().Await(false, calls)
		for _, k := range calls {
			r.must(k.Err)
		}
	}
}

// engineGetsInLine reads a window in parts, of which the engine may hold some back. All bytes
// are there when the calls have completed, and after a flush or a fence.
func engineGetsInLine(r *rank) {
	sizes := []int{20_000, 1, 7000, 0, 30_000, 500}
	const sum = 57_501
	w := r.open(mpi.Of(words(seedOf(r.Rank()), sum)))
	for _, width := range []int{1, 2, len(sizes)} {
		for _, end := range []string{"await", "flush", "fence"} {
			r.at("%d at a time, %s", width, end)
			got := blank(sum)
			var calls []*engine.Call
			at := 0
			for _, n := range sizes {
				k := &engine.Call{Kind: engine.CallGet, Comm: r.inner(), Win: (*engine.Win)(w), Peer: r.right(), Offset: at, InLine: width, Recv: engine.Buffer(mpi.Of(got[at : at+n]))}
				if r.inner().Prepare(k) {
					calls = append(calls, k)
				}
				at += n
			}
			r.inner().Engine().Post(calls)
			switch end {
			case "flush":
				r.must(w.Flush(r.right()))
			case "fence":
				r.must(w.Fence())
			default:
				r.inner().Engine().Await(false, calls)
			}
			same(r, "read", got, words(seedOf(r.right()), sum))
			r.inner().Engine().Await(false, calls)
			for _, k := range calls {
				r.must(k.Err)
			}
		}
	}
	r.close(w)
}

// engineFenceOfGets ends many gets at once by a fence, often: that some replies come after it
// is rare.
func engineFenceOfGets(r *rank) {
	const parts, each = 4, 12_000
	mine := words(seedOf(r.Rank()), parts*each)
	theirs := words(seedOf(r.right()), parts*each)
	w := r.open(mpi.Of(mine))
	for i := range 300 {
		r.at("fence %d", i)
		got := blank(parts * each)
		var calls []*engine.Call
		for at := 0; at < len(got); at += each {
			k := &engine.Call{Kind: engine.CallGet, Comm: r.inner(), Win: (*engine.Win)(w), Peer: r.right(), Offset: at, Recv: engine.Buffer(mpi.Of(got[at : at+each]))}
			if r.inner().Prepare(k) {
				calls = append(calls, k)
			}
		}
		r.inner().Engine().Post(calls)
		r.must(w.Fence())
		same(r, "read", got, theirs)
		r.inner().Engine().Await(false, calls)
		for _, k := range calls {
			r.must(k.Err)
		}
	}
	r.close(w)
}

// engineOnce: calls that end in many different ways complete exactly once.
func engineOnce(r *rank) {
	const count = 60
	e := r.inner().Engine()
	data, got := words(seedOf(r.Rank()), count), blank(count)
	times := make([]int, 2*count)
	var calls []*engine.Call
	for i := range count {
		send := engine.CallSend
		if i%3 == 0 {
			send = engine.CallSsend
		}
		calls = append(calls, r.call(engine.CallRecv, &got[i], r.left(), i), r.call(send, &data[i], r.right(), i))
	}
	for i, k := range calls {
		k.OnDone = func(done *engine.Call) {
			if done == k && k.Done() {
				times[i]++
			}
		}
	}
	for i := range calls {
		e.Post(calls[i : i+1])
		if i%7 == 0 {
			e.Poll()
		}
	}
	e.Await(false, calls)
	r.must(r.Barrier())
	for range 10 {
		e.Poll()
	}
	for i, n := range times {
		r.at("%v", calls[i])
		r.equal("times that the call was completed", n, 1)
	}
	same(r, "messages", got, words(seedOf(r.left()), count))
}

// enginePoll compares the result of Poll with the number of completions inside it.
func enginePoll(r *rank) {
	const count = 60
	e := r.inner().Engine()
	data, got := words(seedOf(r.Rank()), count), blank(count)
	completed := 0
	var calls []*engine.Call
	for i := range count {
		calls = append(calls, r.call(engine.CallRecv, &got[i], r.left(), i), r.call(engine.CallSsend, &data[i], r.right(), i))
	}
	for _, k := range calls {
		k.OnDone = func(*engine.Call) { completed++ }
	}
	e.Post(calls)
	for completed < len(calls) {
		before := completed
		n := e.Poll()
		r.equal("completions that Poll tells of", n, completed-before)
		r.yield()
	}
	same(r, "messages", got, words(seedOf(r.left()), count))
	r.equal("completions when nothing is under way", e.Poll(), 0)
}

func engineAwaitAny(r *rank) {
	const count = 20
	e := r.inner().Engine()
	data, got := words(seedOf(r.Rank()), count), blank(count)
	var open []*engine.Call
	for i := range count {
		open = append(open, r.call(engine.CallRecv, &got[i], r.left(), i))
	}
	e.Post(open)
	for _, i := range r.dice(r.Rank()).Perm(count) {
		r.must(r.Send(mpi.One(&data[i]), r.right(), i))
	}
	for len(open) > 0 {
		e.Await(true, open)
		var left []*engine.Call
		for _, k := range open {
			if !k.Done() {
				left = append(left, k)
			}
		}
		if len(left) == len(open) {
			r.failf("Await returned, and none of %d calls has completed", len(open))
		}
		open = left
	}
	same(r, "messages", got, words(seedOf(r.left()), count))
}

// engineOutstanding: each call under way is listed once, until it has completed.
func engineOutstanding(r *rank) {
	e := r.inner().Engine()
	got := blank(10)
	mine := map[*engine.Call]int{}
	var calls []*engine.Call
	for i := range got {
		k := r.call(engine.CallRecv, &got[i], r.left(), i)
		calls, mine[k] = append(calls, k), 0
	}
	count := func() (n int) {
		for k := range mine {
			mine[k] = 0
		}
		e.Outstanding(func(k *engine.Call) {
			if _, ok := mine[k]; ok {
				mine[k]++
				n++
			}
		})
		for k, times := range mine {
			if times > 1 {
				r.failf("%v is listed %d times", k, times)
			}
		}
		return n
	}
	r.equal("before", count(), 0)
	e.Post(calls)
	r.equal("all under way", count(), 10)
	r.must(r.Barrier())
	data := words(seedOf(r.Rank()), 10)
	for i := range 6 {
		r.must(r.Send(mpi.One(&data[i]), r.right(), i))
	}
	e.Await(false, calls[:6])
	r.equal("four left", count(), 4)
	for _, k := range calls[6:] {
		e.Cancel(k)
	}
	e.Await(false, calls[6:])
	for _, k := range calls[6:] {
		r.wants(k.Err, mpi.ErrCancelled, "cancelled call")
	}
	r.equal("none left", count(), 0)
}

// engineWake: a Wake before or during a Sleep ends it; otherwise the case hangs.
func engineWake(r *rank) {
	e := r.inner().Engine()
	for range 20 {
		e.Wake()
		e.Sleep(time.Hour)
	}
	for range 10 {
		var woken atomic.Bool
		osthread.Go(func() {
			woken.Store(true)
			e.Wake()
		})
		for !woken.Load() {
			e.Sleep(time.Hour) // returns at once if there is something to do
			e.Poll()
		}
	}
	e.Sleep(time.Microsecond)
	e.Sleep(0)
}

// engineSleep waits for a message as a communication thread does: Sleep, then Poll.
func engineSleep(r *rank) {
	e := r.inner().Engine()
	for round := range 20 {
		r.at("round %d", round)
		got, data := blank(1), words(seedOf(r.Rank(), round), 1)
		in, out := r.call(engine.CallRecv, &got[0], r.left(), round), r.call(engine.CallSsend, &data[0], r.right(), round)
		e.Post([]*engine.Call{in})
		if r.Rank() == round%r.Size() {
			e.Sleep(time.Millisecond)
		}
		e.Post([]*engine.Call{out})
		for !in.Done() || !out.Done() {
			if e.Poll() == 0 {
				e.Sleep(time.Hour)
			}
		}
		same(r, "message", got, words(seedOf(r.left(), round), 1))
	}
}

// counter is a tool that counts calls by kind.
type counter struct {
	engine.Engine
	kinds map[engine.CallKind]int
}

func (c *counter) Post(calls []*engine.Call) {
	for _, k := range calls {
		c.kinds[k.Kind]++
	}
	c.Engine.Post(calls)
}

func (c *counter) Do(k *engine.Call) {
	c.kinds[k.Kind]++
	c.Engine.Do(k)
}

// engineTool makes one call of each kind under a tool that counts them.
func engineTool(r *rank) {
	tool := &counter{kinds: map[engine.CallKind]int{}}
	name := r.inner().Engine().Name()
	restore, n := r.inner().Intercept(func(next engine.Engine) engine.Engine {
		tool.Engine = next
		return tool
	}), r.Size()
	r.equal("engine", r.inner().Engine(), engine.Engine(tool))
	x, all := blank(1), blank(n)
	b, parts := mpi.Of(x), mpi.Of(all)
	q := []*mpi.Request{r.Isend(b, r.right(), 0), r.Issend(b, r.right(), 0)}
	_, err := r.Probe(r.left(), 0)
	r.must(err)
	_, _, err = r.Iprobe(r.left(), 0)
	r.must(err)
	m, err := r.Mprobe(r.left(), 0)
	r.must(err)
	_, err = m.Recv(mpi.Of(blank(1)))
	r.must(err)
	_, err = r.Improbe(r.left(), 1)
	r.must(err)
	r.recv(mpi.Of(blank(1)), r.left(), 0)
	r.must(mpi.Waitall(q...))
	for _, err := range []error{
		r.Barrier(), r.Bcast(b, 0), r.Reduce(b, mpi.Of(blank(1)), mpi.Sum, 0), r.Allreduce(mpi.InPlace, b, mpi.Sum),
		r.Scan(mpi.InPlace, b, mpi.Sum), r.Exscan(mpi.InPlace, b, mpi.Sum), r.Gather(b, parts, 0), r.Scatter(parts, b, 0),
		r.Allgather(b, parts), r.Alltoall(parts, mpi.Of(blank(n))), r.ReduceScatter(parts, b, nil, mpi.Sum),
	} {
		r.must(err)
	}
	w := r.open(mpi.Of(blank(2)))
	for _, err := range []error{
		w.Put(b, r.right(), 0), w.Get(b, r.right(), 0), w.Accumulate(b, mpi.Sum, r.right(), 1), w.PutNotify(b, r.right(), 0, 0),
		w.AwaitNotify(0, 1), w.Fence(), w.Lock(r.right(), true), w.Flush(r.right()), w.Unlock(r.right()),
	} {
		r.must(err)
	}
	r.close(w)
	for k := engine.CallSend; k <= engine.CallFlush; k++ {
		if tool.kinds[k] == 0 {
			r.failf("the tool has not seen a %v", k)
		}
	}
	seen := tool.kinds[engine.CallBarrier]
	r.must(restore())
	r.must(r.Barrier())
	r.equal("barriers seen after the tool has gone", tool.kinds[engine.CallBarrier], seen)
	r.equal("name of the engine", r.inner().Engine().Name(), name)
}

func engineTools(r *rank) {
	add := func() (*counter, func() error) {
		tool := &counter{kinds: map[engine.CallKind]int{}}
		return tool, r.inner().Intercept(func(next engine.Engine) engine.Engine {
			tool.Engine = next
			return tool
		})
	}
	inner, restoreInner := add()
	outer, restoreOuter := add()
	r.must(r.Barrier())
	r.equal("barriers seen by the inner tool", inner.kinds[engine.CallBarrier], 1)
	r.equal("barriers seen by the outer tool", outer.kinds[engine.CallBarrier], 1)
	r.equal("taking the inner one first is refused", restoreInner() != nil, true)
	r.must(restoreOuter())
	r.must(restoreInner())
	r.usable()
}

func engineClock(r *rank) {
	last := mpi.Wtime()
	for range 1000 {
		now := mpi.Wtime()
		if now < last || math.IsNaN(now) {
			r.failf("the clock went from %v to %v", last, now)
		}
		last = now
	}
	start := mpi.Wtime()
	for mpi.Wtime() == start { // if it stands still, the case hangs
		r.yield()
	}
}
