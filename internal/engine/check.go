package engine

// checkCollective returns an error for wrong arguments of a collective call, as far as one
// rank can know.
func (c *Comm) checkCollective(k *Call) error {
	if k.Kind.HasPeer() && (k.Peer < 0 || k.Peer >= c.Size()) {
		return k.Fail(ErrRank, c.Size(), k.Peer, "the root is one of 0 to %d", c.Size()-1)
	}
	for _, counts := range [][]int{k.SendCounts, k.RecvCounts} {
		if counts != nil && len(counts) != c.Size() {
			return k.Fail(ErrCount, c.Size(), len(counts), "%d counts for %d ranks", len(counts), c.Size())
		}
	}
	if err := c.checkInPlace(k); err != nil {
		return err
	}
	switch k.Kind {
	case CallReduce, CallAllreduce, CallScan, CallExscan, CallReduceScatter:
		return c.checkReduction(k)
	case CallGather:
		if k.Peer == c.rank {
			return c.checkParts(k, k.Recv, k.RecvCounts, k.RecvDispls, k.Send, "receive")
		}
	case CallScatter:
		if k.Peer == c.rank {
			return c.checkParts(k, k.Send, k.SendCounts, k.SendDispls, k.Recv, "send")
		}
	case CallAllgather:
		return c.checkParts(k, k.Recv, k.RecvCounts, k.RecvDispls, k.Send, "receive")
	case CallAlltoall:
		return c.checkAlltoall(k)
	}
	return nil
}

// checkInPlace returns an error for InPlace where it is not allowed.
func (c *Comm) checkInPlace(k *Call) error {
	send, recv := false, false
	switch k.Kind {
	case CallAllreduce, CallScan, CallExscan, CallAllgather, CallReduceScatter:
		send = true
	case CallReduce, CallGather:
		send = k.Peer == c.rank
	case CallScatter:
		recv = k.Peer == c.rank
	}
	if k.Send.IsInPlace() && !send || k.Recv.IsInPlace() && !recv {
		return k.Fail(ErrBuffer, 0, 0, "InPlace is not possible here")
	}
	return nil
}

func (c *Comm) checkReduction(k *Call) error {
	data := k.Send
	if data.IsInPlace() {
		data = k.Recv
	}
	if k.Op == nil {
		return k.Fail(ErrKind, 0, 0, "no operation is given")
	}
	if k.Op.code == opReplace {
		return k.Fail(ErrKind, 0, 0, "Replace is for Accumulate")
	}
	if err := k.Op.Defined(data); err != nil && data.Len() > 0 {
		return k.Fail(ErrKind, 0, 0, "%v", err)
	}
	if k.Kind == CallReduce && k.Peer != c.rank {
		return nil
	}
	want := data.Len()
	if k.Kind == CallReduceScatter {
		sum := 0
		for _, n := range k.RecvCounts {
			if n < 0 {
				return k.Fail(ErrCount, 0, n, "a count is negative")
			}
			sum += n
		}
		if sum != data.Len() {
			return k.Fail(ErrCount, sum, data.Len(), "the counts add up to %d elements, the buffer has %d", sum, data.Len())
		}
		want = k.RecvCounts[c.rank]
	}
	if !k.Send.IsInPlace() {
		return sameLength(k, k.Recv, want, data, "receive")
	}
	return nil
}

// sameLength checks that b has n elements of the kind of like.
func sameLength(k *Call, b Buffer, n int, like Buffer, name string) error {
	if b.Len() != n {
		return k.Fail(ErrCount, n, b.Len(), "the %s buffer has %d elements, and needs %d", name, b.Len(), n)
	}
	if n > 0 && (b.kind != like.kind || b.size != like.size) {
		return k.Fail(ErrKind, 0, 0, "send and receive buffer hold %v and %v", like.kind, b.kind)
	}
	return nil
}

// checkParts checks a buffer with a part for every rank. own is the other buffer, of the
// length of one part.
func (c *Comm) checkParts(k *Call, whole Buffer, counts, displs []int, own Buffer, name string) error {
	if whole.IsInPlace() {
		return k.Fail(ErrBuffer, 0, 0, "InPlace cannot be the %s buffer here", name)
	}
	if !whole.Contiguous() {
		return k.Fail(ErrBuffer, 0, 0, "the %s buffer has parts of several ranks, and must be contiguous", name)
	}
	part := whole.Len() / c.Size()
	if counts == nil {
		if whole.Len()%c.Size() != 0 {
			return k.Fail(ErrCount, 0, whole.Len(), "the %s buffer of %d elements cannot be divided among %d ranks", name, whole.Len(), c.Size())
		}
	} else {
		if err := c.checkCounts(k, whole, counts, displs, name); err != nil {
			return err
		}
		part = counts[c.rank]
	}
	if own.IsInPlace() {
		return nil
	}
	if own.Len() != part {
		return k.Fail(ErrCount, part, own.Len(), "the %s buffer has %d elements for each rank, this rank's own part has %d", name, part, own.Len())
	}
	return sameLength(k, own, part, whole, "own")
}

