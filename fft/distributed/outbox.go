package distributed

import "github.com/weft-hpc/weft/mpi"

// outbox is the memory from which Tasks sends the pieces of a distributed exchange. A plane is
// computed in scratch memory, which stays in a cache, and its pieces for other ranks are copied
// here: the early groups to a slot of a ring, which they leave soon, so that it is still in a
// cache when it is used again; the deferred groups, which leave after the last plane, to memory
// that has a slot for each plane.
type outbox struct {
	x           *exchange
	early, late area
	ring        int   // slots of early: plane u has slot u mod ring
	earlyRows   []int // by receiver: rows of its piece in early groups
}

// area is a part of an outbox.
type area struct {
	mem  []complex128 // of the plan: one exchange after the other uses it
	slot int          // elements of a plane
	at   []int        // by receiver: where its rows begin in a slot
}

// leastRing is the least number of planes whose early groups may wait until they have been sent,
// if the stage keeps all. A slot of a ring that is much longer is in no cache any more.
const leastRing = 8

// newOutbox returns an outbox for x without memory. The first early of the groups leave with
// their planes, perMessage planes at a time.
func newOutbox(x *exchange, early, perMessage, stage int) *outbox {
	const line = 4 // elements in a cache line
	o := &outbox{x: x, ring: stage}
	if stage == 0 {
		n := max(leastRing, 4*perMessage)
		o.ring = (n + perMessage - 1) / perMessage * perMessage
	}
	for q := range x.size {
		rows, cols := x.shape(x.me, q)
		first := x.earlyRows(x.me, q, early)
		o.earlyRows = append(o.earlyRows, first)
		o.early.at, o.late.at = append(o.early.at, o.early.slot), append(o.late.at, o.late.slot)
		if q != x.me {
			o.early.slot += first * cols
			o.late.slot += (rows - first) * cols
		}
	}
	o.early.slot = (o.early.slot + line - 1) / line * line
	o.late.slot = (o.late.slot + line - 1) / line * line
	return o
}

// size returns the elements of the two parts.
func (o *outbox) size() (early, late int) {
	_, planes := o.x.planes(o.x.me)
	return min(o.ring, planes) * o.early.slot, planes * o.late.slot
}

// use gives the outbox its memory.
func (o *outbox) use(early, late []complex128) {
	n, m := o.size()
	o.early.mem, o.late.mem = early[:n], late[:m]
}

// slots returns the memory of n planes from u on in both parts. Planes of one message are side by side.
func (o *outbox) slots(u, n int) (early, late []complex128) {
	return o.early.planes(u%o.ring, n), o.late.planes(u, n)
}

func (a *area) planes(i, n int) []complex128 { return a.mem[i*a.slot : (i+n)*a.slot : (i+n)*a.slot] }

// put copies the pieces of plane u for other ranks.
func (o *outbox) put(u int, plane []complex128) {
	early, late := o.slots(u, 1)
	for q := range o.x.size {
		if q == o.x.me {
			continue
		}
		rows, _ := o.x.shape(o.x.me, q)
		n := o.earlyRows[q]
		o.x.copyRows(early[o.early.at[q]:], plane, q, 0, n, len(o.early.mem))
		o.x.copyRows(late[o.late.at[q]:], plane, q, n, rows-n, len(o.late.mem))
	}
}

// earlyPieces returns the early groups for q of count planes from first on. Their slots are side
// by side.
func (o *outbox) earlyPieces(q, first, count int) mpi.Buffer {
	_, cols := o.x.shape(o.x.me, q)
	return o.early.pieces(first%o.ring, count, o.early.at[q], o.earlyRows[q]*cols)
}

// latePieces returns count rows from first on, of the deferred groups, for q, of all planes.
func (o *outbox) latePieces(q, first, count int) mpi.Buffer {
	_, cols := o.x.shape(o.x.me, q)
	_, planes := o.x.planes(o.x.me)
	return o.late.pieces(0, planes, o.late.at[q]+(first-o.earlyRows[q])*cols, count*cols)
}

// pieces returns n elements from at on in each of count slots.
func (a *area) pieces(slot, count, at, n int) mpi.Buffer {
	from := slot*a.slot + at
	if count == 1 {
		return mpi.Of(a.mem[from : from+n])
	}
	return mpi.Tile(a.mem[from:], n, count, a.slot)
}
