package deps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// audit checks the invariants of a table between two accesses: every entry is found by its
// region, is in the tree unless it is a handle, and is linked with exactly the entries that
// overlap it.
func (t *table) audit() error {
	var all []*Entry
	for _, s := range t.slots {
		if s.e != nil {
			all = append(all, s.e)
		}
	}
	if len(all) != len(t.entries) {
		return fmt.Errorf("%d entries, counted %d", len(all), len(t.entries))
	}
	memory := 0
	for _, e := range all {
		if e.region.Empty() || t.find(e.region) != e {
			return fmt.Errorf("%v is not found", e.region)
		}
		if !e.region.IsHandle() {
			memory++
		}
		links := 0
		for _, o := range all {
			if o != e && e.region.Overlaps(o.region) {
				there, back := e.linkTo(o), o.linkTo(e)
				stands := len(o.group) == 0 && o.last.at < o.near.since // the other entry has the only link
				if there == absent && (back == absent || e.near.since <= o.newest() && !o.silent() && !stands) {
					return fmt.Errorf("%v lacks its link to %v", e.region, o.region)
				}
				if there == absent {
					continue
				}
				links++
				if twin := int(e.near.links[there].twin); twin != back {
					return fmt.Errorf("%v has place %d in the list of %v, noted %d", e.region, back, o.region, twin)
				}
			}
		}
		if links != len(e.looksAt()) {
			return fmt.Errorf("%v has %d links, overlaps %d", e.region, len(e.looksAt()), links)
		}
	}
	if n, err := t.root.audit(); err != nil || n != memory {
		return fmt.Errorf("%d entries in the tree, want %d: %w", n, memory, err)
	}
	return nil
}

// linkTo returns the index of o in the list of e, or absent.
func (e *Entry) linkTo(o *Entry) int {
	return slices.IndexFunc(e.looksAt(), func(l link) bool { return l.other == o })
}

// audit counts the entries of a treap and checks their order.
func (e *Entry) audit() (n int, err error) {
	if e == nil {
		return 0, nil
	}
	end := e.region.end()
	for _, c := range []*Entry{e.left, e.right} {
		k, err := c.audit()
		if err != nil {
			return 0, err
		}
		n += k
		if c == nil {
			continue
		}
		end = max(end, c.maxEnd)
		if c.prio > e.prio || c == e.left && c.region.base > e.region.base || c == e.right && c.region.base < e.region.base {
			return 0, fmt.Errorf("%v stands wrongly below %v", c.region, e.region)
		}
	}
	if end != e.maxEnd {
		return 0, fmt.Errorf("%v: highest end %#x, noted %#x", e.region, end, e.maxEnd)
	}
	return n + 1, nil
}

func (e *Entry) depth() int {
	if e == nil {
		return 0
	}
	return 1 + max(e.left.depth(), e.right.depth())
}

// Regions come and go; the table stays consistent, and the tree finds the same entries as a
// linear search.
func TestTableStaysConsistent(t *testing.T) {
	rounds(t, 100, func(rng *rand.Rand) {
		w := newWindow(1 + rng.IntN(40))
		size := 1 + rng.IntN(100)
		for range 40 {
			for range rng.IntN(30) {
				n := w.node()
				r := far(rng.IntN(2000), 1+rng.IntN(size))
				switch rng.IntN(4) {
				case 0:
					r = Handle(uintptr(rng.IntN(50)))
				case 1:
					r.cols, r.ld = 2+uintptr(rng.IntN(5)), r.rows+1+uintptr(rng.IntN(20))
				}
				n.Commit(w.access1(n, r, []Mode{In, Out}[rng.IntN(2)]))
			}
			if rng.IntN(4) == 0 {
				w.table.purge()
			}
			require.NoError(t, w.table.audit())

			r := far(rng.IntN(2000), 1+rng.IntN(size))
			var found, want []*Entry
			w.table.root.visit(r, r.end(), func(e *Entry) { found = append(found, e) })
			for _, s := range w.table.slots {
				if s.e != nil && s.e.region.Overlaps(r) {
					want = append(want, s.e)
				}
			}
			require.ElementsMatch(t, want, found)
		}
	})
}

func TestTreeIsShallow(t *testing.T) {
	const n = 50_000
	for name, base := range map[string]func(i int) int{
		"ascending":  func(i int) int { return 64 * i },
		"descending": func(i int) int { return 64 * (n - i) },
		"alternating": func(i int) int {
			if i%2 == 0 {
				return 64 * i
			}
			return 64 * (2*n - i)
		},
		"equal": func(int) int { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			var tab table
			for i := range n {
				e := tab.newEntry(far(base(i), 64))
				e.plant(&tab.root)
			}
			assert.Less(t, tab.root.depth(), 70)
		})
	}
}

