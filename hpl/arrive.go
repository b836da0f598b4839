package hpl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Panels that are read while they arrive: demand-driven synchronization (Iancu, Husbands
// and Hargrove, HUNT, sections 4 and 5). Kernels in assembly never meet bytes that are
// missing: what they read is touched first.

// newArena makes the memory of all panels, if their messages may be lazy.
func (t *taskRun) newArena() (err error) {
	if t.cfg.DDS == 0 || t.cfg.Q == 1 {
		return nil
	}
	size := pages.Size()
	for i := range t.panels() {
		size += (8*panelLen(&t.cfg, t.kernels, t.grid.row, i) + pages.Size()) / pages.Size() * pages.Size()
	}
	if t.arena, err = dds.NewArena(size); err != nil {
		return fmt.Errorf("hpl: panels: %w", err)
	}
	return nil
}

// newSlot is newPanel in the arena, if there is one.
func (t *taskRun) newSlot(first int) (*panel, error) {
	if t.arena == nil {
		return t.newPanel(first)
	}
	memory, err := dds.Make[float64](t.arena, max(1, panelLen(&t.cfg, t.kernels, t.grid.row, first)))
	if err != nil {
		return nil, fmt.Errorf("hpl: panel: %w", err)
	}
	return &panel{memory: memory}, nil
}

// lazily runs body, between the opening and the closing of what lazy messages need.
// After an error the peers learn of it: nobody waits for a panel that does not come.
func (t *taskRun) lazily(body func() error) (err error) {
	if t.arena == nil {
		return body()
	}
	if t.lazy, err = t.cfg.DDS.Open(t.grid.panels, t.arena); err != nil {
		return err
	}
	if t.lazy == nil {
		return body()
	}
	if err = t.ct.Attend(t.arena); errors.Is(err, dds.ErrNoFaults) {
		err = nil
	}
	if err == nil {
		err = body()
	}
	t.arrivals = t.arena.Counts()
	if err != nil {
		return errors.Join(err, t.lazy.Abandon(err))
	}
	return t.lazy.Close()
}

// Tags of lazy messages: those that are under way together between two ranks differ.
const (
	lazyPanels = 128 // more than have memory
	lazyParts  = 128
)

// spawnLazily spawns the messages that bring a panel to this process, and on from it,
// as lazy ones. Both ends number the messages between them alike: in the order of the
// route.
func (t *taskRun) spawnLazily(p *panel, messages []route.Step) {
	for i, m := range messages {
		number := 0
		for _, before := range messages[:i] {
			if before.Send == m.Send && before.Peer == m.Peer {
				number++
			}
		}
		tag := p.k%lazyPanels*lazyParts + number%lazyParts
		part := mpi.Of(p.msg[m.At : m.At+m.Len])
		if m.Send {
			t.ct.LazySend(t.rt, t.lazy, part, m.Peer, tag, nil, tasks.HighPriority)
		} else {
			t.ct.LazyRecv(t.rt, t.lazy, part, m.Peer, tag, nil, tasks.HighPriority)
		}
	}
}

// arrives reports whether parts of p may be on their way while tasks read it.
func (t *taskRun) arrives(p *panel) bool { return t.lazy != nil && p.col != t.grid.col }

// touchHead waits for what open reads.
func (t *taskRun) touchHead(p *panel) {
	if t.arrives(p) {
		dds.Touch(p.msg[:p.head()])
	}
}

// arrivingBytes is about how much of L2 an update waits for at a time.
const arrivingBytes = 256 << 10

// multiplyAsItComes is multiply of the rows of a task. While the panel may be arriving it
// goes from piece to piece, and waits for the next one only.
func (t *taskRun) multiplyAsItComes(st stage) {
	p := st.p
	if !t.arrives(p) {
		t.multiply(p, st.top, st.bottom, st.first, st.last, st.b.u)
		return
	}
	mr, _ := t.kernels.Strips()
	step := max(1, arrivingBytes/(8*p.jb*mr)) * mr
	for top := st.top; top < st.bottom; top += step {
		bottom := min(top+step, st.bottom)
		dds.Touch(t.strips(p, top, bottom))
		t.multiply(p, top, bottom, st.first, st.last, st.b.u)
	}
}

// allArrivals adds up the counts of all ranks. Collective.
func (s *solver) allArrivals() (sum dds.Counts, err error) {
	if s.cfg.DDS == 0 {
		return sum, nil
	}
	c := &s.arrivals
	of := func(c *dds.Counts) []*int64 {
		return []*int64{&c.Strips, &c.Faults, &c.Stalls, &c.Stray, &c.Retired, &c.Pages, &c.Moved}
	}
	var all []int64
	for _, n := range of(c) {
		all = append(all, *n)
	}
	err = s.grid.all.Allreduce(mpi.InPlace, mpi.Of(all), mpi.Sum)
	for i, n := range slices.All(of(&sum)) {
		*n = all[i]
	}
	return sum, err
}
