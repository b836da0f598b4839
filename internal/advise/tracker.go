package advise

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// farApart is the computation between two calls that makes them unrelated, in
// nanoseconds: half the cost of a short message over a network of 1 Gbit/s.
const farApart = 20_000

// endAgain is the reason of a chain that ended because its first call came again.
const endAgain = "the same call again"

// noted is a call of the program that waits for its messages.
type noted struct {
	site       int
	open       bool // a Sendrecv that may go on: more requests, or the wait
	sends      bool
	start, end int64 // inside the engine below
	calls      [2]*engine.Call
	buffers    [2]engine.Buffer // as the program gave them
	armed      [2]bool
	requests   [2]wish
	n          int  // of the three above
	clash      bool // overlaps a request of the chain so far
	free       bool // overlaps none of the chain before, which ended by an overlap

	gap               int64  // computation before it
	source, tag, came [2]int // of the received messages: what they were in the end
}

// wish is a request of a noted call.
type wish struct {
	Message
	cells engine.Cells
}

// tracker follows the calls of one rank and makes chains of them. It belongs to the
// goroutine that is inside the engine.
type tracker struct {
	rank    int
	places  *places
	verify  *verifier
	record  *recording
	watch   Watch
	cur     noted
	have    bool // cur is a call, and not yet part of the chain
	chain   []noted
	stats   map[string]*chainStats
	order   []*chainStats
	prior   []noted     // the chain before, if it ended by an overlap
	last    *chainStats // the chain before
	lastAt  int64       // when it ended
	nearest map[[2]int]int64
	cycle   map[int]int // by site: the one at which the chain with it began when it first came round
	apart   int64       // farApart, but for tests
	seed    maphash.Seed

	idle        int64            // since when the program computes
	chainTool   int64            // tool time since the chain began
	before      int64            // computation before the chain
	lastEnd     int64            // of the communication before
	tool        int64            // nanoseconds spent in the tool
	inside      int64            // nanoseconds in calls
	collectives map[int]*Summary // by site
	waits       int64            // for requests that the program started
	messages    int
	threadCalls int
	heap        int
	touchedAt   atomic.Int64 // first touch of a received buffer of the chain, 0: none
	touchPlace  atomic.Pointer[string]
	disarms     []func()
	touches     map[[2]int]bool // between two sites, when last looked at
	needed      int             // call of the chain that ends, -1: not known
	ended       int             // chains
	looks       bool            // the buffers of this chain are watched: the first chains, and a sample of the others
}

func newTracker(c *mpi.Comm, w Watch) *tracker {
	t := &tracker{rank: c.Rank(), places: newPlaces(), record: newRecording(c.Rank(), c.Size()), watch: w, stats: map[string]*chainStats{}, nearest: map[[2]int]int64{}, cycle: map[int]int{}, needed: none, touches: map[[2]int]bool{}, collectives: map[int]*Summary{}, apart: farApart, seed: maphash.MakeSeed()}
	t.verify = newVerifier(t)
	return t
}

// waits reports whether calls at the site return when their messages have arrived.
func (p *places) waits(site int) bool {
	return p.sites[site].API == "Sendrecv" || p.sites[site].API == "SendrecvReplace"
}

// enter notes a request of a call at site. The send of a Sendrecv follows its receive.
func (t *tracker) enter(site int, c *engine.Call, now int64) {
	if !(t.have && t.cur.open && t.cur.site == site && !t.cur.sends && c.Kind.Sends()) {
		t.commit()
		if reason := t.unrelated(site, now); reason != "" {
			t.close(reason, site)
		}
		if len(t.chain) == 0 {
			t.before = now - t.lastEnd
			t.chainTool = 0
			t.looks = t.watch != nil && (t.ended < closely || t.ended%sometimes == 0)
		}
		t.cur = noted{site: site, open: true, gap: now - t.idle}
		t.have = true
	}
	cur := &t.cur
	t.messages++
	w := t.wish(c)
	w.Call = len(t.chain)
	cur.sends = cur.sends || !w.Recv
	cur.clash = cur.clash || clashes(t.chain, &w)
	cur.calls[cur.n], cur.requests[cur.n] = c, w
	cur.buffers[cur.n] = c.Recv
	t.show(c)
	cur.n++
	if t.watch == nil {
		t.heap++
	}
	t.verify.against(w.cells, w.Recv, site)
}

