package deps

// The interval tree is a treap ordered by first byte; every entry knows the highest end in
// its subtree. A strided tile is stored with the interval from its first to its last byte;
// visit compares exactly.

// visit calls f for every entry of the subtree e whose region overlaps r, which ends at
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

// plant inserts e into the treap at root.
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

// split divides the treap e into the entries that begin at or before base and the rest.
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

// weed removes the dead entries from the treap e and returns its new root.
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

// merge joins two treaps; all of l begins before all of r.
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
