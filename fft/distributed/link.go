package distributed

import (
	"errors"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// link is one exchange of a loop schedule: requests of receives, by part, and of sends, by
// plane. It belongs to the rank's goroutine.
type link struct {
	x        *exchange
	form     Form
	win      *mpi.Win // nil with two-sided messages
	array    []complex128
	stage    *stage
	stats    *Stats
	receives [][]*mpi.Request
	arrived  int         // parts whose receives are complete
	sends    []planeSend // oldest first
}

// planeSend is a plane whose pieces are being sent from a slot of the stage.
type planeSend struct {
	slot     int
	requests []*mpi.Request
}

// post lets all peers send: it posts the receives, or opens the window by a fence.
func (k *link) post() error {
	defer k.count(osthread.Nanotime())
	k.receives = make([][]*mpi.Request, k.x.parts.parts)
	switch {
	case k.win != nil:
		if err := k.win.Fence(); err != nil || k.form == Exchange {
			return err
		}
		for part, n := range k.puts() {
			if n > 0 {
				k.receives[part] = append(k.receives[part], k.win.IawaitNotify(part, n))
			}
		}
	case k.form != Exchange:
		k.pieces(func(s, u, g, first, count int) {
			at, n := k.x.target(s, k.x.me, u, first, count)
			part := k.x.part(u, g)
			k.receives[part] = append(k.receives[part], k.x.comm.Irecv(mpi.Of(k.array[at:at+n]), s, u*k.x.groups+g))
		})
	}
	return nil
}

// pieces calls f for every piece that comes from another rank.
func (k *link) pieces(f func(s, u, g, first, count int)) {
	for d := 1; d < k.x.size; d++ {
		s := (k.x.me + d) % k.x.size
		_, planes := k.x.planes(s)
		for u := range planes {
			for g := range k.x.groups {
				if first, count := k.x.group(s, k.x.me, g); k.x.bytes(s, k.x.me, count) > 0 {
					f(s, u, g, first, count)
				}
			}
		}
	}
}

// puts returns how many pieces each part consists of.
func (k *link) puts() []int {
	n := make([]int, k.x.parts.parts)
	k.pieces(func(_, u, g, _, _ int) { n[k.x.part(u, g)]++ })
	return n
}

// send starts the sends of the pieces of plane u, which lies in a slot of the stage: group
// after group, each to all peers in turn.
func (k *link) send(u, slot int, plane []complex128) {
	defer k.count(osthread.Nanotime())
	x := k.x
	d := planeSend{slot: slot}
	for g := range x.groups {
		for i := 1; i < x.size; i++ {
			q := (x.me + i) % x.size
			first, count := x.group(x.me, q, g)
			n := x.bytes(x.me, q, count)
			if n == 0 {
				continue
			}
			k.stats.message(n)
			piece := x.piece(plane, q, first, count)
			if k.win == nil {
				d.requests = append(d.requests, x.comm.Isend(piece, q, u*x.groups+g))
				continue
			}
			at, _ := x.target(x.me, q, u, first, count)
			d.requests = append(d.requests, k.win.IputNotify(piece, q, at, x.part(u, g)))
		}
	}
	k.sends = append(k.sends, d)
}

// reclaim frees the slots of sent planes, in order. With wait, it waits for the first one.
func (k *link) reclaim(wait bool) error {
	if len(k.sends) == 0 {
		return nil
	}
	defer k.count(osthread.Nanotime())
	for len(k.sends) > 0 {
		d := k.sends[0]
		done, err := true, error(nil)
		if wait {
			err = mpi.Waitall(d.requests...)
		} else {
			done, err = mpi.Testall(d.requests...)
		}
		if err != nil || !done {
			return err
		}
		k.sends = k.sends[1:]
		k.stage.release(d.slot)
		wait = false
	}
	return nil
}

// receive counts the parts that have arrived, in order. With wait, it waits for the next one.
func (k *link) receive(wait bool) error {
	defer k.count(osthread.Nanotime())
	for k.arrived < len(k.receives) {
		done, err := true, error(nil)
		if wait {
			err = mpi.Waitall(k.receives[k.arrived]...)
		} else {
			done, err = mpi.Testall(k.receives[k.arrived]...)
		}
		if err != nil || !done {
			return err
		}
		k.arrived++
		wait = false
	}
	return nil
}

// alltoall is the whole exchange at once, of pieces packed by pack.
func (k *link) alltoall() error {
	defer k.count(osthread.Nanotime())
	x := k.x
	k.arrived = len(k.receives)
	if k.win != nil {
		requests := make([]*mpi.Request, 0, x.size)
		for i := 1; i < x.size; i++ {
			q := (x.me + i) % x.size
			from, _, n := x.packed(q)
			if n > 0 {
				k.stats.message(n * element)
				at, _ := x.base(x.me, q)
				requests = append(requests, k.win.Iput(mpi.Of(k.stage.mem[from:from+n]), q, at))
			}
		}
		return errors.Join(mpi.Waitall(requests...), k.win.Fence())
	}
	counts := make([]int, 4*x.size)
	sc, sd, rc, rd := counts[:x.size], counts[x.size:2*x.size], counts[2*x.size:3*x.size], counts[3*x.size:]
	for q := range x.size {
		if q == x.me {
			continue
		}
		sd[q], _, sc[q] = x.packed(q)
		_, planes := x.planes(q)
		at, step := x.base(q, x.me)
		rd[q], rc[q] = at, planes*step
		if sc[q] > 0 {
			k.stats.message(sc[q] * element)
		}
	}
	return x.comm.Alltoallv(mpi.Of(k.stage.mem), sc, sd, mpi.Of(k.array), rc, rd)
}

// pack copies the pieces of plane u to the send buffer of alltoall.
func (k *link) pack(u int, plane []complex128) {
	for q := range k.x.size {
		if q == k.x.me {
			continue
		}
		from, step, _ := k.x.packed(q)
		rows, cols := k.x.shape(k.x.me, q)
		at := from + u*step
		k.x.copyPiece(k.stage.mem[at:at+rows*cols], plane, q)
	}
}

// abandon waits for the end of all requests after an error that has revoked the
// communicators: the buffers are the caller's again.
func (k *link) abandon() {
	for _, part := range k.receives {
		_ = mpi.Waitall(part...)
	}
	for _, d := range k.sends {
		_ = mpi.Waitall(d.requests...)
		k.stage.release(d.slot)
	}
	k.sends = nil
}

// count adds the time since then to the time in communication calls.
func (k *link) count(since int64) { k.stats.Communication += nanoseconds(osthread.Nanotime() - since) }

const element = 16 // bytes

// bytes returns the size of some rows of a piece.
func (x *exchange) bytes(source, receiver, rows int) int {
	_, cols := x.shape(source, receiver)
	return rows * cols * element
}

// packed describes the pieces for a receiver in the send buffer of alltoall: their first
// element, the step from one plane to the next, and their total length. They lie there as
// they will at the receiver.
func (x *exchange) packed(receiver int) (at, step, length int) {
	_, planes := x.planes(x.me)
	for q := range receiver {
		if q != x.me {
			_, step = x.base(x.me, q)
			at += planes * step
		}
	}
	_, step = x.base(x.me, receiver)
	return at, step, planes * step
}

// packedLen returns the length of the send buffer of alltoall.
func (x *exchange) packedLen() int {
	at, _, length := x.packed(x.size - 1)
	if x.me == x.size-1 {
		return at
	}
	return at + length
}
