package deps

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

var pairs = []struct {
	name string
	a, b shape
}{
	{"equal", span(8, 8), span(8, 8)},
	{"disjoint", span(0, 8), span(8, 8)},
	{"partial overlap", span(0, 8), span(4, 8)},
	{"containing", span(0, 16), span(4, 8)},
	{"interleaved tiles", block(0, 4, 3, 8), block(4, 4, 3, 8)},
	{"overlapping tiles", block(0, 4, 3, 8), block(10, 4, 3, 8)},
	{"tiles of other leading dimensions", block(0, 3, 4, 8), block(1, 2, 4, 7)},
	{"handles", handle(0), handle(1)},
}

// Programs of 3 tasks on 2 regions with every mode, for every way in which two regions can
// overlap: all in a long run, and a quarter of them otherwise. First the edges are compared with nothing released, then the tasks end in
// random order; then the same program runs with tasks that end in between, at random (in a
// long run: at every point).
func TestAllModesThreeTasksTwoRegions(t *testing.T) {
	modes := []Mode{None, In, Out, Inout, Concurrent, Commutative, Reduction}
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			round(t, firstSeed(), func(rng *rand.Rand) {
				var tasks [][]access
				for _, m := range modes {
					for _, k := range modes {
						tasks = append(tasks, []access{{p.a, m, 0}, {p.b, k, 0}})
					}
				}
				l := newLab(false)
				n := len(tasks)
				step := 4 * raceFactor
				if long() {
					step = raceFactor
				}
				for i := rng.IntN(step); i < n*n*n; i += 1 + rng.IntN(2*step-1) {
					three := program{tasks[i/n/n], tasks[i/n%n], tasks[i%n]}
					runUnreleased(l, three, rng)
					first, last := rng.IntN(8), 0
					if long() {
						first, last = 0, 7
					}
					for ends := first; ends <= max(first, last); ends++ {
						runReleasing(l, three, ends)
					}
					if l.err != nil {
						require.NoError(t, l.err, "%v", three)
					}
				}
			})
		})
	}
}

func runUnreleased(l *lab, p program, rng *rand.Rand) {
	l.tracker.eager = rng.IntN(2) == 0
	for _, task := range p {
		l.submit(task)
	}
	l.tracker.CloseReductions(Region{})
	l.compare(l.linked())
	l.drain(rng)
	l.clean(rng.IntN(2) == 0)
}

// runReleasing releases the first task before the second is submitted if bit 0
// of ends is set; bits 1 and 2 stand for the first and the last ready one
// before the third.
func runReleasing(l *lab, p program, ends int) {
	for i, task := range p {
		if i == 1 && ends&1 != 0 && len(l.ready) > 0 {
			l.release(0, false)
		}
		if i == 2 && ends&2 != 0 && len(l.ready) > 0 {
			l.release(0, false)
		}
		if i == 2 && ends&4 != 0 && len(l.ready) > 0 {
			l.release(len(l.ready)-1, false)
		}
		l.submit(task)
	}
	l.tracker.CloseReductions(Region{})
	l.drain(nil)
	l.clean(ends&1 == 0)
}

// clean makes the lab ready for another program, with a tracker that knows the
// regions already or with an empty one.
func (l *lab) clean(warm bool) {
	if l.err != nil {
		return
	}
	if warm {
		l.forget()
	} else {
		l.reset()
	}
}

