package commthread

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// pair is sender and receiver of messages, for their numbers.
type pair struct {
	comm     uint32
	from, to int // in the world; -1 for collective operations
	tag      int
}

// posting is the log's record of a call.
type posting struct {
	ready  time.Duration
	posted time.Duration
	seq    uint64 // for sends and collectives
	order  uint64 // place among the posted calls of this rank
}

// noted is a message of the log.
type noted struct {
	dataflow.Message
	order uint64
}

const (
	maxMessages   = 1 << 20 // of a log
	chunkMessages = 128
)

// messageList is a list of messages in chunks of chunkMessages. A slice that grows would be copied to new memory, whose
// page faults took 1 to 2 ms of the body whose message is recorded.
type messageList [][]noted

func (l *messageList) add(m noted) {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == chunkMessages {
		if (last+1)*chunkMessages >= maxMessages {
			return
		}
		*l = append(*l, make([]noted, 0, chunkMessages))
		last++
	}
	(*l)[last] = append((*l)[last], m)
}

// now returns the time since the start of the log.
func (t *Thread) now() time.Duration {
	if !t.traced {
		return 0
	}
	return time.Duration(osthread.Nanotime() - t.origin)
}

// number numbers a call that is about to be posted. Receives are numbered when the log is
// taken, because the sender of one from any source is known only then.
func (t *Thread) number(k *engine.Call, p *posting) {
	t.postings++
	p.order, p.seq = t.postings, 0
	to := pair{comm: k.Comm.ID(), from: -1, to: -1}
	switch {
	case k.Kind.Sends() && k.Peer >= 0 && k.Peer < k.Comm.Size():
		to.from, to.to, to.tag = k.Comm.World(k.Comm.Rank()), k.Comm.World(k.Peer), k.Tag
	case !k.Kind.Collective():
		return
	}
	t.counts[to]++
	p.seq = t.counts[to]
}

// watch records calls of bodies and of other goroutines in the log. The thread posts them.
func (t *Thread) watch(calls []*engine.Call) {
	if !t.traced {
		return
	}
	var current uint64
	if r := t.port.Current(); r != nil {
		current = r.Seq()
	} else if t.inLease != nil {
		current = t.inLease.rec.Seq()
	}
	now := t.now()
	for _, k := range calls {
		if !k.Kind.Sends() && !k.Kind.Receives() && !k.Kind.Collective() && !k.Kind.OneSided() {
			continue // a probe
		}
		p, next, number := posting{ready: now, posted: now}, k.OnDone, cmp.Or(k.Task, current)
		t.number(k, &p)
		k.OnDone = func(k *engine.Call) {
			k.OnDone = next
			t.mu.Lock()
			t.note(k, number, &p)
			t.mu.Unlock()
			if next != nil {
				next(k)
			}
		}
	}
}

// note records a completed call. One to ProcNull was no message: only the end of its task, if it has
// one, is recorded. The caller holds t.mu.
func (t *Thread) note(k *engine.Call, number uint64, p *posting) {
	nobody := k.Kind.HasPeer() && k.Peer == mpi.ProcNull
	if nobody && number == 0 {
		return
	}
	m := dataflow.Message{
		Task: number, Kind: k.Kind.String(), Comm: k.Comm.ID(), Peer: -1, Seq: p.seq, Bytes: k.Payload(),
		Ready: p.ready, Posted: p.posted, Done: t.now(), Failed: k.Err != nil,
	}
	if nobody {
		m.Kind, m.Bytes, m.Seq = dataflow.NoMessage, 0, 0
	} else if k.Kind.PointToPoint() {
		peer := k.Peer
		m.Tag = k.Tag
		if k.Kind.Receives() && k.Err == nil {
			peer, m.Tag, m.Bytes = k.Status.Source, k.Status.Tag, k.Status.Bytes
		}
		if peer >= 0 && peer < k.Comm.Size() {
			m.Peer = k.Comm.World(peer)
		}
	}
	t.messages.add(noted{m, p.order})
}

