package deps

import "sync"

// Lock makes the commutative accesses of one region exclude each other. A node takes all
// its locks when it is about to run, or none: a node that waits for a lock holds no other.
// So hold-and-wait cannot occur, and no node waits for one that has its locks and does not
// run.
//
//	free    no owner
//	held    by a node that runs
//	queued  held, and other nodes wait
//
// The goroutine that takes the last lock of a node runs that node. When a node releases a
// lock, or finds it free but cannot run for want of another lock, the most urgent waiter
// leaves the queue and tries again (Offer). So while nodes wait, the lock has an owner, or
// a goroutine is about to take it or to offer it again.
type Lock struct {
	ID uint64 // place in the order in which nodes try their locks

	mu    sync.Mutex
	owner *Node    // guarded by mu
	queue []Waiter // guarded by mu: a heap
}

// Waiter is a node that waits for a lock.
type Waiter struct {
	Node    *Node
	Urgency int32 // highest first; among equals, the node inserted first
	Bound   bool  // only one worker may run it, which may be late
}

// TryAcquire gives the lock to n unless another node has it, and reports whether n has it
// now.
func (l *Lock) TryAcquire(n *Node) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == nil {
		l.owner = n
	}
	return l.owner == n
}

// Await queues w and reports true; if the lock is free it reports false. A queued node
// belongs to the caller of the Offer that returns it.
func (l *Lock) Await(w Waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == nil {
		return false
	}
	l.queue = append(l.queue, w)
	for i := len(l.queue) - 1; i > 0 && l.before(i, (i-1)/2); i = (i - 1) / 2 {
		l.swap(i, (i-1)/2)
	}
	return true
}

// Offer releases the lock if n has it. If the lock is then free, Offer returns the nodes
// that must try again, joined by their Next links: the most urgent waiter, and after each
// bound waiter the next one.
func (l *Lock) Offer(n *Node) (first *Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == n {
		l.owner = nil
	}
	if l.owner != nil {
		return nil
	}
	last := &first
	for bound := true; bound && len(l.queue) > 0; {
		w := l.pop()
		bound = w.Bound
		w.Node.next = nil
		*last, last = w.Node, &w.Node.next
	}
	return first
}

// Blocks returns the owner of the lock if n waits for it, or nil. For reports.
func (l *Lock) Blocks(n *Node) (owner *Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.queue {
		if w.Node == n {
			return l.owner
		}
	}
	return nil
}

// The heap. The caller holds mu.

func (l *Lock) pop() Waiter {
	w, last := l.queue[0], len(l.queue)-1
	l.queue[0], l.queue[last] = l.queue[last], Waiter{}
	l.queue = l.queue[:last]
	for i, c := 0, 1; c < last; c = 2*i + 1 {
		if c+1 < last && l.before(c+1, c) {
			c++
		}
		if !l.before(c, i) {
			break
		}
		l.swap(c, i)
		i = c
	}
	return w
}

func (l *Lock) before(i, j int) bool {
	a, b := &l.queue[i], &l.queue[j]
	return a.Urgency > b.Urgency || a.Urgency == b.Urgency && a.Node.Seq() < b.Node.Seq()
}

func (l *Lock) swap(i, j int) { l.queue[i], l.queue[j] = l.queue[j], l.queue[i] }