var triples = []struct {
	name    string
	regions [3]shape
}{
	{"disjoint", [3]shape{span(0, 8), span(8, 8), span(16, 8)}},
	{"equal", [3]shape{span(0, 8), span(0, 8), span(0, 8)}},
	{"two equal, one disjoint", [3]shape{span(0, 8), span(0, 8), span(8, 8)}},
	{"two equal, one overlaps", [3]shape{span(0, 8), span(0, 8), span(4, 8)}},
	{"two equal, one contains them", [3]shape{span(4, 8), span(4, 8), span(0, 16)}},
	{"two overlap, one disjoint", [3]shape{span(0, 8), span(4, 8), span(16, 8)}},
	{"chain", [3]shape{span(0, 8), span(4, 8), span(8, 8)}},
	{"all overlap in one place", [3]shape{span(0, 8), span(2, 8), span(4, 8)}},
	{"all overlap in three places", [3]shape{block(0, 2, 2, 8), block(1, 2, 2, 8), block(0, 1, 3, 2)}},
	{"nested", [3]shape{span(0, 16), span(2, 10), span(4, 4)}},
	{"one contains two", [3]shape{span(0, 16), span(2, 4), span(8, 4)}},
	{"one contains two that overlap", [3]shape{span(0, 16), span(2, 6), span(6, 6)}},
	{"one in two that overlap", [3]shape{span(0, 8), span(4, 8), span(5, 2)}},
	{"one contains one, and overlaps one", [3]shape{span(0, 8), span(1, 2), span(6, 8)}},
	{"one contains one, both overlap one", [3]shape{span(0, 8), span(4, 4), span(6, 8)}},
	{"one contains one, one disjoint", [3]shape{span(0, 8), span(2, 4), span(16, 8)}},
	{"interleaved tiles and an interval across", [3]shape{block(0, 4, 3, 8), block(4, 4, 3, 8), span(2, 4)}},
	{"interleaved tiles and a matrix", [3]shape{block(0, 4, 3, 8), block(4, 4, 3, 8), span(0, 24)}},
	{"tiles of three leading dimensions", [3]shape{block(0, 3, 3, 8), block(1, 3, 3, 7), block(2, 1, 4, 5)}},
}

// symmetries returns the permutations of the regions that preserve overlap and containment.
func symmetries(r [3]shape) (all [][3]int) {
	for _, p := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		same := true
		for i := range 3 {
			for k := range 3 {
				a, b, c, d := r[i], r[k], r[p[i]], r[p[k]]
				same = same && a.meets(b) == c.meets(d) && a.covers(b) == c.covers(d)
			}
		}
		if same {
			all = append(all, p)
		}
	}
	return all
}

// canonical reports whether the modes (one byte per region, two bits per task) are the
// first of their equivalents under the symmetries.
func canonical(modes [3]uint, symmetries [][3]int) bool {
	key := func(m [3]uint) uint { return m[0]<<16 | m[1]<<8 | m[2] }
	for _, p := range symmetries {
		if key([3]uint{modes[p[0]], modes[p[1]], modes[p[2]]}) < key(modes) {
			return false
		}
	}
	return true
}

// A quad runs programs of four tasks, each with one of 64 combinations of modes
// for three regions, as fast as it can.
type quad struct {
	regions [3]shape
	order   [64]uint64 // bit k of word i: combination k must follow combination i
	bed     *bed
	tasks   [4]struct {
		Node // first
		id   int
	}
}

func newQuad(regions [3]shape) *quad {
	q := &quad{regions: regions, bed: newBed()}
	for i := range q.tasks {
		q.tasks[i].id = i
	}
	for i := range 64 {
		for k := range 64 {
			for a := range 3 {
				for b := range 3 {
					if mustFollow(access{regions[a], quadMode(i, a), 0}, access{regions[b], quadMode(k, b), 0}) {
						q.order[i] |= 1 << k
					}
				}
			}
		}
	}
	return q
}

// quadMode is the mode, None to Inout, of a region in a combination.
func quadMode(combination, region int) Mode { return Mode(combination >> (2 * region) & 3) }

// run submits the four combinations and returns a description of the first error. Bit i of
// ends selects whether a ready task is released before task i is submitted. If ends is 0,
// run compares the edges.
func (q *quad) run(combination [4]int, ends uint) string {
	var preds [4]uint
	var released, ready uint
	for i, c := range combination {
		for p := range i {
			if q.order[combination[p]]>>c&1 != 0 {
				preds[i] |= 1 << p
			}
		}
		if ends>>i&1 != 0 && ready != 0 {
			if s := q.release(&released, &ready, &preds, i); s != "" {
				return s
			}
		}
		if got, want := q.submit(i, c), preds[i]&^released == 0; got != want {
			return fmt.Sprintf("task %d is ready when submitted: got %v, want %v", i, got, want)
		} else if got {
			ready |= 1 << i
		}
	}
	if ends == 0 {
		if s := q.compare(preds); s != "" {
			return s
		}
	}
	for ready != 0 {
		if s := q.release(&released, &ready, &preds, 4); s != "" {
			return s
		}
	}
	if released != 15 {
		return fmt.Sprintf("tasks %04b never became ready", 15&^released)
	}
	return ""
}

