package local

// key identifies the messages that a receive matches. The keys of receives may have
// wildcards for src and tag.
type key struct {
	ctx uint32 // of the communicator, see context
	src int32  // rank in the communicator
	tag int
}

const wild = -1 // engine.AnySource and engine.AnyTag

func (k key) exact() bool { return k.src != wild && k.tag != wild }

// fits reports whether a receive with key k takes a message of key m.
func (k key) fits(m key) bool {
	return k.ctx == m.ctx && (k.src == wild || k.src == m.src) && (k.tag == wild || k.tag == m.tag)
}

func (k key) hash() uint64 {
	h := uint64(k.tag)*0x9e3779b97f4a7c15 ^ (uint64(uint32(k.src))<<32|uint64(k.ctx))*0xc2b2ae3d27d4eb4f
	return h ^ h>>29
}

// queue is a first-in-first-out list of the elements of one key, linked through T.
type queue[T any] struct {
	key        key
	used       bool
	head, tail *T
}

// table is a hash table from keys to queues: open addressing with linear probing. An empty
// queue stays, because its key is often used again. When half of the slots are used, a
// resize drops the empty queues.
type table[T any] struct {
	slots []queue[T] // length a power of two
	used  int
	live  int // number of queues that are not empty
}

const smallestTable = 64

func (t *table[T]) init() { t.resize(smallestTable) }

func (t *table[T]) resize(n int) {
	old := t.slots
	t.slots, t.used = make([]queue[T], n), 0
	for i := range old {
		if q := &old[i]; q.head != nil {
			*t.slot(q.key) = *q
			t.used++
		}
	}
}

// slot returns the slot of k, or the free slot for it.
func (t *table[T]) slot(k key) *queue[T] {
	mask := uint64(len(t.slots) - 1)
	for i := k.hash() & mask; ; i = (i + 1) & mask {
		if q := &t.slots[i]; !q.used || q.key == k {
			return q
		}
	}
}

// first returns the oldest element of key k, nil if there is none.
func (t *table[T]) first(k key) *T { return t.slot(k).head }

// find returns the queue of k, for looking and removing. It is valid until findOrAdd.
func (t *table[T]) find(k key) *queue[T] { return t.slot(k) }

// findOrAdd returns the queue of k. The caller adds an element to it at once.
func (t *table[T]) findOrAdd(k key) *queue[T] {
	q := t.slot(k)
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
		q = t.slot(k)
	}
	q.used, q.key = true, k
	t.used++
	t.live++
	return q
}

// noteEmpty counts that a queue has become empty.
func (t *table[T]) noteEmpty() { t.live-- }