// A program that comes back to more regions than it keeps busy finds them again, after some
// rounds.
func TestTableRemembersWorkingSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		region func(i int) Region
	}{
		{"intervals", func(i int) Region { return far(64*i, 64) }},
		{"handles", func(i int) Region { return Handle(uintptr(i)) }},
		{"neighbours overlap", func(i int) Region { return far(64*i, 128) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			const regions = 1000
			w := newWindow(1)
			for range 20 {
				for i := range regions {
					n := w.node()
					n.Commit(w.access1(n, c.region(i), Inout))
				}
			}
			for i := range regions {
				require.NotNil(t, w.Find(c.region(i)), "region %d", i)
			}
			assert.LessOrEqual(t, w.Live(), 8*regions)
		})
	}
}

// Entries come back into use in an order that does not depend on addresses: they keep their locks
// and the capacity of their groups, on which the order of tasks depends.
func TestTableReusesEntriesInOrder(t *testing.T) {
	reused := func(offset int) (order []int) {
		var table table
		number := map[*Entry]int{}
		for i := range 40 {
			e := table.add(far(offset+64*i, 64))
			if _, met := number[e]; !met {
				number[e] = i
			}
			order = append(order, number[e])
		}
		table.reset()
		for i := range 40 {
			order = append(order, number[table.add(far(offset+64*i, 64))])
		}
		return order
	}
	first := reused(0)
	for offset := range 20 {
		require.Equal(t, first, reused(4096*offset), "%d KiB further", 4*offset)
	}
}

// The table forgets regions that all overlap each other: each would cost every access of
// the others.
func TestTableForgetsWhatOverlapsMuch(t *testing.T) {
	w := newWindow(1)
	for i := range 20_000 {
		n := w.node()
		n.Commit(w.access1(n, far(0, 1+i%1000), In))
		require.LessOrEqual(t, w.Live(), 64)
	}
}

// A table that has seen a large working set gives its memory back when a stream
// of new regions follows.
func TestTableRoomShrinks(t *testing.T) {
	w := newWindow(1)
	for range 20 {
		for i := range 2000 {
			n := w.node()
			n.Commit(w.access1(n, Handle(uintptr(i)), Out))
		}
	}
	require.GreaterOrEqual(t, len(w.table.slots), 4000)
	for i := range 200_000 {
		n := w.node()
		n.Commit(w.access1(n, Handle(uintptr(1_000_000+i)), Out))
	}
	assert.LessOrEqual(t, len(w.table.slots), 512)
}

func TestRegionHashSpreads(t *testing.T) {
	for name, region := range map[string]func(i int) Region{
		"intervals in a row":    func(i int) Region { return far(64*i, 64) },
		"pages":                 func(i int) Region { return far(4096*i, 4096) },
		"prefixes":              func(i int) Region { return far(0, 8+8*i) },
		"halves of halves":      func(i int) Region { return far(1<<16>>(i%10)*(i/10), 1<<16>>(i%10)) },
		"handles":               func(i int) Region { return Handle(uintptr(i)) },
		"tiles down a column":   func(i int) Region { return Region{base: farAway + uintptr(256*i), rows: 256, cols: 32, ld: 1 << 16} },
		"tiles along a row":     func(i int) Region { return Region{base: farAway + uintptr(i)<<21, rows: 256, cols: 32, ld: 1 << 16} },
		"suffixes of one slice": func(i int) Region { return far(8*i, 8*(4096-i)) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 1000
			buckets := map[uint64]int{}
			worst := 0
			for i := range n {
				r := region(i)
				h := r.hash() >> (64 - 11)
				buckets[h]++
				worst = max(worst, buckets[h])
			}
			assert.GreaterOrEqual(t, len(buckets), n/2, "of %d regions in 2048 buckets", n)
			assert.LessOrEqual(t, worst, 8)
		})
	}
}

// Reset forgets all accesses, arrivals and dropped regions, and keeps the entries, as new, for
// other regions.
func TestResetForgets(t *testing.T) {
	b := newBed()
	nodes, arrival := make([]Node, 3), new(Arrival)
	w, lazy, last := b.begin(&nodes[0]), &nodes[1], &nodes[2]
	b.access1(w, far(0, 64), Out)
	b.Arriving(w, arrival)
	w.Commit(0)
	b.begin(lazy)
	lazy.Commit(b.access1(lazy, far(0, 64), Lazy))
	b.begin(last)
	last.Commit(b.access1(last, far(32, 64), In))
	b.table.forget(&Region{base: 1, rows: 1, cols: 1})
	require.True(t, b.Find(far(0, 64)).lazy)
	require.NotZero(t, b.table.count)
	arrival.Release(false)
	for _, n := range []*Node{w, lazy, last} {
		n.Release(false)
	}

	b.Reset()
	assert.Zero(t, b.Live())
	assert.Nil(t, b.Find(far(0, 64)))
	assert.Empty(t, b.arrivals)
	assert.Zero(t, b.table.count)
	spare := 0
	for e := b.table.pool; e != nil; e = e.left {
		assert.False(t, e.lazy || e.closing || e.active())
		assert.Empty(t, e.group)
		assert.Nil(t, e.right)
		spare++
	}
	assert.Equal(t, 2, spare)
}
