package mpitest

import (
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// partCases: operations whose buffers have a part for every rank.
func partCases() []Case {
	return []Case{
		one("gather/every root and size", gatherAll),
		one("gather/in place, strided", gatherInPlace),
		one("gatherv/gaps and empty parts", gathervAll),
		one("scatter/every root and size", scatterAll),
		one("scatter/in place, strided", scatterInPlace),
		one("scatterv/gaps and empty parts", scattervAll),
		one("allgather/sizes", allgatherAll),
		one("allgather/in place, strided", allgatherInPlace),
		one("allgatherv/gaps and empty parts", allgathervAll),
		one("alltoall/sizes", alltoallAll),
		one("alltoallv/gaps and empty parts", alltoallvAll),
		one("parts/structs and bytes", partsKinds),
	}
}

// partSizes are elements of one rank.
func (r *rank) partSizes() []int {
	all := []int{0, 1, 7, 5000}
	if eager := r.inner().Engine().Limits().Eager / 8; eager > 0 && eager < 1<<16 {
		all = append(all, eager, eager+1)
	}
	if r.long {
		all = append(all, 100_000)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gathered returns the parts of all ranks, one after another.
func (r *rank) gathered(salt, part int) []int64 {
	all := make([]int64, 0, part*r.Size())
	for p := range r.Size() {
		all = append(all, words(seedOf(p, salt), part)...)
	}
	return all
}

func gatherAll(r *rank) {
	for _, part := range r.partSizes() {
		for _, root := range r.few(part) {
			forms(func(later bool) {
				r.at("%d elements each, root %d, non-blocking %v", part, root, later)
				s, x := words(seedOf(r.Rank(), root), part), blank(part*r.Size())
				r.must(both(later, func() error { return r.Gather(mpi.Of(s), mpi.Of(x), root) },
					func() *mpi.Request { return r.Igather(mpi.Of(s), mpi.Of(x), root) }))
				want := blank(part * r.Size())
				if r.Rank() == root {
					want = r.gathered(root, part)
				}
				same(r, "gathered", x, want)
			})
		}
	}
}

// gatherInPlace: the root has its part in place; the others send strided parts and have no
// receive buffer.
func gatherInPlace(r *rank) {
	for _, part := range []int{4, 6000} {
		for _, root := range r.few(part) {
			r.at("%d elements each, root %d", part, root)
			if r.Rank() != root {
				_, s := layouts[r.Rank()%len(layouts)].store(words(seedOf(r.Rank(), 0), part))
				r.must(r.Gather(s, mpi.Buffer{}, root))
				continue
			}
			x := blank(part * r.Size())
			copy(x[part*root:], words(seedOf(root, 0), part))
			r.must(r.Gather(mpi.InPlace, mpi.Of(x), root))
			same(r, "gathered", x, r.gathered(0, part))
		}
	}
}

// gaps are parts of different lengths, some empty, with unused elements between them, in the
// reverse order of the ranks.
type gaps struct{ counts, displs []int }

func (r *rank) gaps(unit, salt int) (g gaps, n int) {
	g.counts, g.displs = make([]int, r.Size()), make([]int, r.Size())
	at := 2
	for p := r.Size() - 1; p >= 0; p-- {
		g.counts[p], g.displs[p] = (p+salt)%3*unit, at
		at += g.counts[p] + 1 + p%2
	}
	return g, at
}

// fill puts the data of every rank into its part of x.
func (g gaps) fill(x []int64, salt int) []int64 {
	for p, n := range g.counts {
		copy(x[g.displs[p]:], words(seedOf(p, salt), n))
	}
	return x
}

func gathervAll(r *rank) {
	for _, unit := range []int{1, 4000} {
		for _, root := range r.few(unit) {
			forms(func(later bool) {
				r.at("parts of up to %d elements, root %d, non-blocking %v", 2*unit, root, later)
				g, n := r.gaps(unit, root)
				s, x := words(seedOf(r.Rank(), root), g.counts[r.Rank()]), blank(n)
				want := blank(n)
				counts, displs := g.counts, g.displs
				if r.Rank() == root {
					g.fill(want, root)
				} else if later {
					counts, displs, x, want = nil, nil, nil, nil
				}
				r.must(both(later, func() error { return r.Gatherv(mpi.Of(s), mpi.Of(x), counts, displs, root) },
					func() *mpi.Request { return r.Igatherv(mpi.Of(s), mpi.Of(x), counts, displs, root) }))
				same(r, "gathered", x, want)
			})
		}
	}
	counts := make([]int, r.Size()) // one after another
	total := 0
	for p := range counts {
		counts[p] = p + 1
		total += p + 1
	}
	x := blank(total)
	r.must(r.Gatherv(mpi.Of(words(seedOf(r.Rank()), r.Rank()+1)), mpi.Of(x), counts, nil, 0))
	if r.Rank() == 0 {
		same(r, "gathered without displacements", x, packedParts(counts))
	}
}

// packedParts returns counts[p] elements of every rank p, one after another.
func packedParts(counts []int) (x []int64) {
	for p, n := range counts {
		x = append(x, words(seedOf(p), n)...)
	}
	return x
}

func scatterAll(r *rank) {
	for _, part := range r.partSizes() {
		for _, root := range r.few(part) {
			forms(func(later bool) {
				r.at("%d elements each, root %d, non-blocking %v", part, root, later)
				x, s := blank(part), mpi.Buffer{}
				if r.Rank() == root {
					s = mpi.Of(r.gathered(root, part))
				}
				r.must(both(later, func() error { return r.Scatter(s, mpi.Of(x), root) },
					func() *mpi.Request { return r.Iscatter(s, mpi.Of(x), root) }))
				same(r, "part", x, words(seedOf(r.Rank(), root), part))
			})
		}
	}
}

func scatterInPlace(r *rank) {
	for _, part := range []int{4, 6000} {
		for _, root := range r.few(part) {
			r.at("%d elements each, root %d", part, root)
			if r.Rank() == root {
				x := r.gathered(0, part)
				r.must(r.Scatter(mpi.Of(x), mpi.InPlace, root))
				same(r, "input, unchanged", x, r.gathered(0, part))
				continue
			}
			l := layouts[r.Rank()%len(layouts)]
			x, b := l.blank(part)
			r.must(r.Scatter(mpi.Buffer{}, b, root))
			l.check(r, "part", x, words(seedOf(r.Rank(), 0), part))
		}
	}
}

func scattervAll(r *rank) {
	for _, unit := range []int{1, 4000} {
		for _, root := range r.few(unit) {
			forms(func(later bool) {
				r.at("parts of up to %d elements, root %d, non-blocking %v", 2*unit, root, later)
				g, n := r.gaps(unit, root)
				x, s := blank(g.counts[r.Rank()]), mpi.Buffer{}
				counts, displs := g.counts, g.displs
				if r.Rank() == root {
					s = mpi.Of(g.fill(blank(n), root))
				} else if later {
					counts, displs = nil, nil
				}
				r.must(both(later, func() error { return r.Scatterv(s, counts, displs, mpi.Of(x), root) },
					func() *mpi.Request { return r.Iscatterv(s, counts, displs, mpi.Of(x), root) }))
				same(r, "part", x, words(seedOf(r.Rank(), root), len(x)))
			})
		}
	}
}

func allgatherAll(r *rank) {
	for _, part := range r.partSizes() {
		forms(func(later bool) {
			r.at("%d elements each, non-blocking %v", part, later)
			s, x := words(seedOf(r.Rank(), part), part), blank(part*r.Size())
			r.must(both(later, func() error { return r.Allgather(mpi.Of(s), mpi.Of(x)) },
				func() *mpi.Request { return r.Iallgather(mpi.Of(s), mpi.Of(x)) }))
			same(r, "gathered", x, r.gathered(part, part))
		})
	}
}

func allgatherInPlace(r *rank) {
	for _, part := range []int{4, 6000} {
		r.at("%d elements each", part)
		x := blank(part * r.Size())
		copy(x[part*r.Rank():], words(seedOf(r.Rank(), 0), part))
		r.must(r.Allgather(mpi.InPlace, mpi.Of(x)))
		same(r, "gathered in place", x, r.gathered(0, part))
		_, s := layouts[r.Rank()%len(layouts)].store(words(seedOf(r.Rank(), 1), part))
		r.must(r.Allgather(s, mpi.Of(x)))
		same(r, "gathered from strided parts", x, r.gathered(1, part))
	}
}

func allgathervAll(r *rank) {
	for _, unit := range []int{1, 4000} {
		forms(func(later bool) {
			for _, inPlace := range []bool{false, true} {
				r.at("parts of up to %d elements, non-blocking %v, in place %v", 2*unit, later, inPlace)
				g, n := r.gaps(unit, unit)
				mine, x := words(seedOf(r.Rank(), 5), g.counts[r.Rank()]), blank(n)
				s := mpi.Of(mine)
				if inPlace {
					copy(x[g.displs[r.Rank()]:], mine)
					s = mpi.InPlace
				}
				r.must(both(later, func() error { return r.Allgatherv(s, mpi.Of(x), g.counts, g.displs) },
					func() *mpi.Request { return r.Iallgatherv(s, mpi.Of(x), g.counts, g.displs) }))
				same(r, "gathered", x, g.fill(blank(n), 5))
			}
		})
	}
}

func alltoallAll(r *rank) {
	for _, part := range r.partSizes() {
		forms(func(later bool) {
			r.at("%d elements each, non-blocking %v", part, later)
			var s, want []int64
			for p := range r.Size() {
				s = append(s, words(seedOf(r.Rank(), p), part)...)
				want = append(want, words(seedOf(p, r.Rank()), part)...)
			}
			given, x := slices.Clone(s), blank(len(s))
			r.must(both(later, func() error { return r.Alltoall(mpi.Of(s), mpi.Of(x)) },
				func() *mpi.Request { return r.Ialltoall(mpi.Of(s), mpi.Of(x)) }))
			same(r, "received", x, want)
			same(r, "input, unchanged", s, given)
		})
	}
}

// alltoallvAll: every pair of ranks exchanges a different number of elements, often none.
func alltoallvAll(r *rank) {
	length := func(from, to, unit int) int { return (from*2 + to*3) % 4 * unit }
	for _, unit := range []int{1, 3000} {
		forms(func(later bool) {
			r.at("parts of up to %d elements, non-blocking %v", 3*unit, later)
			var out, in gaps
			sn, rn := 1, 3
			for p := range r.Size() {
				out.counts, out.displs = append(out.counts, length(r.Rank(), p, unit)), append(out.displs, sn)
				in.counts, in.displs = append(in.counts, length(p, r.Rank(), unit)), append(in.displs, rn)
				sn += out.counts[p] + p%2
				rn += in.counts[p] + 2
			}
			s, x, want := blank(sn), blank(rn), blank(rn)
			for p := range r.Size() {
				copy(s[out.displs[p]:], words(seedOf(r.Rank(), p), out.counts[p]))
				copy(want[in.displs[p]:], words(seedOf(p, r.Rank()), in.counts[p]))
			}
			r.must(both(later,
				func() error { return r.Alltoallv(mpi.Of(s), out.counts, out.displs, mpi.Of(x), in.counts, in.displs) },
				func() *mpi.Request {
					return r.Ialltoallv(mpi.Of(s), out.counts, out.displs, mpi.Of(x), in.counts, in.displs)
				}))
			same(r, "received", x, want)
		})
	}
}

// partsKinds moves elements that are not numbers of 8 bytes.
func partsKinds(r *rank) {
	n := r.Size()
	pix := func(from, to int) pixel {
		return pixel{X: int16(from), Y: int16(to), Color: [3]uint8{1, 2, uint8(from + to)}, On: from < to}
	}
	s, x := make([]pixel, n), make([]pixel, n)
	for p := range s {
		s[p] = pix(r.Rank(), p)
	}
	r.must(r.Alltoall(mpi.Of(s), mpi.Of(x)))
	for p := range x {
		r.equal("struct", x[p], pix(p, r.Rank()))
	}
	b := make([]byte, 3*n)
	r.must(r.Allgather(mpi.Of(octets(seedOf(r.Rank()), 3)), mpi.Of(b)))
	for p := range n {
		same(r, "bytes", b[3*p:3*p+3], octets(seedOf(p), 3))
	}
	f := make([]float32, 2)
	whole := make([]float32, 2*n)
	for i := range whole {
		whole[i] = float32(i) / 4
	}
	r.must(r.Scatter(mpi.Of(whole), mpi.Of(f), n-1))
	same(r, "floats", f, whole[2*r.Rank():2*r.Rank()+2])
}
