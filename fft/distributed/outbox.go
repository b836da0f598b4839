package distributed

import "github.com/weft-hpc/weft/mpi"

// outbox is the memory from which Tasks sends the pieces of a distributed exchange. A plane is
// computed in scratch memory, which stays in a cache, and its pieces for other ranks are copied
// here: the early groups to a slot of a ring, which they leave soon, so that it is still in a
// cache when it is used again; the deferred groups, which leave after the last plane, to memory
// for all planes, each message in one block.
type outbox struct {
	x         *exchange
	groups    int          // early ones
	ring      int          // slots: plane u has slot u mod ring
	slot      int          // elements of a slot
	early     []complex128 // memory of the plan, as late: one exchange after the other uses it
	earlyRows []int        // by receiver: rows of its piece in early groups
	earlyAt   []int        // by receiver: where its rows begin in a slot
	late      []complex128
	lateAt    []int // by receiver: where its messages begin, in elements for each plane
	lateSlot  int   // elements for each plane
}

// leastRing is the least number of planes whose early groups may wait until they have been sent,
// if the stage keeps all. A slot of a ring that is much longer is in no cache any more.
const leastRing = 8

// newOutbox returns an outbox for x without memory. The first early of the groups leave with
// their planes, perMessage planes at a time.
func newOutbox(x *exchange, early, perMessage, stage int) *outbox {
	const line = 4 // elements in a cache line
	o := &outbox{x: x, groups: early, ring: stage}
	if stage == 0 {
		n := max(leastRing, 4*perMessage)
		o.ring = (n + perMessage - 1) / perMessage * perMessage
	}
	for q := range x.size {
		rows, cols := x.shape(x.me, q)
		first := x.earlyRows(x.me, q, early)
		o.earlyRows = append(o.earlyRows, first)
		o.earlyAt, o.lateAt = append(o.earlyAt, o.slot), append(o.lateAt, o.lateSlot)
		if q != x.me {
			o.slot += first * cols
			o.lateSlot += (rows - first) * cols
		}
	}
	o.slot = (o.slot + line - 1) / line * line
	return o
}

// size returns the elements of the two parts.
func (o *outbox) size() (early, late int) {
	planes := o.planes()
	return min(o.ring, planes) * o.slot, planes * o.lateSlot
}

// planes returns the number of planes of this rank.
func (o *outbox) planes() int {
	_, planes := o.x.planes(o.x.me)
	return planes
}

// use gives the outbox its memory.
func (o *outbox) use(early, late []complex128) {
	n, m := o.size()
	o.early, o.late = early[:n], late[:m]
}

// slots returns the memory of the early groups of n planes from u on. Planes of one message are side by side.
func (o *outbox) slots(u, n int) []complex128 {
	i := u % o.ring
	return o.early[i*o.slot : (i+n)*o.slot : (i+n)*o.slot]
}

// put copies the pieces of plane u for other ranks.
func (o *outbox) put(u int, plane []complex128) {
	early := o.slots(u, 1)
	for q := range o.x.size {
		if q == o.x.me {
			continue
		}
		o.x.copyRows(early[o.earlyAt[q]:], plane, q, 0, o.earlyRows[q], len(o.early))
		for k := o.groups; k < o.x.groups; k++ {
			first, count := o.x.group(o.x.me, q, k)
			block := o.block(q, first, count)
			o.x.copyRows(block[u*(len(block)/o.planes()):], plane, q, first, count, len(o.late))
		}
	}
}

// earlyPieces returns the early groups for q of count planes from first on. Their slots are side
// by side.
func (o *outbox) earlyPieces(q, first, count int) mpi.Buffer {
	_, cols := o.x.shape(o.x.me, q)
	n, from := o.earlyRows[q]*cols, first%o.ring*o.slot+o.earlyAt[q]
	if count == 1 {
		return mpi.Of(o.early[from : from+n])
	}
	return mpi.Tile(o.early[from:], n, count, o.slot)
}

// block returns the memory of a deferred message to q: count rows from first on, of all planes.
func (o *outbox) block(q, first, count int) []complex128 {
	_, cols := o.x.shape(o.x.me, q)
	planes := o.planes()
	at := planes * (o.lateAt[q] + (first-o.earlyRows[q])*cols)
	return o.late[at : at+planes*count*cols]
}
