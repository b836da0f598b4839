package deps

// The interval tree is a treap ordered by first byte; every node knows the
// highest end below it. A strided tile stands there with the interval from its
// first to its last byte; visit compares exactly.

// visit calls f for every entry below e whose region overlaps r, which ends at
// end.
func (e *Entry) visit(r Region, end uintptr, f func(*Entry)) {
	for e != nil && e.maxEnd > r.base {
		if e.left != nil {
			e.left.visit(r, end, f)
		}
		if e.region.base >= end {
			return
		}
		if e.region.Overlaps(r) {
			f(e)
		}
		e = e.right
	}
}

// plant puts e into the treap at root.
func (e *Entry) plant(root **Entry) {
	end := e.region.end()
	for o := *root; o != nil && o.prio >= e.prio; o = *root {
		o.maxEnd = max(o.maxEnd, end)
		if e.region.base < o.region.base {
			root = &o.left
		} else {
			root = &o.right
		}
	}
	e.left, e.right = split(*root, e.region.base)
	e.fix()
	*root = e
}

// split cuts the treap at e into the entries up to base and those behind.
func split(e *Entry, base uintptr) (l, r *Entry) {
	switch {
	case e == nil:
		return nil, nil
	case e.region.base <= base:
		e.right, r = split(e.right, base)
		e.fix()
		return e, r
	}
	l, e.left = split(e.left, base)
	e.fix()
	return l, e
}

// weed takes the dead entries out of the treap at e.
func weed(e *Entry) *Entry {
	if e == nil {
		return nil
	}
	e.left, e.right = weed(e.left), weed(e.right)
	if isDead(e) {
		return merge(e.left, e.right)
	}
	e.fix()
	return e
}

// merge joins two treaps of which the first lies before the second.
func merge(l, r *Entry) *Entry {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.prio >= r.prio:
		l.right = merge(l.right, r)
		l.fix()
		return l
	}
	r.left = merge(l, r.left)
	r.fix()
	return r
}

func (e *Entry) fix() {
	e.maxEnd = e.region.end()
	if e.left != nil {
		e.maxEnd = max(e.maxEnd, e.left.maxEnd)
	}
	if e.right != nil {
		e.maxEnd = max(e.maxEnd, e.right.maxEnd)
	}
}