// goesOn reports whether c is the send of the Sendrecv whose receive came last. It needs no
// stack: until this receive has completed, the program is inside the call.
func (t *tracker) goesOn(c *engine.Call) bool {
	return t.have && t.cur.open && t.cur.n == 1 && !t.cur.sends && c.Kind.Sends() && !t.cur.calls[0].Done()
}

// clashes reports whether w shares a cell with a request of the chain, and at least one of
// both receives.
func clashes(chain []noted, w *wish) bool {
	for i := range chain {
		for j := range chain[i].n {
			o := &chain[i].requests[j]
			if (w.Recv || o.Recv) && w.cells.Overlap(o.cells) {
				return true
			}
		}
	}
	return false
}

// onlyClash returns the call of the chain that c clashes with; none if it clashes with several.
func onlyClash(chain []noted, c *noted) int {
	only := none
	for i := range chain {
		for j := range c.n {
			if !clashes(chain[i:i+1], &c.requests[j]) {
				continue
			}
			if only != none && only != i {
				return none
			}
			only = i
		}
	}
	return only
}

// wish describes a call of the engine as a request.
func (t *tracker) wish(c *engine.Call) wish {
	b := c.Send
	if c.Kind.Receives() {
		b = c.Recv
	}
	blocks, block, stride := b.Layout()
	peer := c.Peer
	if peer >= 0 {
		peer = c.Comm.World(peer)
	}
	return wish{Message: Message{Recv: c.Kind.Receives(), Sync: c.Kind == engine.CallSsend, Peer: peer, Tag: c.Tag, Comm: int(c.Comm.ID()),
		Blocks: blocks, Block: block * b.ElemSize(), Stride: stride * b.ElemSize()}, cells: engine.CellsOf(b)}
}

// unrelated returns the reason for which a call at site does not belong to the chain so far;
// "" if it does.
func (t *tracker) unrelated(site int, now int64) string {
	if len(t.chain) == 0 {
		return ""
	}
	last := &t.chain[len(t.chain)-1]
	pair := [2]int{last.site, site}
	if t.touchesBetween(pair) {
		return "first touch"
	}
	mixed := false
	for i := range t.chain {
		mixed = mixed || t.chain[i].site != t.chain[0].site
	}
	if mixed && site == t.chain[0].site {
		t.learnCycle()
		return endAgain
	}
	if start, known := t.cycle[t.chain[0].site]; known && site == start {
		return endAgain // an interruption has ended the chain before too early: here it begins again
	}
	gap := now - last.end
	if known, seen := t.nearest[pair]; !seen || gap < known {
		t.nearest[pair] = gap
	}
	if t.nearest[pair] > t.apart {
		return "computation"
	}
	return ""
}

// learnCycle notes where the present chain, which has come round, begins.
func (t *tracker) learnCycle() {
	for i := range t.chain {
		if _, known := t.cycle[t.chain[i].site]; !known {
			t.cycle[t.chain[i].site] = t.chain[0].site
		}
	}
}

// touchesBetween reports whether received buffers of the chain were touched between two
// calls. Without a look in this occurrence, the last look counts.
func (t *tracker) touchesBetween(pair [2]int) bool {
	if !t.looks {
		return t.touches[pair]
	}
	t.poll()
	touched := t.touchedAt.Load() != 0
	if touched || t.touches[pair] {
		t.touches[pair] = touched
	}
	return touched
}

// owns reports whether a wait belongs to the present Sendrecv.
func (t *tracker) owns(calls []*engine.Call) bool {
	if !t.have || !t.cur.open || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		if c != t.cur.calls[0] && c != t.cur.calls[1] {
			return false
		}
	}
	return true
}

// left notes that a call was inside the engine from before to after; the tool had it
// from start.
func (t *tracker) left(start, before, after int64) {
	cur := &t.cur
	if cur.start == 0 {
		cur.start = before
		t.chainTool -= before - start // before the chain, or the gap, begins
	}
	cur.end = after
	t.lastEnd = after
	t.inside += after - before
	cur.learn()
	t.arm(cur)
	t.idle = osthread.Nanotime()
	spent := before - start + t.idle - after
	t.tool += spent
	t.chainTool += spent
}

