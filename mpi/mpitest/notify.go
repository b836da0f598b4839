package mpitest

import "github.com/weft-hpc/weft/mpi"

// notifyCases: put with notification.
func notifyCases() []Case {
	return []Case{
		one("notify/data is in place", notifyData),
		one("notify/tiles", notifyTiles),
		one("notify/counts", notifyCounts),
		one("notify/counters are apart", notifyApart),
		one("notify/from all ranks", notifyAll),
		two("notify/waits", notifyWaits),
		two("notify/one after another", notifyStream),
		two("notify/there and back", notifyPingPong),
	}
}

func notifyData(r *rank) {
	for _, n := range []int{0, 1, 7, 30_000} {
		mem := blank(n + 1)
		w := r.open(mpi.Of(mem))
		for round := range 4 {
			r.at("%d elements, round %d", n, round)
			r.must(w.PutNotify(mpi.Of(words(seedOf(r.Rank(), round), n)), r.right(), 0, 9))
			r.must(w.AwaitNotify(9, 1))
			same(r, "window", mem[:n], words(seedOf(r.left(), round), n))
			r.equal("element behind", mem[n], int64(untouched))
			r.must(r.Barrier())
		}
		r.close(w)
	}
}

// notifyTiles puts tiles with gaps on both sides, on one, and on none, and tiles of one column or one row.
func notifyTiles(r *rank) {
	for _, shape := range []struct{ rows, cols, from, to, at int }{
		{4, 5, 4, 4, 0}, {4, 5, 7, 4, 2}, {4, 5, 4, 9, 3}, {4, 5, 6, 11, 1}, {1, 6, 3, 2, 5}, {6, 1, 6, 0, 2}, {0, 0, 0, 0, 1}, {300, 40, 301, 517, 19},
	} {
		r.at("%d x %d elements, leading dimension %d to %d, from element %d on", shape.rows, shape.cols, shape.from, shape.to, shape.at)
		notifyTile(r, shape.rows, shape.cols, shape.from, shape.to, shape.at)
	}
}

// notifyTile puts a tile of complex numbers twice, by both forms, and checks all elements of the window, in the gaps, too.
func notifyTile(r *rank, rows, cols, from, to, at int) {
	mem := make([]complex128, at+max(cols-1, 0)*to+rows+2)
	w := r.open(mpi.Of(mem))
	for round := range 2 {
		data, want := make([]complex128, max(cols-1, 0)*from+rows), make([]complex128, len(mem))
		for j := range cols {
			for i := range rows {
				data[i+j*from] = complex(float64(i+round), float64(j+r.Rank()))
				want[at+i+j*to] = complex(float64(i+round), float64(j+r.left()))
			}
		}
		b := mpi.Tile(data, rows, cols, from)
		if round == 0 {
			r.must(w.PutTileNotify(b, r.right(), at, rows, to, 5))
		} else {
			r.must(wait(w.IputTileNotify(b, r.right(), at, rows, to, 5)))
		}
		r.must(w.AwaitNotify(5, 1))
		same(r, "window", mem, want)
		r.must(r.Barrier())
	}
	r.close(w)
}

// notifyCounts subtracts notifications in other portions than they were added.
func notifyCounts(r *rank) {
	mem := blank(12)
	w := r.open(mpi.Of(mem))
	data := words(seedOf(r.Rank()), 12)
	for i := range data {
		r.must(w.PutNotify(mpi.One(&data[i]), r.right(), i, 0))
	}
	r.must(w.AwaitNotify(0, 0))
	for _, n := range []int{1, 5, 2, 4} {
		r.must(w.AwaitNotify(0, n))
	}
	same(r, "window", mem, words(seedOf(r.left()), 12))
	more := w.IawaitNotify(0, 1)
	for range 20 {
		done, _, err := more.Test()
		r.must(err)
		r.equal("a notification that was not sent", done, false)
	}
	r.must(r.Barrier())
	r.must(w.PutNotify(mpi.Buffer{}, r.right(), 0, 0))
	r.must(wait(more))
	r.must(r.Barrier())
	r.close(w)
}

