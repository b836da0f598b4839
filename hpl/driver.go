package hpl

import (
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/internal/bcast"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/osthread"
)

// driver is the common part of the two drivers without tasks: a team, panels, and buffers
// for one update at a time.
type driver struct {
	*solver
	team   *team
	panels []*panel
	work   []float64   // for an exchange of rows
	raw    []float64   // U as received
	u      [][]float64 // U packed, for a chunk of columns: one per worker

	journal *journal
}

// newDriver allocates for n panels, on all ranks or on none. Collective.
func newDriver(s *solver, n int) (*driver, error) {
	d := &driver{solver: s, u: make([][]float64, s.cfg.Workers)}
	err := d.allocate(n)
	if err := agreeOnError(s.grid.all, err); err != nil {
		d.free()
		return nil, err
	}
	d.team = newTeam(s.cfg.Workers)
	d.touch()
	return d, nil
}

func (d *driver) allocate(n int) (err error) {
	for range n {
		p, err := d.newPanel(0)
		if err != nil {
			return err
		}
		d.panels = append(d.panels, p)
	}
	sizes := driverSizes(&d.cfg, d.kernels, d.grid.col)
	for i := range d.u {
		if d.u[i], err = d.cfg.alloc(sizes.u, true); err != nil {
			return err
		}
	}
	if d.grid.p > 1 {
		d.work, err = d.cfg.alloc(sizes.work, true)
	}
	if err == nil && d.grid.p > 1 {
		d.raw, err = d.cfg.alloc(sizes.raw, true)
	}
	return err
}

// touch writes to all memory once, before the clock starts: the system allocates and clears
// a page at the first write. Modelled kernels use none.
func (d *driver) touch() {
	if d.model != nil {
		return
	}
	for _, p := range d.panels {
		clear(p.memory)
	}
	clear(d.work)
	clear(d.raw)
	d.team.run(func(worker int) { clear(d.u[worker]) })
}

// driverLens are the lengths of a driver's buffers.
type driverLens struct{ u, work, raw int }

func driverSizes(cfg *Config, k blas.Kernels, col int) driverLens {
	_, cols := axes(cfg, 0, col)
	jb, nq := min(cfg.NB, cfg.N), cols.local()
	return driverLens{
		u:    max(1, k.PackedB(jb, min(chunkColumns(cfg), nq))),
		work: max(1, 2*jb*nq),
		raw:  max(1, jb*nq),
	}
}

// chunkColumns is the number of columns whose U is packed at a time: they fit in the
// second-level cache beside a block of L2.
func chunkColumns(cfg *Config) int { return max(cfg.NB, 48) }

// close ends the team and frees the buffers.
func (d *driver) close() {
	d.team.close()
	d.free()
}

// free releases all memory. It ignores errors: the pages just stay allocated.
func (d *driver) free() {
	for _, p := range d.panels {
		_ = p.free()
	}
	for _, u := range append(d.u, d.work, d.raw) {
		if u != nil {
			_ = blas.Free(u)
		}
	}
}

// broadcast starts the broadcast of p from its process column along the row.
func (s *solver) broadcast(p *panel) *route.Run {
	return bcast.Start(s.grid.panels, bcast.Kind(s.cfg.Bcast), p.col, p.k%panelTags, p.msg)
}

// panelTags is the number of tags for panels: more than can be in flight.
const panelTags = 1024

// factorHere factors p with the team, in the process column of p.
func (d *driver) factorHere(p *panel) error {
	if d.grid.col != p.col {
		return nil
	}
	defer d.journal.step(stepFactor)()
	return d.factor(p, d.team)
}

// take unpacks p, which has arrived.
func (d *driver) take(p *panel) error {
	defer d.journal.step(stepUnpack)()
	return d.unpack(p)
}

// start starts the clock, and the journal.
func (d *driver) start() error {
	err := d.solver.start()
	d.journal = newJournal(d.solver)
	return err
}

// finish ends the journal, solves and stops the clock.
func (d *driver) finish() error {
	d.journal.finish()
	return d.solver.finish(d.team)
}

// apply applies p to the next n columns. While arriving reports true, apply takes the
// columns in chunks of one block and calls arriving again between two chunks; then it does
// the rest at once. arriving may be nil.
func (d *driver) apply(p *panel, n int, arriving func() (bool, error)) error {
	defer d.watch.since(osthread.Nanotime(), timeUpdate)
	first, last := p.next, p.next+n
	p.next = last
	if n <= 0 {
		return nil
	}
	defer d.journal.step(stepUpdate)()
	if d.grid.p > 1 {
		if err := d.swapAcross(p, first, last, p.k%panelTags, d.work, d.raw); err != nil {
			return err
		}
	}
	for at := first; at < last; {
		width := last - at
		if arriving != nil {
			more, err := arriving()
			if err != nil {
				return err
			}
			if more {
				width = min(width, d.cfg.NB)
			} else {
				arriving = nil
			}
		}
		d.updateColumns(p, first, at, at+width)
		at += width
	}
	return nil
}

// updateColumns updates columns [c0, c1) with all workers; raw begins at column first.
func (d *driver) updateColumns(p *panel, first, c0, c1 int) {
	_, nr := d.kernels.Strips()
	d.team.parts(c1-c0, nr, func(worker, from, to int) {
		for at := c0 + from; at < c0+to; at += chunkColumns(&d.cfg) {
			d.chunk(p, first, at, min(at+chunkColumns(&d.cfg), c0+to), d.u[worker])
		}
	})
}

// chunk updates columns [c0, c1) on this goroutine.
func (d *driver) chunk(p *panel, first, c0, c1 int, u []float64) {
	var raw []float64
	if d.grid.p == 1 {
		d.swapHere(p, c0, c1)
	} else {
		raw = d.raw[(c0-first)*p.jb:]
	}
	d.solve(p, c0, c1, raw, u)
	d.multiply(p, 0, p.m2, c0, c1, u)
}
