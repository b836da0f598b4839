package hpl

// runBlocking factors the matrix panel by panel: factor, broadcast, update, one after
// the other (netlib's HPL_pdgesv0).
func runBlocking(s *solver) error {
	d, err := newDriver(s, 1)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.start(); err != nil {
		return err
	}
	p := d.panels[0]
	for k := range s.panels() {
		s.setPanel(p, k)
		if err := d.factorHere(p); err != nil {
			return err
		}
		if err := d.send(p).wait(); err != nil {
			return err
		}
		if err := d.take(p); err != nil {
			return err
		}
		if err := d.apply(p, s.matrix.nq-p.next, nil); err != nil {
			return err
		}
		s.report(p)
	}
	return d.finish()
}
