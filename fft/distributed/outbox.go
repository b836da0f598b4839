package distributed

import (
	"sync"

	"github.com/weft-hpc/weft/mpi"
)

// outbox is the memory from which Tasks sends the planes of an exchange. The planes of a batch, which are one
// message (the first ones are several), are computed side by side into a slot of the stage. The first of them
// acquires it when it is computed, and it is free when all have been sent: so the slot used last, which is still
// in a cache, is used next. Dependences bound the planes that wait: plane u has place u mod places, and is
// computed after the plane before it in that place has been sent. Deferred groups, which leave after the last
// plane, are copied to memory for all planes, each message in one block.
//
// mu is held for some ns, and before stage.mu.
type outbox struct {
	x          *exchange
	groups     int    // early ones; the others are deferred
	perMessage int    // planes of a batch
	places     []byte // dependency tokens
	stage      *stage
	receivers  int   // of early groups
	earlyRows  []int // by receiver: rows of its piece in early groups

	late     []complex128 // memory of the plan: one exchange after the other uses it
	lateAt   []int        // by receiver: where its messages begin, in elements for each plane
	lateSlot int          // elements for each plane

	mu    sync.Mutex
	slots []slotUse // guarded by mu: by batch
}

// slotUse is the use of a slot of the stage by a batch.
type slotUse struct {
	slot  int
	users int // planes to be computed, and sends; 0: the batch has no slot
}

// leastPlaces is the least number of planes of a distributed exchange whose early groups may wait
// until they have been sent, if the stage keeps all.
const leastPlaces = 8

// newOutbox returns an outbox for x without memory. The first early of the groups leave with
// their planes, perMessage planes at a time.
func newOutbox(x *exchange, early, perMessage, stage int) *outbox {
	o := &outbox{x: x, groups: early, perMessage: perMessage}
	n := x.units.n
	switch {
	case stage > 0:
		n = stage
	case x.distributed:
		n = max(leastPlaces, 4*perMessage)
	}
	o.places = make([]byte, (n+perMessage-1)/perMessage*perMessage)
	for q := range x.size {
		rows, cols := x.shape(x.me, q)
		first := x.earlyRows(x.me, q, early)
		o.earlyRows, o.lateAt = append(o.earlyRows, first), append(o.lateAt, o.lateSlot)
		if q == x.me {
			continue
		}
		if first*cols > 0 {
			o.receivers++
		}
		o.lateSlot += (rows - first) * cols
	}
	return o
}

// planes returns the number of planes of this rank.
func (o *outbox) planes() int {
	_, planes := o.x.planes(o.x.me)
	return planes
}

// plane returns the elements of a plane.
func (o *outbox) plane() int {
	switch x := o.x; {
	case x.columns:
		return x.rows.size(x.me) * x.cols.n
	case x.distributed:
		return x.rows.n * x.cols.n
	default:
		return x.rows.n * x.cols.size(x.me)
	}
}

// batches returns the number of batches that may wait at the same time: the slots that it needs.
func (o *outbox) batches() int {
	return (min(len(o.places), o.planes()) + o.perMessage - 1) / o.perMessage
}

// message returns the first plane of the message of this rank that carries plane u, and their number.
func (o *outbox) message(u int) (first, count int) { return messageOf(u, o.planes(), o.perMessage) }

// use gives the outbox its memory: a stage with a slot for each of its batches, and memory for deferred groups.
func (o *outbox) use(s *stage, late []complex128) {
	o.stage, o.late = s, late[:o.planes()*o.lateSlot]
	o.slots = make([]slotUse, (o.planes()+o.perMessage-1)/o.perMessage)
}

// tokens returns the places of n planes from u on, which are in one message. A plane whose batch takes the slot of
// one that was not a single message has the places of the whole batch: it waits for all planes and messages of the other.
func (o *outbox) tokens(u, n int) []byte {
	i, turn := u%len(o.places), u/len(o.places)
	if first := i / o.perMessage * o.perMessage; turn == 1 && first == 0 || turn > 0 && o.receivers == 0 {
		i, n = first, o.perMessage
	}
	return o.places[i : i+n : i+n]
}

// memory returns the memory of plane u. It acquires the slot of its batch, if this is the first of its planes.
func (o *outbox) memory(u int) []complex128 {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := &o.slots[u/o.perMessage]
	if k.users == 0 {
		k.slot, k.users = o.stage.acquire(), o.users(u/o.perMessage)
		if k.slot < 0 {
			panic("distributed: no slot of the stage is free")
		}
	}
	return o.placed(u, 1)
}

// placed returns the memory of n planes from u on, whose batch has a slot. The caller holds mu.
func (o *outbox) placed(u, n int) []complex128 {
	at := u % o.perMessage
	slot := o.stage.plane(o.slots[u/o.perMessage].slot, (at+n)*o.plane())
	return slot[at*o.plane():]
}

// users returns the planes of a batch and the sends of its messages.
func (o *outbox) users(batch int) (n int) {
	end := min((batch+1)*o.perMessage, o.planes())
	for u := batch * o.perMessage; u < end; {
		_, count := o.message(u)
		n += count + o.receivers
		u += count
	}
	return n
}

// release ends one use of the slot of the batch of plane u.
func (o *outbox) release(u int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := &o.slots[u/o.perMessage]
	if k.users--; k.users == 0 {
		o.stage.release(k.slot)
	}
}

// computed copies the deferred groups of plane u for other ranks, and ends the plane's use of its slot.
func (o *outbox) computed(u int, plane []complex128) {
	for q := range o.x.size {
		if q == o.x.me {
			continue
		}
		for k := o.groups; k < o.x.groups; k++ {
			first, count := o.x.group(o.x.me, q, k)
			block := o.block(q, first, count)
			o.x.copyRows(block[u*(len(block)/o.planes()):], plane, q, first, count, len(o.late))
		}
	}
	o.release(u)
}

// block returns the memory of a deferred message to q: count rows from first on, of all planes.
func (o *outbox) block(q, first, count int) []complex128 {
	_, cols := o.x.shape(o.x.me, q)
	planes := o.planes()
	at := planes * (o.lateAt[q] + (first-o.earlyRows[q])*cols)
	return o.late[at : at+planes*count*cols]
}

// parcel is the early groups of count planes from first on for rank q: the source of a send
// (commthread.Source).
type parcel struct {
	out             *outbox
	q, first, count int
}

// bytes returns the size of a parcel.
func (p *parcel) bytes() int { return p.count * p.out.x.bytes(p.out.x.me, p.q, p.out.earlyRows[p.q]) }

// Buffer returns the pieces, in the slot of their batch.
func (p *parcel) Buffer() mpi.Buffer {
	o := p.out
	o.mu.Lock()
	planes := o.placed(p.first, p.count)
	o.mu.Unlock()
	rows := o.earlyRows[p.q]
	if p.count == 1 {
		return o.x.piece(planes, p.q, 0, rows)
	}
	_, cols := o.x.shape(o.x.me, p.q)
	return mpi.Tile(planes[o.x.offset(p.q, 0):], rows*cols, p.count, o.plane())
}

// Sent ends the use of the slot by the parcel.
func (p *parcel) Sent() { p.out.release(p.first) }