// learn keeps what the results of received messages say: their calls may be used again soon.
func (cur *noted) learn() {
	for i, c := range cur.calls[:cur.n] {
		if c.Kind.Receives() && c.Done() {
			cur.source[i], cur.tag[i], cur.came[i] = c.Status.Source, c.Status.Tag, c.Status.Bytes
			if cur.source[i] >= 0 {
				cur.source[i] = c.Comm.World(cur.source[i])
			}
		}
	}
}

// poll hears of touches.
func (t *tracker) poll() {
	if t.watch != nil {
		t.watch.Poll()
	}
}

// view returns the buffer for the engine in place of the program's: see [Watch].
func (t *tracker) view(b engine.Buffer) engine.Buffer {
	if t.watch == nil || b.Bytes() == 0 || b.IsInPlace() {
		return b
	}
	return t.watch.View(b)
}

// show gives a call's buffers to the engine by the addresses that are no touch.
func (t *tracker) show(c *engine.Call) {
	if t.watch != nil {
		c.Send, c.Recv = t.view(c.Send), t.view(c.Recv)
	}
}

// arm watches the received buffers of a completed call, and counts the others.
func (t *tracker) arm(cur *noted) {
	if !t.looks {
		return
	}
	for i, c := range cur.calls[:cur.n] {
		if cur.armed[i] || !c.Done() || !c.Kind.Receives() {
			continue
		}
		cur.armed[i] = true
		disarm, ok := arm(t.watch, cur.buffers[i], false, func(place string, at int64) {
			t.touchPlace.CompareAndSwap(nil, &place)
			t.touchedAt.CompareAndSwap(0, at)
		})
		if !ok {
			t.heap++
			continue
		}
		t.disarms = append(t.disarms, disarm)
	}
}

// commit makes the present call part of the chain; if it clashes with a request of it, the
// chain ends before.
func (t *tracker) commit() {
	if !t.have {
		return
	}
	t.have = false
	if t.cur.clash {
		t.needed = onlyClash(t.chain, &t.cur)
		prior := append(t.prior[:0], t.chain...)
		t.close(EndOverlap, t.cur.site)
		t.prior = prior
		for i := range t.cur.requests {
			t.cur.requests[i].Call = 0
		}
		t.before = 0
		t.chainTool = 0
	}
	t.cur.calls = [2]*engine.Call{} // they are the program's
	t.record.add(&t.cur)
	if t.cur.free = len(t.prior) > 0; t.cur.free {
		for i := range t.cur.n {
			t.cur.free = t.cur.free && !clashes(t.prior, &t.cur.requests[i])
		}
	}
	t.chain = append(t.chain, t.cur)
}

// interrupted notes a call that is in no chain: it ends the present one.
func (t *tracker) interrupted(c *engine.Call, start int64) {
	t.commit()
	if len(t.chain) > 0 {
		reason := c.Kind.String()
		if messages(c.Kind) {
			reason = "non-blocking " + reason
		}
		t.close(reason, -1)
	}
	if c.Kind.Collective() && c.Recv.Bytes() > 0 && !c.Recv.IsInPlace() {
		t.verify.against(engine.CellsOf(c.Recv), true, -1)
	}
	t.cur.gap = start - t.idle
	t.tool += osthread.Nanotime() - start
}

// resumed notes the return of such a call, which was inside the engine from before.
func (t *tracker) resumed(c *engine.Call, before int64) {
	t.lastEnd = osthread.Nanotime()
	t.idle = t.lastEnd
	t.inside += t.lastEnd - before
	if !c.Kind.Collective() || ofThread(c) {
		t.record.other()
		return
	}
	site := t.places.here(1)
	if t.collectives[site] == nil {
		t.collectives[site] = &Summary{}
	}
	t.collectives[site].Add(seconds(t.lastEnd - before))
	t.record.collective(c, site, t.cur.gap)
	t.idle = osthread.Nanotime()
	t.tool += t.idle - t.lastEnd
}

// end is called after the body.
func (t *tracker) end() {
	t.commit()
	t.close("end", -1)
}
