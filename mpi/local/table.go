package local

// key is what messages and receives are matched by. In those of receives src and tag
// may be wildcards.
type key struct {
	ctx uint32 // communicator, and whether hidden
	src int32  // rank in the communicator
	tag int
}

const wild = -1 // mpi.AnySource and mpi.AnyTag

func (k key) exact() bool { return k.src != wild && k.tag != wild }

// fits reports whether a receive with key k takes a message of key m.
func (k key) fits(m key) bool {
	return k.ctx == m.ctx && (k.src == wild || k.src == m.src) && (k.tag == wild || k.tag == m.tag)
}

func (k key) hash() uint64 {
	h := uint64(k.tag)*0x9e3779b97f4a7c15 ^ (uint64(uint32(k.src))<<32|uint64(k.ctx))*0xc2b2ae3d27d4eb4f
	return h ^ h>>29
}

// queue is a first-in-first-out list of what has one key, linked through T.
type queue[T any] struct {
	key        key
	used       bool
	head, tail *T
}

// table finds the queue of a key: open addressing with linear probing. A queue that
// becomes empty stays, because its key will often be used again, until the table is
// half full of used ones; then those that are empty are left behind.
type table[T any] struct {
	slots []queue[T] // length a power of two
	used  int
	live  int // queues that are not empty
}

const smallestTable = 64

func (t *table[T]) init() { t.resize(smallestTable) }

func (t *table[T]) resize(n int) {
	old := t.slots
	t.slots, t.used = make([]queue[T], n), 0
	for i := range old {
		if q := &old[i]; q.head != nil {
			*t.place(q.key) = *q
			t.used++
		}
	}
}

// place returns the slot of k, or the free one where it belongs.
func (t *table[T]) place(k key) *queue[T] {
	mask := uint64(len(t.slots) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		if q := &t.slots[i]; !q.used || q.key == k {
			return q
		}
	}
}

// first returns the oldest of k, nil if there is none.
func (t *table[T]) first(k key) *T { return t.place(k).head }

// find returns the queue of k, to be looked at and taken from; do not keep it.
func (t *table[T]) find(k key) *queue[T] { return t.place(k) }

// open returns the queue of k, to which something is added right now.
func (t *table[T]) open(k key) *queue[T] {
	q := t.place(k)
	if q.used {
		if q.head == nil {
			t.live++
		}
		return q
	}
	if t.used*2 >= len(t.slots) {
		n := len(t.slots)
		for n > smallestTable && t.live*8 < n {
			n /= 2
		}
		if t.live*4 >= n {
			n *= 2
		}
		t.resize(n)
		q = t.place(k)
	}
	q.used, q.key = true, k
	t.used++
	t.live++
	return q
}

// emptied notes that a queue has lost its last.
func (t *table[T]) emptied() { t.live-- }