func (c *Comm) checkCounts(k *Call, whole Buffer, counts, displs []int, name string) error {
	if len(displs) != len(counts) {
		return k.Fail(ErrCount, len(counts), len(displs), "%d displacements for %d counts", len(displs), len(counts))
	}
	for r, n := range counts {
		if n < 0 || displs[r] < 0 || n > whole.Len()-displs[r] {
			return k.Fail(ErrCount, whole.Len(), displs[r]+n, "elements %d to %d, the part of rank %d, lie outside the %s buffer of %d", displs[r], displs[r]+n, r, name, whole.Len())
		}
	}
	return nil
}

func (c *Comm) checkAlltoall(k *Call) error {
	if (k.SendCounts == nil) != (k.RecvCounts == nil) {
		return k.Fail(ErrCount, 0, 0, "counts are given on one side only")
	}
	none := Buffer{place: placeInPlace}
	if err := c.checkParts(k, k.Send, k.SendCounts, k.SendDispls, none, "send"); err != nil {
		return err
	}
	if err := c.checkParts(k, k.Recv, k.RecvCounts, k.RecvDispls, none, "receive"); err != nil {
		return err
	}
	if k.SendCounts == nil {
		return sameLength(k, k.Recv, k.Send.Len(), k.Send, "receive")
	}
	if k.SendCounts[c.rank] != k.RecvCounts[c.rank] {
		return k.Fail(ErrCount, k.SendCounts[c.rank], k.RecvCounts[c.rank], "this rank sends itself %d elements and receives %d", k.SendCounts[c.rank], k.RecvCounts[c.rank])
	}
	if k.Send.Len() > 0 && k.Recv.Len() > 0 && (k.Send.kind != k.Recv.kind || k.Send.size != k.Recv.size) {
		return k.Fail(ErrKind, 0, 0, "send and receive buffer hold %v and %v", k.Send.kind, k.Recv.kind)
	}
	return nil
}

// checkOneSided returns an error for wrong arguments of a one-sided call.
func (c *Comm) checkOneSided(k *Call) error {
	w := k.Win
	if w == nil || w.freed {
		return k.Fail(ErrState, 0, 0, "the window has been freed")
	}
	if k.Kind.HasPeer() && k.Peer != ProcNull && !(k.Kind == CallFlush && k.Peer == AllRanks) && (k.Peer < 0 || k.Peer >= c.Size()) {
		return k.Fail(ErrRank, c.Size(), k.Peer, "the communicator has ranks 0 to %d", c.Size()-1)
	}
	if k.Kind.HasTag() && (k.Tag < 0 || k.Tag >= Notifications) {
		return k.Fail(ErrTag, Notifications, k.Tag, "notifications go from 0 to %d", Notifications-1)
	}
	b := k.Send
	switch k.Kind {
	case CallGet:
		b = k.Recv
	case CallPut, CallNotify:
	case CallAccumulate:
		if k.Op == nil || !k.Op.Predefined() {
			return k.Fail(ErrKind, 0, 0, "Accumulate takes the predefined operations and Replace")
		}
		if err := k.Op.Defined(b); err != nil && b.Len() > 0 {
			return k.Fail(ErrKind, 0, 0, "%v", err)
		}
	case CallAwaitNotify:
		if k.Count < 0 {
			return k.Fail(ErrCount, 0, k.Count, "the count is negative")
		}
		return nil
	default:
		return nil
	}
	if b.IsInPlace() {
		return k.Fail(ErrBuffer, 0, 0, "InPlace is for collective operations")
	}
	if b.Len() > 0 && (b.kind != w.mem.kind || b.size != w.mem.size) {
		return k.Fail(ErrKind, 0, 0, "the window holds %v, the buffer %v", w.mem.kind, b.kind)
	}
	if k.Peer == ProcNull {
		return nil
	}
	if k.Tile && b.Len() > 0 {
		return k.checkTile(b.Len(), w.sizes[k.Peer])
	}
	if k.Offset < 0 || b.Len() > w.sizes[k.Peer]-k.Offset {
		return k.Fail(ErrWindow, w.sizes[k.Peer], k.Offset+b.Len(), "elements %d to %d of the window of rank %d, which has %d", k.Offset, k.Offset+b.Len(), k.Peer, w.sizes[k.Peer])
	}
	return nil
}

// checkTile checks the tile at the target that n elements go to.
func (k *Call) checkTile(n, size int) error {
	if k.Rows <= 0 || n%k.Rows != 0 {
		return k.Fail(ErrCount, n, k.Rows, "%d elements are no tile with %d rows", n, k.Rows)
	}
	if k.Offset < 0 || k.Offset > size || CheckLayout(size-k.Offset, n/k.Rows, k.Rows, k.LD) != nil {
		return k.Fail(ErrWindow, size, k.Offset, "a tile of %d x %d elements with leading dimension %d, from element %d on, in the window of rank %d, which has %d: it does not fit, or its columns overlap",
			k.Rows, n/k.Rows, k.LD, k.Offset, k.Peer, size)
	}
	return nil
}
