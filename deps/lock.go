package deps

import "sync"

// Lock excludes the commutative accesses of one region from each other. A node
// that needs several locks takes them in the order of their numbers, which
// every node shares, so holding some while waiting for the next cannot
// deadlock.
type Lock struct {
	ID uint64 // place in the order

	mu    sync.Mutex
	owner *Node
	first *Node // nodes that wait, joined by their Next links
	last  *Node
}

// Acquire gives the lock to n and reports true, or queues n and reports false:
// then a later Release makes n the owner and returns it.
func (l *Lock) Acquire(n *Node) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == nil || l.owner == n {
		l.owner = n
		return true
	}
	n.next = nil
	if l.first == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
	return false
}

// Release passes the lock on and returns the new owner, or nil.
func (l *Lock) Release() *Node {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.first
	l.owner = n
	if n != nil {
		l.first = n.next
		n.next = nil
	}
	return n
}