// numbered returns the messages in the order in which they were posted, receives with numbers:
// those from one sender with one tag got their messages in that order. The caller holds t.mu.
func (t *Thread) numbered() []noted {
	all := slices.Concat(t.messages...)
	slices.SortFunc(all, func(a, b noted) int { return cmp.Compare(a.order, b.order) })
	counts := map[pair]uint64{}
	for i := range all {
		m := &all[i]
		if strings.HasSuffix(m.Kind, "recv") && !m.Failed && m.Peer >= 0 {
			from := pair{comm: m.Comm, from: m.Peer, tag: m.Tag}
			counts[from]++
			m.Seq = counts[from]
		}
	}
	return all
}

// Log returns the event log of the runtime with the messages of the thread, or nil without
// the option dataflow.Trace: messages of comm tasks, of bodies, and of other goroutines,
// which have no task. The rules of the runtime's Log apply.
func (t *Thread) Log() *dataflow.Log {
	l := t.rt.Log()
	if l != nil {
		t.addMessages(l)
	}
	return l
}

// addMessages adds the messages of the thread, and of which rank they are, to a log.
func (t *Thread) addMessages(l *dataflow.Log) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.Rank, l.Ranks = t.world.Rank(), t.world.Size()
	l.Host, _ = os.Hostname()
	shift := time.Duration(t.origin - t.port.Origin()) // the log may have been reset since
	for _, n := range t.numbered() {
		m := n.Message
		m.Ready, m.Posted, m.Done = m.Ready+shift, m.Posted+shift, m.Done+shift
		if m.Posted >= 0 {
			l.Messages = append(l.Messages, m)
		}
	}
	slices.SortStableFunc(l.Messages, func(a, b dataflow.Message) int { return cmp.Compare(a.Posted, b.Posted) })
}

// GatherLogs returns the logs of all ranks of c on rank 0, ordered by rank, with their
// starts on the clock of rank 0; nil on the others. Collective over c, without a thread
// running on it or from outside of comm tasks.
func GatherLogs(c *mpi.Comm, l *dataflow.Log) ([]*dataflow.Log, error) {
	offset, err := clockOffset(c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	var broken error // returned at the end: the others wait in Gather
	if l != nil {
		mine := *l
		mine.Start = mine.Start.Add(offset)
		if err := gob.NewEncoder(&b).Encode(&mine); err != nil {
			broken = fmt.Errorf("commthread: log of rank %d: %w", c.Rank(), err)
			b.Reset()
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
	if err := c.Gatherv(mpi.Of(b.Bytes()), mpi.Of(all), sizes, displs, 0); err != nil || broken != nil || c.Rank() != 0 {
		return nil, errors.Join(broken, err)
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

// clockOffset returns the difference of rank 0's wall clock to this rank's: 0 on the same
// machine.
func clockOffset(c *mpi.Comm) (time.Duration, error) {
	var mine, first [256]byte
	copy(mine[:], (*engine.Comm)(c).Engine().Host())
	first = mine
	if err := c.Bcast(mpi.One(&first), 0); err != nil {
		return 0, err
	}
	far, all := first != mine, make([]bool, c.Size())
	if err := c.Allgather(mpi.One(&far), mpi.Of(all)); err != nil {
		return 0, err
	}
	return measureOffset(c, all)
}

// measureOffset is clockOffset for the distant ranks: from the fastest of several round
// trips (Cristian's method).
func measureOffset(c *mpi.Comm, far []bool) (offset time.Duration, err error) {
	const rounds, tag = 10, 0
	date := func() int64 { return osthread.Date(osthread.Nanotime()).UnixNano() }
	for r := 1; r < c.Size(); r++ {
		if !far[r] {
			continue
		}
		switch c.Rank() {
		case 0:
			for range rounds {
				var ask int64
				if _, err = c.Recv(mpi.One(&ask), r, tag); err != nil {
					return 0, err
				}
				now := date()
				if err = c.Send(mpi.One(&now), r, tag); err != nil {
					return 0, err
				}
			}
		case r:
			best := int64(math.MaxInt64)
			for range rounds {
				var there int64
				sent := date()
				if err = c.Send(mpi.One(&sent), 0, tag); err != nil {
					return 0, err
				}
				if _, err = c.Recv(mpi.One(&there), 0, tag); err != nil {
					return 0, err
				}
				if trip := date() - sent; trip < best {
					best = trip
					offset = time.Duration(there - sent - trip/2)
				}
			}
		}
	}
	return offset, nil
}
