package deps

import (
	"math"
	"math/bits"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

// access1 registers one access of a task that cannot fail.
func (b *bed) access1(n *Node, r Region, m Mode) int32 {
	edges, _, _ := b.Access(n, r, m, nil)
	b.edges += int(edges)
	return edges
}

// farAway begins a range of addresses without memory.
const farAway = uintptr(1) << (bits.UintSize/2 + 8)

// far is an interval of size bytes in that range.
func far(from, size int) Region {
	return Region{base: farAway + uintptr(from), rows: uintptr(size), cols: 1}
}

// A window keeps the latest tasks unfinished: a task ends when its node is needed again.
type window struct {
	*bed
	nodes []Node
	at    int
}

func newWindow(size int) *window { return &window{bed: newBed(), nodes: make([]Node, size)} }

// node ends the oldest task and returns its node. The task must be ready by then, because
// all earlier ones have ended.
func (w *window) node() *Node {
	n := &w.nodes[w.at]
	w.at++
	if w.at == len(w.nodes) {
		w.at = 0
	}
	if n.seq != 0 {
		n.Release(false)
	}
	return w.begin(n)
}

// steadyState is a set of streams of tasks that go on without allocating. Each
// function submits task number i.
var steadyState = []struct {
	name string
	hits bool // no new regions
	step func(w *window, i int)
}{
	{"exact repeats", true, func(w *window, i int) {
		n, e := w.node(), int32(0)
		for k := range 3 {
			e += w.access1(n, far(64*((i+k)%32), 64), In)
		}
		n.Commit(e + w.access1(n, far(64*(32+i%32), 64), Out))
	}},
	{"overlaps met before", true, func(w *window, i int) {
		n := w.node()
		n.Commit(w.access1(n, far(32*(i%64), 48), Inout))
	}},
	{"regions never seen", false, func(w *window, i int) {
		n := w.node()
		n.Commit(w.access1(n, far(64*i, 64), Out))
	}},
	{"overlapping regions never seen", false, func(w *window, i int) {
		n := w.node()
		n.Commit(w.access1(n, far(64*i, 96), Out))
	}},
	{"handles never seen", false, func(w *window, i int) {
		n := w.node()
		n.Commit(w.access1(n, Handle(uintptr(i)), Out))
	}},
	{"readers of one region", true, func(w *window, i int) {
		n := w.node()
		n.Commit(w.access1(n, far(0, 64), In))
	}},
	{"groups and joins", true, func(w *window, i int) {
		n, m := w.node(), In
		if i/8%2 == 0 {
			m = Concurrent
		}
		n.Commit(w.access1(n, far(0, 64), m))
	}},
	{"more successors than fit the node", true, func(w *window, i int) {
		n, m := w.node(), In
		if i%100 == 0 {
			m = Out
		}
		n.Commit(w.access1(n, far(0, 64), m))
	}},
	{"a matrix by tiles, then whole", true, func(w *window, i int) {
		n := w.node()
		r, m := far(0, 64*64), In
		if i %= 17; i < 16 {
			r, m = Region{base: farAway + uintptr(16*(i%4)+64*16*(i/4)), rows: 16, cols: 16, ld: 64}, Inout
		}
		n.Commit(w.access1(n, r, m))
	}},
}

// Nothing is allocated in steady state, neither for known regions nor for new ones while
// others are purged.
func TestNoAllocationInSteadyState(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the checks of invariant builds allocate their messages")
	}
	for _, c := range steadyState {
		t.Run(c.name, func(t *testing.T) {
			w, i := newWindow(256), 0
			run := func(n int) {
				for ; n > 0; n-- {
					c.step(w, i)
					i++
				}
			}
			many := 100_000 / raceFactor
			run(many)
			perTask := math.Inf(1)
			for range 5 { // the Go runtime allocates now and then, for its own purposes
				if perTask = min(perTask, testing.AllocsPerRun(1, func() { run(many) })/float64(many)); perTask == 0 {
					break
				}
			}
			if c.hits {
				assert.Zero(t, perTask, "allocations per task")
			} else {
				assert.Less(t, perTask, 0.001, "allocations per task")
			}
		})
	}
}

// Two million tasks (a hundred in a long run) on ever new regions, with 256
// unfinished at a time, need the memory of a few hundred regions.
func TestMemoryFollowsLiveRegions(t *testing.T) {
	tasks := 2_000_000 / raceFactor
	if long() {
		tasks = 100_000_000 / raceFactor
	}
	for _, c := range steadyState {
		if c.name != "regions never seen" && c.name != "overlapping regions never seen" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			w := newWindow(256)
			before, most := heap(), 0
			for i := range tasks {
				c.step(w, i)
				most = max(most, w.Live())
			}
			grown := heap() - before
			t.Logf("%d tasks: at most %d regions remembered, heap grown by %d KiB", tasks, most, grown>>10)
			assert.LessOrEqual(t, most, 8*len(w.nodes), "regions remembered")
			assert.Less(t, grown, 2<<20, "bytes of heap")
			runtime.KeepAlive(w)
		})
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A busy region keeps its entry while millions of others come and go, and the lists of the
// entries that overlap it do not grow.
func TestBusyRegionAmongPassers(t *testing.T) {
	w := newWindow(16)
	var whole Node
	all := far(0, 64*100_000)
	require.True(t, w.task(&whole, shape{Region: all}, In))
	for i := range 200_000 / raceFactor {
		n := w.node()
		n.Commit(w.access1(n, far(64*(i%100_000), 64), In))
	}
	e := w.Find(all)
	require.NotNil(t, e)
	assert.LessOrEqual(t, len(e.looksAt()), 256)
	assert.LessOrEqual(t, w.Live(), 256)
	var last Node
	assert.False(t, w.task(&last, shape{Region: far(64, 64)}, Out), "the whole is still being read")
	assert.Equal(t, []*Node{&last}, chain(whole.Release(false)))
}

// After a peak of live regions the table shrinks again.
func TestTableShrinks(t *testing.T) {
	w := newWindow(100_000)
	step := func(i int) {
		n := w.node()
		n.Commit(w.access1(n, Handle(uintptr(i)), Out))
	}
	for i := range 100_000 {
		step(i)
	}
	assert.GreaterOrEqual(t, len(w.table.slots), 200_000)
	for i := range w.nodes {
		w.nodes[i].Release(false)
	}
	w.nodes, w.at = make([]Node, 16), 0
	for i := range 300_000 {
		step(100_000 + i)
	}
	assert.LessOrEqual(t, len(w.table.slots), 1024)
	w.Reset()
	assert.Zero(t, w.Live())
}

func TestSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("sizes are those of 64-bit machines")
	}
	t.Logf("Node %d B, chunk %d B, Entry %d B, Region %d B", unsafe.Sizeof(Node{}), unsafe.Sizeof(chunk{}), unsafe.Sizeof(Entry{}), unsafe.Sizeof(Region{}))
	assert.LessOrEqual(t, unsafe.Sizeof(Node{}), uintptr(128), "a node is part of every task record")
}
