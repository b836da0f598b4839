package local

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/mpi"
)

// window is memory of all members of a group, shared by them.
type window struct {
	group *group
	birth birth
	parts []part // by rank
	left  int    // guarded by registry.mu: members that have not closed it
}

// part is the memory of one rank in a window. The bytes have no lock: accesses that
// nothing orders are a race of the program, except accumulations.
type part struct {
	mem   mpi.Buffer // set by its rank before the others can know of the window
	notes [mpi.Notifications]atomic.Int64

	adding sync.Mutex // accumulations into mem
	lock   lock
}

// lock is the reader-writer lock of a part. Nobody waits inside: who does not get it
// tries again when it is told that something changed.
type lock struct {
	mu      sync.Mutex
	writer  int   // rank + 1; 0 if there is none
	readers []int // ranks
	wanting int   // ranks that wait to write: no new readers
}

// acquire takes the lock for a rank, and reports whether it could. again says that the
// rank has tried before, and has been waiting since.
func (l *lock) acquire(rank int, exclusive, again bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !exclusive && l.writer == 0 && l.wanting == 0:
		l.readers = append(l.readers, rank)
		return true
	case exclusive && l.writer == 0 && len(l.readers) == 0:
		l.writer = rank + 1
		if again {
			l.wanting--
		}
		return true
	case exclusive && !again:
		l.wanting++
	}
	return false
}

// holds reports whether the rank has the lock. Only the rank itself can change that.
func (l *lock) holds(rank int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer == rank+1 || slices.Contains(l.readers, rank)
}

// desist ends the waiting of a rank that wanted to write.
func (l *lock) desist() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanting--
}

// release gives the lock back; false if the rank does not hold it.
func (l *lock) release(rank int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writer == rank+1 {
		l.writer = 0
		return true
	}
	i := slices.Index(l.readers, rank)
	if i < 0 {
		return false
	}
	l.readers = slices.Delete(l.readers, i, i+1)
	return true
}

// NewWindow implements mpi.Engine.
func (e *endpoint) NewWindow(h mpi.Handle, b mpi.Buffer) (mpi.Handle, error) {
	m := e.comms[h]
	m.opened++
	w := e.world.groups.open(birth{m.group.ctx, m.opened, -1}, m.group)
	w.parts[m.rank].mem = b
	e.windows = append(e.windows, w)
	return mpi.Handle(len(e.windows) - 1), nil
}

// open returns the window of that birth; the first of the members makes it.
func (r *registry) open(b birth, g *group) *window {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.windows[b]
	if w == nil {
		w = &window{group: g, birth: b, parts: make([]part, len(g.members)), left: len(g.members)}
		r.windows[b] = w
	}
	return w
}

// FreeWindow implements mpi.Engine.
func (e *endpoint) FreeWindow(h mpi.Handle) error {
	w := e.windows[h]
	e.windows[h] = nil
	r := &e.world.groups
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.left--; w.left == 0 {
		delete(r.windows, w.birth)
	}
	return nil
}

// unlockAll gives the window locks of a rank that has gone to others.
func (r *registry) unlockAll(world int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.windows {
		if rank := slices.Index(w.group.members, world); rank >= 0 {
			for i := range w.parts {
				for w.parts[i].lock.release(rank) {
				}
			}
		}
	}
}