func (q *quad) submit(i, combination int) bool {
	n := &q.tasks[i].Node
	q.bed.begin(n)
	var edges int32
	for r := range q.regions {
		e, _, _ := q.bed.Access(n, q.regions[r].Region, quadMode(combination, r), nil)
		edges += e
	}
	return n.Commit(edges)
}

// release ends the lowest ready task below task end.
func (q *quad) release(released, ready *uint, preds *[4]uint, end int) string {
	i := 0
	for *ready>>i&1 == 0 {
		i++
	}
	*released |= 1 << i
	*ready &^= 1 << i
	for n := q.tasks[i].Release(false); n != nil; n = n.Next() {
		*ready |= 1 << q.id(n)
	}
	for k := range end {
		want := preds[k]&^*released == 0
		if got := (*ready|*released)>>k&1 != 0; got != want {
			return fmt.Sprintf("task %d is ready when %04b have ended: got %v, want %v", k, *released, got, want)
		}
	}
	return ""
}

func (q *quad) id(n *Node) int {
	return int((uintptr(unsafe.Pointer(n)) - uintptr(unsafe.Pointer(&q.tasks))) / unsafe.Sizeof(q.tasks[0]))
}

func (q *quad) compare(preds [4]uint) string {
	var got [4]uint
	for i := range q.tasks {
		var through func(n *Node)
		through = func(n *Node) {
			if n.join {
				n.Successors(through)
			} else {
				got[q.id(n)] |= 1 << i
			}
		}
		q.tasks[i].Successors(through)
	}
	for i := range 4 {
		for p := range i {
			if preds[i]>>p&1 != 0 {
				preds[i] |= preds[p]
			}
			if got[i]>>p&1 != 0 {
				got[i] |= got[p]
			}
		}
		if got[i] != preds[i] {
			return fmt.Sprintf("task %d waits for tasks %04b, must wait for %04b", i, got[i], preds[i])
		}
	}
	return ""
}

// Programs of 4 tasks on 3 regions in modes none, in, out and inout, for every
// way in which three regions can overlap: all 16.8 million of each, up to the
// symmetry of the regions, in a long run, and a sample otherwise. One tracker
// sees one after the other, now and then afresh, and every fourth again with
// tasks that end in between.
func TestFourTasksThreeRegions(t *testing.T) {
	if invariant.Race {
		t.Skip("tens of seconds, on one goroutine")
	}
	step := uint32(150 * raceFactor)
	if long() {
		step = 1
	}
	for _, c := range triples {
		t.Run(c.name, func(t *testing.T) {
			if long() {
				t.Parallel()
			}
			round(t, firstSeed(), func(rng *rand.Rand) {
				q, group := newQuad(c.regions), symmetries(c.regions)
				done := 0
				for i := rng.Uint32N(step); i < 1<<24; i += 1 + rng.Uint32N(2*step-1) {
					modes := [3]uint{uint(i >> 16), uint(i >> 8 & 255), uint(i & 255)}
					if !canonical(modes, group) {
						continue
					}
					done++
					var tasks [4]int
					for k := range tasks {
						for r := range modes {
							tasks[k] |= int(modes[r]>>(2*k)&3) << (2 * r)
						}
					}
					coin := rng.Uint32()
					q.bed.eager = coin>>13&1 != 0
					if coin>>8&31 == 0 {
						q.bed.Reset()
					}
					s := q.run(tasks, 0)
					if s == "" && coin>>4&3 == 0 {
						s = q.run(tasks, uint(coin&14))
					}
					if s != "" {
						require.Fail(t, s, q.describe(tasks))
					}
				}
				t.Logf("%d programs, %d symmetries", done, len(group))
			})
		})
	}
}

func (q *quad) describe(tasks [4]int) (s string) {
	for i, c := range tasks {
		s += fmt.Sprintf("\n%d:", i)
		for r := range q.regions {
			s += fmt.Sprintf(" %v;", access{q.regions[r], quadMode(c, r), 0})
		}
	}
	return s
}