func notifyApart(r *rank) {
	mem := blank(mpi.Notifications)
	v, w := r.open(mpi.Of(mem)), r.open(mpi.Of(blank(1)))
	for id := range mpi.Notifications {
		r.must(v.PutNotify(mpi.Of([]int64{int64(id)}), r.right(), id, id))
	}
	other := w.IawaitNotify(3, 1)
	for id := mpi.Notifications - 1; id >= 0; id-- {
		r.at("counter %d", id)
		r.must(v.AwaitNotify(id, 1))
		r.equal("element", mem[id], int64(id))
	}
	done, _, err := other.Test()
	r.must(err)
	r.equal("a notification of another window", done, false)
	r.must(r.Barrier())
	r.must(w.PutNotify(mpi.Of([]int64{5}), r.right(), 0, 3))
	r.must(wait(other))
	r.close(v)
	r.close(w)
}

// notifyAll waits for one notification of each rank at once.
func notifyAll(r *rank) {
	const n = 100
	mem := blank(n * r.Size())
	w := r.open(mpi.Of(mem))
	for round := range 5 {
		r.at("round %d", round)
		var q []*mpi.Request
		for p := range r.Size() {
			q = append(q, w.IputNotify(mpi.Of(words(seedOf(r.Rank(), p, round), n)), p, n*r.Rank(), 1))
		}
		r.must(w.AwaitNotify(1, r.Size()))
		for p := range r.Size() {
			same(r, "part", mem[n*p:n*p+n], words(seedOf(p, r.Rank(), round), n))
		}
		r.must(mpi.Waitall(q...))
		r.must(r.Barrier())
	}
	r.close(w)
}

// notifyWaits: the notification is sent only after the waiting rank has reported that it has
// not arrived.
func notifyWaits(r *rank) {
	mem := blank(1)
	w := r.open(mpi.Of(mem))
	switch r.Rank() {
	case 0:
		q := w.IawaitNotify(2, 2)
		r.recv(mpi.Buffer{}, 1, 0)
		for range 50 {
			done, _, err := q.Test()
			r.must(err)
			r.equal("two notifications after one", done, false)
		}
		r.must(r.Send(mpi.Buffer{}, 1, 0))
		r.must(wait(q))
		r.equal("element", mem[0], int64(2))
	case 1:
		r.must(w.PutNotify(mpi.Of([]int64{1}), 0, 0, 2))
		r.must(r.Send(mpi.Buffer{}, 0, 0))
		r.recv(mpi.Buffer{}, 0, 0)
		r.must(w.PutNotify(mpi.Of([]int64{2}), 0, 0, 2))
	}
	r.close(w)
}

// notifyStream puts many numbers without waiting: none is missing when the counter has
// reached their number.
func notifyStream(r *rank) {
	const count = 300
	mem := blank(count)
	w := r.open(mpi.Of(mem))
	data := words(seedOf(r.Rank()), count)
	var q []*mpi.Request
	for i := range count {
		q = append(q, w.IputNotify(mpi.One(&data[i]), r.right(), i, 63))
	}
	r.must(w.AwaitNotify(63, count))
	same(r, "window", mem, words(seedOf(r.left()), count))
	r.must(mpi.Waitall(q...))
	r.close(w)
}

// notifyPingPong: rank 0 and 1 put in turn, each after the notification of the other.
func notifyPingPong(r *rank) {
	mem := []int64{0}
	w := r.open(mpi.Of(mem))
	if r.Rank() < 2 {
		for i := range 50 {
			if i%2 == r.Rank() {
				r.must(w.PutNotify(mpi.Of([]int64{int64(i)}), 1-r.Rank(), 0, 0))
				continue
			}
			r.must(w.AwaitNotify(0, 1))
			r.equal("element", mem[0], int64(i))
		}
	}
	r.close(w)
}
