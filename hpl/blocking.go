package hpl

// runBlocking factors the matrix panel by panel: factor, broadcast, update, one after
// the other (netlib's HPL_pdgesv0).
func runBlocking(s *solver) error {
	d, err := newDriver(s, 1)
	if err != nil {
		return err
	}
	defer d.close()
	if err := s.start(); err != nil {
		return err
	}
	p := d.panels[0]
	for k := range s.blocks {
		s.setPanel(p, k)
		if s.grid.col == p.col {
			if err := s.factor(p, d.team); err != nil {
				return err
			}
		}
		if err := d.broadcast(p).Wait(); err != nil {
			return err
		}
		if err := s.unpack(p); err != nil {
			return err
		}
		if err := d.apply(p, s.matrix.nq-p.next, nil); err != nil {
			return err
		}
		s.report(p)
	}
	return s.finish(d.team)
}
