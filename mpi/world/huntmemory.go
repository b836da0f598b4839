package world

import (
	"errors"
	"sync"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
)

// arenaBytes is the least size of an arena: each has a thread.
const arenaBytes = 64 << 20

// huntMemory gives mpi.Alloc memory of arenas while a hunt is on. An allocation that outlives
// the run keeps its arena.
type huntMemory struct {
	restore func()

	mu     sync.Mutex
	on     bool // guarded by mu, and what follows
	least  int  // shorter allocations are of no use
	over   bool // the run has ended: an arena is closed when it is empty
	arenas []*huntArena
}

type huntArena struct {
	*dds.Arena
	used    int      // allocations
	waiting [][]byte // to be freed: a transfer used them
}

// begin makes mpi.Alloc ask, so far without effect.
func (m *huntMemory) begin() { m.restore = engine.AllocFrom(m.alloc) }

// open begins to give memory for allocations of at least least bytes. Ranks of this process
// may call it one after another, with the same values.
func (m *huntMemory) open(force bool, least int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on, m.least = true, least; force {
		m.least = 0
	}
}

// alloc is an engine.Source.
func (m *huntMemory) alloc(bytes int) ([]byte, func() error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on || bytes < m.least {
		return nil, nil
	}
	for _, a := range m.arenas {
		a.retry()
		if b, err := dds.Make[byte](a.Arena, bytes); err == nil {
			return m.give(a, b)
		}
	}
	made, err := dds.NewArena(max(bytes, arenaBytes))
	if err != nil {
		return nil, nil // plain memory does
	}
	a := &huntArena{Arena: made}
	m.arenas = append(m.arenas, a)
	b, err := dds.Make[byte](made, bytes)
	if err != nil {
		return nil, nil
	}
	return m.give(a, b)
}

// give hands out b. The caller holds mu.
func (m *huntMemory) give(a *huntArena, b []byte) ([]byte, func() error) {
	a.used++
	return b, func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		a.used--
		if err := dds.Free(a.Arena, b); err != nil {
			a.waiting = append(a.waiting, b)
		}
		if m.over {
			return m.closeEmpty()
		}
		return nil
	}
}

// retry frees what a transfer used when the program freed it.
func (a *huntArena) retry() {
	var still [][]byte
	for _, b := range a.waiting {
		if dds.Free(a.Arena, b) != nil {
			still = append(still, b)
		}
	}
	a.waiting = still
}

// closeEmpty closes the arenas without allocations. The caller holds mu.
func (m *huntMemory) closeEmpty() error {
	var all []error
	var left []*huntArena
	for _, a := range m.arenas {
		if a.used > 0 {
			left = append(left, a)
			continue
		}
		all = append(all, a.Close())
	}
	m.arenas = left
	return errors.Join(all...)
}

// counts returns the totals of all arenas.
func (m *huntMemory) counts() (sum dds.Counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.arenas {
		c := a.Counts()
		sum.Strips, sum.Faults, sum.Stalls = sum.Strips+c.Strips, sum.Faults+c.Faults, sum.Stalls+c.Stalls
	}
	return sum
}

// end takes mpi.Alloc's memory from elsewhere again. All ranks have ended.
func (m *huntMemory) end() error {
	m.restore()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.on, m.over = false, true
	return m.closeEmpty()
}
