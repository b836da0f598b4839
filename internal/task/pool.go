package task

import (
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Pool holds the records of one declaration that one allocator made.
type Pool struct {
	decl  *Decl
	owner *Allocator // read at the end of every record of the pool
	_     [cacheLine]byte
	free  *deps.Node // written at the start of every record
	all   []*Record
	_     [cacheLine]byte
}

const (
	firstSlab = 8
	maxSlab   = 128
	idBlock   = 1 << 6
)

// Allocator makes and reuses records for one inserting goroutine: the main program, or a
// worker that inserts the children of its tasks. All methods but Return belong to that
// goroutine.
type Allocator struct {
	inbox   atomic.Pointer[deps.Node] // records that ended elsewhere; a stack, taken whole
	domains atomic.Pointer[Domain]    // the same for domains
	_       [112]byte                 // other goroutines write the words above
	blocks  atomic.Uint64             // of task numbers, used up or begun
	pools   []*Pool
	reuse   *Domain // free domains
	id, end uint64  // task numbers left in the current block
	source  *atomic.Uint64
}

// NewAllocator returns an allocator that takes its task numbers from source, in blocks.
func NewAllocator(source *atomic.Uint64) *Allocator { return &Allocator{source: source} }

// NextID returns a task number that is unique in the runtime.
func (a *Allocator) NextID() uint64 {
	if a.id == a.end {
		a.end = a.source.Add(idBlock)
		a.id = a.end - idBlock
		a.blocks.Store(a.blocks.Load() + 1)
	}
	a.id++
	return a.id
}

// Blocks returns how many blocks of 64 task numbers a has begun. Any goroutine.
func (a *Allocator) Blocks() uint64 { return a.blocks.Load() }

func (a *Allocator) pool(d *Decl) *Pool {
	if d.ID < len(a.pools) {
		if p := a.pools[d.ID]; p != nil {
			return p
		}
	} else {
		a.pools = append(a.pools, make([]*Pool, d.ID+1-len(a.pools))...)
	}
	p := &Pool{decl: d, owner: a}
	a.pools[d.ID] = p
	return p
}

// Get returns a record of declaration d, reused or new.
func (a *Allocator) Get(d *Decl) *Record {
	p := a.pool(d)
	if p.free == nil {
		a.drain()
		if p.free == nil {
			p.grow()
		}
	}
	n := p.free
	p.free = n.Next()
	return FromNode(n)
}

func (p *Pool) grow() {
	slab := p.decl.New(min(max(firstSlab, len(p.all)), maxSlab))
	p.all = append(p.all, slab...)
	for i := len(slab) - 1; i >= 0; i-- {
		slab[i].home = p
		slab[i].SetNext(p.free)
		p.free = &slab[i].Node
	}
}

// drain moves the records that other goroutines returned to the free lists.
func (a *Allocator) drain() {
	for n := a.inbox.Swap(nil); n != nil; {
		next := n.Next()
		FromNode(n).home.put(n)
		n = next
	}
}

func (p *Pool) put(n *deps.Node) {
	n.SetNext(p.free)
	p.free = n
}

// Home returns the allocator of r.
func (r *Record) Home() *Allocator { return r.home.owner }

// Put takes back an ended record of this allocator.
func (a *Allocator) Put(r *Record) { r.home.put(&r.Node) }

// Return returns ended records, joined by their Next links from first to last. Any
// goroutine.
func (a *Allocator) Return(first, last *deps.Node) {
	for {
		old := a.inbox.Load()
		last.SetNext(old)
		if a.inbox.CompareAndSwap(old, first) {
			return
		}
	}
}

// Each calls f for every record ever made, in use or free.
func (a *Allocator) Each(f func(*Record)) {
	for _, p := range a.pools {
		if p == nil {
			continue
		}
		for _, r := range p.all {
			f(r)
		}
	}
}

// SlabOf implements Decl.New for records of type T, whose first field is the Record.
func SlabOf[T any](n int) []*Record {
	slab := make([]T, n)
	clear(slab) // A new page that is read first is mapped twice, and the second time stops the other cores.
	out := make([]*Record, n)
	for i := range slab {
		out[i] = (*Record)(unsafe.Pointer(&slab[i]))
	}
	return out
}
