package commthread

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
)

// pair is whom messages go between, for their numbers.
type pair struct {
	comm     uint32
	from, to int // in the world; -1 for collective operations
	tag      int
}

const maxMessages = 1 << 20 // of a log

// now returns the time since the start of the log.
func (t *Thread) now() time.Duration {
	if !t.traced {
		return 0
	}
	return time.Since(t.origin)
}

// number counts the messages of a pair in the order in which they are posted; a receive
// from any source gets its number when it has completed.
func (t *Thread) number(o *operation) {
	k := &o.call
	o.seq = 0
	if k.Kind.Receives() && (k.Peer < 0 || k.Tag < 0) {
		return
	}
	o.seq = t.count(k, k.Peer, k.Tag)
}

func (t *Thread) count(k *mpi.Call, peer, tag int) uint64 {
	p := pair{comm: k.Comm.ID(), from: -1, to: -1}
	me := k.Comm.World(k.Comm.Rank())
	switch {
	case k.Kind.Sends() && peer >= 0 && peer < k.Comm.Size():
		p.from, p.to, p.tag = me, k.Comm.World(peer), tag
	case k.Kind.Receives() && peer >= 0 && peer < k.Comm.Size():
		p.from, p.to, p.tag = k.Comm.World(peer), me, tag
	case k.Kind.PointToPoint():
		return 0
	}
	t.counts[p]++
	return t.counts[p]
}

// note records a completed operation. The caller holds t.mu.
func (t *Thread) note(o *operation) {
	k := &o.call
	m := dataflow.Message{
		Task: o.Seq(), Kind: k.Kind.String(), Comm: k.Comm.ID(), Peer: -1, Seq: o.seq, Bytes: k.Payload(),
		Ready: o.readyAt, Posted: o.postedAt, Done: t.now(), Failed: k.Err != nil,
	}
	if k.Kind.PointToPoint() {
		peer, tag := k.Peer, k.Tag
		if k.Kind.Receives() && k.Err == nil {
			peer, tag = k.Status.Source, k.Status.Tag
			m.Bytes = k.Status.Bytes
			if o.seq == 0 {
				m.Seq = t.count(k, peer, tag)
			}
		}
		if peer >= 0 && peer < k.Comm.Size() {
			m.Peer = k.Comm.World(peer)
		}
		m.Tag = tag
	}
	if len(t.messages) < maxMessages {
		t.messages = append(t.messages, m)
	}
}

// Log returns the event log of the runtime with the messages of the thread, or nil
// without the option dataflow.Trace. The same rules as for Log of the runtime.
func (t *Thread) Log() *dataflow.Log {
	l := t.lane.Runtime().Log()
	if l == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l.Rank, l.Ranks = t.world.Rank(), t.world.Size()
	l.Host, _ = os.Hostname()
	shift := t.origin.Sub(l.Start) // the log may have been reset since
	for _, m := range t.messages {
		m.Ready, m.Posted, m.Done = m.Ready+shift, m.Posted+shift, m.Done+shift
		if m.Posted >= 0 {
			l.Messages = append(l.Messages, m)
		}
	}
	slices.SortStableFunc(l.Messages, func(a, b dataflow.Message) int { return cmp.Compare(a.Posted, b.Posted) })
	return l
}

// GatherLogs returns the logs of all ranks of c on rank 0, ordered by rank, with their
// starts on the clock of rank 0; nil on the others. Collective over c, with no thread
// running on it or from outside of comm tasks.
func GatherLogs(c *mpi.Comm, l *dataflow.Log) ([]*dataflow.Log, error) {
	offset, err := clockOffset(c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if l != nil {
		mine := *l
		mine.Start = mine.Start.Add(offset)
		if err := gob.NewEncoder(&b).Encode(&mine); err != nil {
			return nil, fmt.Errorf("commthread: log of rank %d: %w", c.Rank(), err)
		}
	}
	sizes := make([]int, c.Size())
	own := b.Len()
	if err := c.Gather(mpi.One(&own), mpi.Of(sizes), 0); err != nil {
		return nil, err
	}
	displs, total := make([]int, c.Size()), 0
	for i, n := range sizes {
		displs[i] = total
		total += n
	}
	all := make([]byte, total)
	if c.Rank() != 0 {
		sizes, displs = nil, nil
	}
	if err := c.Gatherv(mpi.Of(b.Bytes()), mpi.Of(all), sizes, displs, 0); err != nil || c.Rank() != 0 {
		return nil, err
	}
	var logs []*dataflow.Log
	for i, n := range sizes {
		if n == 0 {
			continue
		}
		l := new(dataflow.Log)
		if err := gob.NewDecoder(bytes.NewReader(all[displs[i] : displs[i]+n])).Decode(l); err != nil {
			return nil, fmt.Errorf("commthread: log of rank %d: %w", i, err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// clockOffset returns what to add to this rank's wall clock to get that of rank 0: from
// the round trip of a message with the shortest time, of several (Cristian's method).
func clockOffset(c *mpi.Comm) (offset time.Duration, err error) {
	const rounds, tag = 10, 0
	for r := 1; r < c.Size(); r++ {
		switch c.Rank() {
		case 0:
			for range rounds {
				var ask, now int64
				if _, err = c.Recv(mpi.One(&ask), r, tag); err != nil {
					return 0, err
				}
				now = time.Now().UnixNano()
				if err = c.Send(mpi.One(&now), r, tag); err != nil {
					return 0, err
				}
			}
		case r:
			best := time.Duration(1<<63 - 1)
			for range rounds {
				var there int64
				sent := time.Now()
				ask := sent.UnixNano()
				if err = c.Send(mpi.One(&ask), 0, tag); err != nil {
					return 0, err
				}
				if _, err = c.Recv(mpi.One(&there), 0, tag); err != nil {
					return 0, err
				}
				if trip := time.Since(sent); trip < best {
					best = trip
					offset = time.Duration(there - sent.UnixNano() - int64(trip)/2)
				}
			}
		}
	}
	return offset, nil
}
