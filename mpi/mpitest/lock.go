package mpitest

import "github.com/weft-hpc/weft/mpi"

// lockCases: access under locks.
func lockCases() []Case {
	return []Case{
		one("lock/exclusive", lockExclusive),
		two("lock/keeps others out", lockHeld),
		two("lock/shared", lockShared),
		one("lock/shared and exclusive", lockMixed),
		one("lock/of several targets", lockSeveral),
		one("lock/unlock completes", lockCompletes),
		one("lock/twice, or not at all", lockTwice),
	}
}

// lockExclusive counts by reading, adding and writing back: two ranks that hold the lock at
// once would lose an update. The holder also writes its number and finds it unchanged after
// some time.
func lockExclusive(r *rank) {
	const times = 25
	mem := make([]int64, 2)
	w := r.open(mpi.Of(mem))
	for i := range times {
		target := i % min(2, r.Size())
		r.must(w.Lock(target, true))
		x, me := []int64{0}, []int64{int64(r.Rank())}
		r.must(w.Get(mpi.Of(x), target, 0))
		r.must(w.Put(mpi.Of(me), target, 1))
		r.must(w.Flush(target))
		for range 3 {
			r.yield()
			r.must(w.Get(mpi.Of(me), target, 1))
			r.equal("rank that holds the lock", me[0], int64(r.Rank()))
		}
		x[0]++
		r.must(w.Put(mpi.Of(x), target, 0))
		r.must(w.Unlock(target))
	}
	r.must(w.Fence())
	want := 0
	for i := range times {
		if i%min(2, r.Size()) == r.Rank() {
			want += r.Size()
		}
	}
	r.equal("count", mem[0], int64(want))
	r.close(w)
}

// lockHeld: rank 0 takes the lock, notifies rank 1, waits, and writes a mark before it
// unlocks; rank 1 sees the mark as soon as it has the lock.
func lockHeld(r *rank) {
	const while = 1e-3 // seconds
	mem := make([]int64, 8)
	w := r.open(mpi.Of(mem))
	one, target := int64(1), r.Size()-1
	for round := range mem {
		r.at("round %d", round)
		switch r.Rank() {
		case 0:
			r.must(w.Lock(target, true))
			r.must(r.Send(mpi.Buffer{}, 1, round))
			for start := mpi.Wtime(); mpi.Wtime() < start+while; r.yield() {
				r.inner().Engine().Poll()
			}
			r.must(w.Put(mpi.One(&one), target, round))
			r.must(w.Unlock(target))
		case 1:
			r.recv(mpi.Buffer{}, 0, round)
			r.must(w.Lock(target, round%2 == 0))
			mark := int64(0)
			r.must(w.Get(mpi.One(&mark), target, round))
			r.must(w.Unlock(target))
			r.equal("mark of the end", mark, one)
		}
	}
	r.must(w.Fence())
	r.close(w)
}

// lockShared: all ranks hold the lock at once. To prove it, each notifies the next rank that
// it holds the lock, and unlocks only after its own notification.
func lockShared(r *rank) {
	w := r.open(mpi.Of(words(seedOf(r.Rank()), 4)))
	for round := range 5 {
		r.at("round %d", round)
		target := round % r.Size()
		r.must(w.Lock(target, false))
		q := r.Isend(mpi.Buffer{}, r.right(), round)
		r.recv(mpi.Buffer{}, r.left(), round)
		got := blank(4)
		r.must(w.Get(mpi.Of(got), target, 0))
		same(r, "read", got, words(seedOf(target), 4))
		r.must(wait(q))
		r.must(w.Unlock(target))
	}
	r.must(w.Fence())
	r.close(w)
}

// lockMixed: writers keep two elements equal, and readers check it.
func lockMixed(r *rank) {
	mem := make([]int64, 2)
	w := r.open(mpi.Of(mem))
	for i := range 20 {
		write := (i+r.Rank())%2 == 0
		r.must(w.Lock(0, write))
		x := blank(2)
		r.must(w.Get(mpi.Of(x), 0, 0))
		r.equal("second of two equal elements", x[1], x[0])
		if write {
			r.must(w.Put(mpi.Of([]int64{x[0] + 1}), 0, 0))
			r.must(w.Flush(0))
			r.must(w.Put(mpi.Of([]int64{x[0] + 1}), 0, 1))
		}
		r.must(w.Unlock(0))
	}
	r.must(w.Fence())
	if r.Rank() == 0 {
		same(r, "count", mem, []int64{int64(10 * r.Size()), int64(10 * r.Size())})
	}
	r.close(w)
}

// lockSeveral holds the locks of all targets at once.
func lockSeveral(r *rank) {
	mem := make([]int64, 1)
	w := r.open(mpi.Of(mem))
	for range 5 {
		for p := range r.Size() {
			r.must(w.Lock(p, true))
		}
		for p := range r.Size() {
			x := []int64{0}
			r.must(w.Get(mpi.Of(x), p, 0))
			x[0] += int64(p + 1)
			r.must(w.Put(mpi.Of(x), p, 0))
		}
		for p := range r.Size() {
			r.must(w.Unlock(p))
		}
	}
	r.must(w.Fence())
	same(r, "sum", mem, []int64{int64(5 * r.Size() * (r.Rank() + 1))})
	r.close(w)
}

// lockCompletes: data put under a lock is visible to the next holder, and to a rank that
// gets a message after the unlock.
func lockCompletes(r *rank) {
	const n = 4000
	mem := blank(n)
	w := r.open(mpi.Of(mem))
	r.must(w.Lock(r.right(), true))
	r.must(wait(w.Iput(mpi.Of(words(seedOf(r.Rank()), n)), r.right(), 0)))
	r.must(w.Unlock(r.right()))
	q := r.Isend(mpi.Buffer{}, r.right(), 0)
	r.recv(mpi.Buffer{}, r.left(), 0)
	same(r, "window", mem, words(seedOf(r.left()), n))
	r.must(wait(q))
	r.must(w.Fence())
	r.close(w)
}

// lockTwice: a rank can neither lock twice nor unlock without the lock.
func lockTwice(r *rank) {
	w := r.open(mpi.Of(blank(1)))
	r.wants(w.Unlock(r.right()), mpi.ErrState, "unlock without a lock")
	r.must(w.Fence())
	if r.Rank() == 0 {
		for _, how := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			r.at("exclusive first, second: %v", how)
			r.must(w.Lock(r.right(), how[0]))
			r.wants(w.Lock(r.right(), how[1]), mpi.ErrState, "second lock")
			r.must(w.Unlock(r.right()))
			r.wants(w.Unlock(r.right()), mpi.ErrState, "second unlock")
		}
	}
	r.must(w.Fence())
	r.must(w.Lock(0, true))
	r.must(w.Unlock(0))
	r.must(w.Fence())
	r.close(w)
}
