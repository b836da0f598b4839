package deps

// The interval tree is a treap ordered by first byte; every node knows the
// highest end below it. A strided tile stands there with the interval from its
// first to its last byte; visit compares exactly.

// visit calls f for every entry below e whose region overlaps r.
func (e *Entry) visit(r Region, f func(*Entry)) {
	for e != nil && e.maxEnd > r.base {
		if e.left != nil {
			e.left.visit(r, f)
		}
		if e.region.base >= r.end() {
			return
		}
		if e.region.Overlaps(r) {
			f(e)
		}
		e = e.right
	}
}

// add puts n into the treap below e and returns its new root.
func (e *Entry) add(n *Entry) *Entry {
	if e == nil {
		return n
	}
	if n.region.base < e.region.base {
		e.left = e.left.add(n)
		if e.left.prio > e.prio {
			return e.rotateRight()
		}
	} else {
		e.right = e.right.add(n)
		if e.right.prio > e.prio {
			return e.rotateLeft()
		}
	}
	e.fix()
	return e
}

func (e *Entry) rotateRight() *Entry {
	l := e.left
	e.left, l.right = l.right, e
	e.fix()
	l.fix()
	return l
}

func (e *Entry) rotateLeft() *Entry {
	r := e.right
	e.right, r.left = r.left, e
	e.fix()
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
