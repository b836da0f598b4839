package mpitest

import (
	"slices"
	"strings"

	"github.com/weft-hpc/weft/mpi"
)

// communicatorCases: messages of different communicators never match.
func communicatorCases() []Case {
	return []Case{
		one("communicator/ranks and names", communicatorNames),
		one("communicator/duplicates do not meet", communicatorApart),
		one("communicator/collective operations of two", communicatorTwo),
		one("communicator/split by color", communicatorSplit),
		one("communicator/split by key", communicatorKeys),
		two("communicator/split without some", communicatorUndefined),
		one("communicator/split into single ranks", communicatorSingles),
		one("communicator/split of a split", communicatorNested),
		one("communicator/from a list of ranks", communicatorSubset),
		one("communicator/ranks that share memory", communicatorShared),
		one("communicator/made and freed again and again", communicatorMany),
	}
}

func communicatorNames(r *rank) {
	a, b := r.keep(r.Dup()), r.keep(r.Dup())
	c := a.keep(a.Dup())
	seen := map[uint32]bool{r.inner().ID(): true}
	for _, d := range []*rank{a, b, c} {
		r.equal("rank", d.Rank(), r.Rank())
		r.equal("size", d.Size(), r.Size())
		for p := range r.Size() {
			r.equal("world rank", d.World(p), r.World(p))
		}
		if seen[d.inner().ID()] {
			r.failf("two communicators have the number %d", d.inner().ID())
		}
		seen[d.inner().ID()] = true
		r.equal("number on rank 0", int64(d.inner().ID()), r.gatherAll(int64(d.inner().ID()))[0])
		if !strings.HasPrefix(d.Name(), r.Name()) {
			r.failf("a communicator made from %q is called %q", r.Name(), d.Name())
		}
		d.SetName("halo")
		r.equal("name", d.Name(), "halo")
		_, err := d.Recv(mpi.Buffer{}, d.Size(), 0)
		if err == nil || !strings.Contains(err.Error(), "halo") {
			r.failf("an error does not name the communicator: %v", err)
		}
	}
}

// communicatorApart sends with one tag on three communicators, and receives from any source
// in another order.
func communicatorApart(r *rank) {
	all := []*rank{r, r.keep(r.Dup()), r.keep(r.Dup())}
	for _, n := range []int{1, 30_000} {
		r.at("%d elements", n)
		var out []*mpi.Request
		for i, c := range all {
			out = append(out, c.Isend(mpi.Of(words(seedOf(r.Rank(), i), n)), r.right(), 5))
		}
		for _, i := range []int{2, 0, 1} {
			got := blank(n)
			st, err := all[i].Recv(mpi.Of(got), mpi.AnySource, mpi.AnyTag)
			r.must(err)
			r.status(st, r.left(), 5, 8*n)
			same(r, "message", got, words(seedOf(r.left(), i), n))
		}
		r.must(mpi.Waitall(out...))
	}
}

func communicatorTwo(r *rank) {
	a, b := r.keep(r.Dup()), r.keep(r.Dup())
	x, y := []int64{int64(r.Rank())}, []int64{1}
	var p, q *mpi.Request
	if r.Rank()%2 == 0 { // different communicators: any order
		p = a.Iallreduce(mpi.InPlace, mpi.Of(x), mpi.Sum)
		q = b.Iallreduce(mpi.InPlace, mpi.Of(y), mpi.Sum)
	} else {
		q = b.Iallreduce(mpi.InPlace, mpi.Of(y), mpi.Sum)
		p = a.Iallreduce(mpi.InPlace, mpi.Of(x), mpi.Sum)
	}
	r.must(mpi.Waitall(p, q))
	r.equal("sum on one", x[0], int64(r.Size()*(r.Size()-1)/2))
	r.equal("sum on the other", y[0], int64(r.Size()))
	for i := range 10 {
		r.usableCollectively(i)
		a.usableCollectively(i + 1)
		b.usableCollectively(i + 2)
	}
}

func communicatorSplit(r *rank) {
	c := r.keep(r.Split(r.Rank()%2, 0))
	r.equal("size", c.Size(), (r.Size()+1-r.Rank()%2)/2)
	r.equal("rank", c.Rank(), r.Rank()/2)
	for p := range c.Size() {
		r.equal("world rank", c.World(p), r.World(2*p+r.Rank()%2))
	}
	c.usable()
	for i := range 3 {
		c.usableCollectively(10*(r.Rank()%2) + i)
	}
	out := c.Isend(mpi.Of(words(seedOf(r.Rank()), 3)), c.right(), 0)
	got := blank(3)
	st, err := c.Recv(mpi.Of(got), mpi.AnySource, mpi.AnyTag)
	r.must(err)
	r.status(st, c.left(), 0, 24)
	same(r, "message", got, words(seedOf(2*c.left()+r.Rank()%2), 3))
	r.must(wait(out))
}

