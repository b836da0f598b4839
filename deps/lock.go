package deps

import "sync"

// Lock excludes the commutative accesses of one region from each other. A node takes all
// its locks when it is about to run, or none: while it waits for one of them it holds no
// other, so that holding and waiting cannot deadlock, and nobody waits for a node that
// has its locks and does not run.
//
//	free    no owner
//	held    by a node that runs
//	queued  besides, nodes wait for it
//
// Whoever takes the last lock of a node to run is whoever found the node. Whenever a lock
// becomes free, or is found free by a node that cannot run yet for want of another lock,
// the most urgent waiter leaves the queue and tries again (Offer). So if nodes wait, the
// lock has an owner, or somebody is on the way who will take it or offer it on.
type Lock struct {
	ID uint64 // place in the order in which nodes try their locks

	mu    sync.Mutex
	owner *Node    // guarded by mu
	queue []Waiter // guarded by mu: a heap
}

// Waiter is a node that waits for a lock.
type Waiter struct {
	Node    *Node
	Urgency int32 // the highest is first, and of equal ones the node that was inserted first
	Bound   bool  // somebody in particular has to run it, and may be late
}

// TryAcquire gives the lock to n and reports true, also if n has it already, unless
// another node has it.
func (l *Lock) TryAcquire(n *Node) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.owner == nil {
		l.owner = n
	}
	return l.owner == n
}

// Await queues w and reports true, or reports false if the lock is free by now. Once
// queued, the node belongs to whoever Offer returns it to.
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

// Offer takes the lock from n, if n has it. If the lock is free then, it returns those
// that are to try again, joined by their Next links: the most urgent waiter, and, as long
// as those before are bound, the next one.
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

// Blocks returns the owner of the lock if n waits for it, or nil; for reports.
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
