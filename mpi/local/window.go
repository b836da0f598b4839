package local

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
)

// window is the memory that the members of a group share.
type window struct {
	group    *group
	creation creation
	parts    []part // by rank
	left     int    // guarded by registry.mu: number of members that have not freed it
}

// part is the memory of one rank in a window. The bytes have no lock: unordered accesses are
// a race of the program, except accumulations.
type part struct {
	mem      engine.Buffer // set by its rank before the barrier of mpi.Comm.NewWin
	counters [engine.Notifications]atomic.Int64

	adding sync.Mutex // accumulations into mem
	lock   lock
}

// lock is the reader-writer lock of a part. No rank waits inside: a rank that does not get
// the lock tries again on its next recheck.
type lock struct {
	mu             sync.Mutex
	writer         int   // rank + 1; 0 if there is none
	readers        []int // ranks
	waitingWriters int   // number of ranks that wait to write; they keep new readers out
}

// acquire tries to take the lock for a rank and reports whether it did. waited says that the
// rank has tried before and waits since.
func (l *lock) acquire(rank int, exclusive, waited bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case !exclusive && l.writer == 0 && l.waitingWriters == 0:
		l.readers = append(l.readers, rank)
		return true
	case exclusive && l.writer == 0 && len(l.readers) == 0:
		l.writer = rank + 1
		if waited {
			l.waitingWriters--
		}
		return true
	case exclusive && !waited:
		l.waitingWriters++
	}
	return false
}

// holds reports whether the rank holds the lock. Only the rank itself can change that.
func (l *lock) holds(rank int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer == rank+1 || slices.Contains(l.readers, rank)
}

// stopWaiting ends the wait of a writer without the lock.
func (l *lock) stopWaiting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waitingWriters--
}

// release releases the lock. It reports false if the rank does not hold it.
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

// NewWindow implements engine.Engine.
func (e *endpoint) NewWindow(h engine.Handle, b engine.Buffer) (engine.Handle, error) {
	m := e.comms[h]
	m.opened++
	w := e.world.groups.open(creation{m.group.ctx, m.opened, -1}, m.group)
	w.parts[m.rank].mem = b
	e.windows = append(e.windows, w)
	return engine.Handle(len(e.windows) - 1), nil
}

// open returns the window of creation b. The first member that calls makes it.
func (r *registry) open(b creation, g *group) *window {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.windows[b]
	if w == nil {
		w = &window{group: g, creation: b, parts: make([]part, len(g.members)), left: len(g.members)}
		r.windows[b] = w
	}
	return w
}

// FreeWindow implements engine.Engine.
func (e *endpoint) FreeWindow(h engine.Handle) error {
	w := e.windows[h]
	e.windows[h] = nil
	r := &e.world.groups
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.left--; w.left == 0 {
		delete(r.windows, w.creation)
	}
	return nil
}

// unlockAll releases all window locks of a rank that has left.
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