// communicatorKeys reverses the ranks; equal keys keep their order.
func communicatorKeys(r *rank) {
	c := r.keep(r.Split(3, -r.Rank()))
	r.equal("rank", c.Rank(), r.Size()-1-r.Rank())
	c.usable()
	c.usableCollectively(1)
	d := c.keep(c.Split(0, c.Rank()/2*-1))
	var order []int
	for k := (c.Size() - 1) / 2; k >= 0; k-- {
		for p := 2 * k; p < min(2*k+2, c.Size()); p++ {
			order = append(order, p)
		}
	}
	r.equal("rank among equal keys", order[d.Rank()], c.Rank())
	d.usable()
}

func communicatorUndefined(r *rank) {
	color := 1
	if r.Rank() == 0 {
		color = mpi.Undefined
	}
	c, err := r.Split(color, 0)
	r.must(err)
	if r.Rank() == 0 {
		r.equal("a communicator for the color Undefined", c == nil, true)
	} else {
		d := r.keep(c, nil)
		r.equal("size", d.Size(), r.Size()-1)
		d.usable()
	}
	_, err = r.Split(-5, 0)
	r.wants(err, mpi.ErrCount, "negative color")
	r.usable()
}

func communicatorSingles(r *rank) {
	c := r.keep(r.Split(r.Rank(), 0))
	r.equal("size", c.Size(), 1)
	c.usable()
	c.usableCollectively(3)
	r.usable()
}

func communicatorNested(r *rank) {
	half := r.keep(r.Split(2*r.Rank()/r.Size(), 0))
	quarter := half.keep(half.Split(half.Rank()%2, -half.Rank()))
	for p := range quarter.Size() {
		r.equal("order by key", quarter.World(p), half.World(half.Rank()%2+2*(quarter.Size()-1-p)))
	}
	quarter.usable()
	half.usable()
	quarter.usableCollectively(2)
	r.usable()
}

func communicatorShared(r *rank) {
	c := r.keep(r.SplitShared())
	host := 0
	for _, b := range []byte(r.inner().Engine().Host()) {
		host = seedOf(host, int(b))
	}
	sharing := 0
	for _, h := range r.gatherAll(int64(host)) {
		if h == int64(host) {
			sharing++
		}
	}
	r.equal("ranks of this machine", c.Size(), sharing)
	for p := 1; p < c.Size(); p++ {
		r.equal("order of the ranks", c.World(p) > c.World(p-1), true)
	}
	r.equal("this rank is one of them", c.World(c.Rank()), r.World(r.Rank()))
	c.usable()
}

// communicatorMany makes and frees many communicators; late messages of an old one do not
// match in a new one.
func communicatorMany(r *rank) {
	for i := range 40 {
		c := r.keep(r.Dup())
		got := blank(1)
		out := c.Isend(mpi.Of([]int64{int64(100*i + r.Rank())}), r.right(), 0)
		_, err := c.Recv(mpi.Of(got), mpi.AnySource, mpi.AnyTag)
		r.must(err)
		r.equal("message", got[0], int64(100*i+r.left()))
		r.must(wait(out))
		c.drop()
	}
	r.usable()
}

// communicatorSubset makes communicators from lists of ranks: the order of the list counts,
// and other ranks get nil.
func communicatorSubset(r *rank) {
	var odd []int
	for p := r.Size() - 1; p >= 0; p -= 2 {
		odd = append(odd, p)
	}
	for i, list := range [][]int{odd, {r.Size() - 1}, {0}, nil} {
		r.at("%v", list)
		c, err := r.Subset(list)
		r.must(err)
		at := slices.Index(list, r.Rank())
		r.equal("there is a communicator", c != nil, at >= 0)
		if c == nil {
			continue
		}
		d := r.keep(c, nil)
		r.equal("rank", d.Rank(), at)
		r.equal("size", d.Size(), len(list))
		for p := range list {
			r.equal("world rank", d.World(p), r.World(list[p]))
		}
		d.usable()
		d.usableCollectively(i)
	}
	for _, list := range [][]int{{0, r.Size()}, {0, 0}, {-1}} {
		r.at("%v", list)
		_, err := r.Subset(list)
		r.wants(err, mpi.ErrRank, "no list of ranks")
	}
	if r.Size() > 1 {
		_, err := r.Subset([]int{min(r.Rank(), 1)})
		r.wants(err, mpi.ErrCount, "different lists")
	}
	r.usable()
}
