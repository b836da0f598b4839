package hpl

// runLookAhead factors the matrix with netlib's look-ahead of depth d (HPL_pdgesvK2): d
// panels have been factored and wait to be applied. In a step, the process column of the
// next panel applies all d of them to its columns, factors it and starts its broadcast;
// then every process applies the oldest panel to all other columns, and polls the broadcast
// between blocks of columns until the panel has arrived. The messages move only in these
// polls.
func runLookAhead(s *solver) error {
	depth := min(s.cfg.Depth, s.panels())
	d, err := newDriver(s, depth+1)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.start(); err != nil {
		return err
	}
	for k := range depth {
		if err := d.prologue(k, depth); err != nil {
			return err
		}
	}
	for k := depth; k < s.panels(); k++ {
		if err := d.step(k); err != nil {
			return err
		}
	}
	for _, p := range d.panels[:depth] {
		if err := d.apply(p, s.matrix.nq-p.next, nil); err != nil {
			return err
		}
	}
	return d.finish()
}

// prologue factors and broadcasts panel k, one of the first depth, and applies it to the
// columns of the later ones.
func (d *driver) prologue(k, depth int) error {
	p := d.panels[k]
	d.setPanel(p, k)
	if err := d.factorHere(p); err != nil {
		return err
	}
	if err := d.send(p).wait(); err != nil {
		return err
	}
	if err := d.take(p); err != nil {
		return err
	}
	ahead := d.matrix.cols.before(d.starts[depth])
	if err := d.apply(p, ahead-p.next, nil); err != nil {
		return err
	}
	d.report(p)
	return nil
}

// step factors panel k, the last of the list, while the first is being applied, and rotates
// the list.
func (d *driver) step(k int) error {
	last := len(d.panels) - 1
	oldest, p := d.panels[0], d.panels[last]
	d.setPanel(p, k)
	if d.grid.col == p.col {
		for _, ahead := range d.panels[:last] {
			if err := d.apply(ahead, p.jb, nil); err != nil {
				return err
			}
		}
	}
	if err := d.factorHere(p); err != nil {
		return err
	}
	panel := d.send(p)
	arriving := func() (bool, error) {
		done, err := panel.test()
		return !done, err
	}
	if err := d.apply(oldest, d.matrix.nq-oldest.next, arriving); err != nil {
		return err
	}
	if err := panel.wait(); err != nil {
		return err
	}
	copy(d.panels, d.panels[1:])
	d.panels[last] = oldest
	d.report(p)
	return d.take(p)
}
