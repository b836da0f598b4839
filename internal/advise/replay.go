package advise

import (
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Limits of a replay.
const (
	windowTime   = 20e-3 // seconds of the program that a window covers about
	fewestCycles = 8     // occurrences in a window
	mostWindows  = 8     // different ones
)

// replay measures a part by doing what the program did, with the part's chains as written and
// changed: all calls, and as much computation before each as was measured. It reports false on
// all ranks if that cannot be done: then the reason is noted at the chains.
func (s *session) replay(run *Run, p *part) (done bool, err error) {
	mine := s.t.order[p.Index[s.c.Rank()]].sites
	starts := s.t.record.starts(mine)
	windows, err := s.windows(p, starts)
	if err != nil {
		return false, err
	}
	stage, why, err := s.prepare(mine, p, windows)
	if err != nil || why != "" {
		if run != nil {
			for _, i := range p.Chains {
				run.Chains[i].NoReplay = why
			}
		}
		return false, err
	}
	defer stage.free()
	p.share(p.Cycle * float64(p.Passes))
	times, err := s.perform(stage, p, windows)
	if err != nil {
		return false, err
	}
	return true, s.settle(run, p, times)
}

// windows chooses the windows: the same occurrences on all ranks. None if the chain came too seldom,
// or if a pass takes too long.
func (s *session) windows(p *part, starts []int) (all []window, err error) {
	fewest := []int64{int64(len(starts))}
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(fewest), mpi.Min); err != nil {
		return nil, err
	}
	n := int(fewest[0]) - 2 // the first occurrence and the last one are left out
	usual := max(int(windowTime/max(p.Cycle, 1e-7)), fewestCycles)
	p.Passes = min(n, usual, int(p.Budget/(2*fewestPairs*p.Cycle)))
	if p.Passes < 1 {
		return nil, nil
	}
	count := min(n/p.Passes, mostWindows)
	for i := range count {
		at := 1 + i*(n/count)
		all = append(all, window{starts[at], starts[at+p.Passes]})
	}
	return all, nil
}

// prepare finds the windows that can be replayed, and makes what they need. Otherwise it says why,
// on all ranks the same.
func (s *session) prepare(sites []int, p *part, windows []window) (st *stage, why string, err error) {
	verdict := []int64{0, 0, 0} // worst of all ranks: no window, something else, messages do not match
	if len(windows) == 0 {
		verdict[0] = 1
	}
	for _, w := range windows {
		whole, closed, err := s.checks(w)
		if err != nil {
			return nil, "", err
		}
		if !whole {
			verdict[1] = 1
		} else if !closed {
			verdict[2] = 1
		}
	}
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(verdict), mpi.Max); err != nil {
		return nil, "", err
	}
	switch {
	case verdict[0] != 0:
		return nil, "it came too seldom for the time of the measurement", nil
	case verdict[1] != 0:
		return nil, "other calls come between that a replay cannot make", nil
	case verdict[2] != 0:
		return nil, "some of its messages begin or end with another pass", nil
	}
	return s.newStage(sites, p, windows)
}

// checks compares a window with those of the other ranks. All ranks call it.
func (s *session) checks(w window) (whole, closed bool, err error) {
	b := s.t.record.audit(w, s.c.Size())
	theirs := make([]uint64, s.c.Size())
	if err := s.c.Alltoall(mpi.Of(b.sent), mpi.Of(theirs)); err != nil {
		return false, false, err
	}
	bounds := []int64{int64(b.collectives >> 1), -int64(b.collectives >> 1)}
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(bounds), mpi.Max); err != nil {
		return false, false, err
	}
	return b.whole, slices.Equal(theirs, b.received) && bounds[0] == -bounds[1], nil
}

// stage is what a replay needs: the windows as lists of acts, with buffers and communicators.
type stage struct {
	c     *mpi.Comm
	rate  rate
	acts  [][]act   // by window
	ends  []float64 // by window: seconds of computation after the last act
	batch *mpi.Batch
	comms map[uint32]*engine.Comm
}

// free frees the communicators. All ranks call it, in the same order.
func (st *stage) free() {
	for _, id := range slices.Sorted(maps.Keys(st.comms)) {
		if c := (*mpi.Comm)(st.comms[id]); c != nil && c != st.c {
			_ = c.Free()
		}
	}
}

// act is a call of a replay.
type act struct {
	gap         float64 // seconds of computation before it
	call        *prop   // or
	all         *engine.Call
	on          *engine.Comm
	first, last bool // of a batch
}

// newStage makes the acts of all windows.
func (s *session) newStage(sites []int, p *part, windows []window) (*stage, string, error) {
	st := &stage{c: s.c, rate: s.rate}
	a, err := s.agreeOn()
	if err != nil {
		return nil, "", err
	}
	comms, err := s.communicators(a.Groups)
	if err != nil {
		return nil, "", err
	}
	st.comms = comms
	me := s.c.Rank()
	batches := make([]int, len(sites))
	for i, k := range p.At[me] {
		batches[i] = p.Batches[me][k]
	}
	b := &builder{record: s.t.record, tags: a.Tags, comms: comms, props: map[propKey]*prop{}, calls: map[int32]*engine.Call{}}
	for _, w := range windows {
		st.acts = append(st.acts, b.acts(w, sites, batches))
		st.ends = append(st.ends, float64(s.t.record.events[w.to].gap)/1e9)
	}
	why := []int64{0}
	if b.scratch > mostScratch {
		why[0] = 1
	}
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(why), mpi.Max); err != nil {
		return nil, "", err
	}
	if why[0] != 0 {
		st.free()
		return nil, fmt.Sprintf("its buffers take more than %d MB", mostScratch>>20), nil
	}
	b.fill()
	return st, "", nil
}

// agreement is what all ranks must have in common for a replay.
type agreement struct {
	Tags   [][2]int         // communicator and tag of the program; the tag of the replay is the index
	Groups map[uint32][]int // ranks of a communicator
}

// agreeOn collects the tags and communicators of all ranks.
func (s *session) agreeOn() (*agreement, error) {
	mine := &agreement{Groups: map[uint32][]int{}}
	for i := range s.t.record.calls {
		x := &s.t.record.calls[i]
		for _, m := range x.messages[:x.n] {
			mine.addTag([2]int{m.Comm, m.Tag})
		}
	}
	for _, g := range s.t.record.groups {
		mine.Groups[g.id] = g.members
	}
	all, err := collect(s.c, mine)
	if err != nil {
		return nil, err
	}
	together := &agreement{Groups: map[uint32][]int{}}
	for _, x := range all {
		for _, k := range x.Tags {
			together.addTag(k)
		}
		maps.Copy(together.Groups, x.Groups)
	}
	return together, broadcast(s.c, together)
}

func (a *agreement) addTag(k [2]int) {
	if !slices.Contains(a.Tags, k) {
		a.Tags = append(a.Tags, k)
	}
}

// communicators makes communicators with the ranks of the program's. nil for those that this rank
// is not in.
func (s *session) communicators(groups map[uint32][]int) (map[uint32]*engine.Comm, error) {
	all := map[uint32]*engine.Comm{}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		members := groups[id]
		if slices.Equal(members, identity(s.c.Size())) {
			all[id] = (*engine.Comm)(s.c)
			continue
		}
		color, key := mpi.Undefined, slices.Index(members, s.c.Rank())
		if key >= 0 {
			color = 0
		}
		c, err := s.c.Split(color, max(key, 0))
		if err != nil {
			return nil, err
		}
		all[id] = (*engine.Comm)(c)
	}
	return all, nil
}

// builder makes acts. The same message at the same place of an occurrence has the same buffer,
// and no two of an occurrence share one.
type builder struct {
	record  *recording
	tags    [][2]int
	comms   map[uint32]*engine.Comm
	props   map[propKey]*prop
	calls   map[int32]*engine.Call
	scratch int // bytes
}

type propKey struct {
	call   int32
	before int // how often the occurrence had this call already
}

// acts makes the acts of a window. Calls at the sites, one after another, are an occurrence of the
// chain, and are in these batches.
func (b *builder) acts(w window, sites, batches []int) (all []act) {
	before := map[int32]int{}
	begin, end := w.from, w.from // of the last occurrence
	for i, e := range b.record.events[w.from:w.to] {
		i += w.from
		a := act{gap: float64(e.gap) / 1e9}
		if i >= end {
			clear(before)
			if i+len(sites) <= w.to && b.record.at(i, sites) {
				begin, end = i, i+len(sites)
			}
		}
		if k := i - begin; i < end {
			a.first = k == 0 || batches[k] != batches[k-1]
			a.last = i == end-1 || batches[k] != batches[k+1]
		}
		if e.call < 0 {
			a.all, a.on = b.collective(^e.call)
		} else {
			a.call = b.prop(propKey{e.call, before[e.call]})
			before[e.call]++
		}
		all = append(all, a)
	}
	all[0].gap = 0
	return all
}

func (b *builder) prop(k propKey) *prop {
	if p := b.props[k]; p != nil {
		return p
	}
	p := &prop{}
	x := &b.record.calls[k.call]
	for i := range x.n {
		m := x.messages[i]
		m.Tag = slices.Index(b.tags, [2]int{m.Comm, m.Tag})
		b.scratch += m.span()
		if m.Recv {
			p.recv = &m
		} else {
			p.send = &m
		}
	}
	b.props[k] = p
	return p
}

// collective makes a call with the arguments of one of the recording.
func (b *builder) collective(i int32) (*engine.Call, *engine.Comm) {
	x := &b.record.collectives[i]
	on := b.comms[b.record.groups[x.group].id]
	if k := b.calls[i]; k != nil {
		return k, on
	}
	k := &engine.Call{Kind: x.kind, Peer: x.root, Op: x.op, Send: x.send, Recv: x.recv,
		SendCounts: x.counts[0], SendDispls: x.displs[0], RecvCounts: x.counts[1], RecvDispls: x.displs[1]}
	b.scratch += x.span(x.send, 0) + x.span(x.recv, 1)
	b.calls[i] = k
	return k, on
}

// span returns the bytes of a buffer, gaps included; which is 0 for the sent one, 1 for the other.
func (x *collective) span(b engine.Buffer, which int) int {
	if b.IsInPlace() {
		return 0
	}
	blocks, block, stride := b.Layout()
	n := max((blocks-1)*stride+block, 0)
	for i, count := range x.counts[which] {
		at := 0
		if len(x.displs[which]) > 0 {
			at = x.displs[which][i]
		}
		n = max(n, at+count)
	}
	return n * b.ElemSize()
}

// fill gives all calls their memory, in pages of their own as the program's.
func (b *builder) fill() {
	memory := func(n int) []byte {
		m := make([]byte, n)
		for i := range m {
			m[i] = 0
		}
		return m
	}
	for _, p := range b.props {
		if m := p.send; m != nil {
			p.out = mpi.Strided(memory(m.span()), m.Blocks, m.Block, m.Stride)
		}
		if m := p.recv; m != nil {
			p.in = mpi.Strided(memory(m.span()), m.Blocks, m.Block, m.Stride)
		}
	}
	for i, k := range b.calls {
		x := &b.record.collectives[i]
		if n := x.span(x.send, 0); n > 0 {
			k.Send = k.Send.At(unsafe.Pointer(&memory(n)[0]))
		}
		if n := x.span(x.recv, 1); n > 0 {
			k.Recv = k.Recv.At(unsafe.Pointer(&memory(n)[0]))
		}
	}
}

// perform goes through the windows in turn, each in both forms (ABBA), and returns the seconds of
// this rank, by form and block.
func (s *session) perform(st *stage, p *part, windows []window) (times [2][]float64, err error) {
	if err := st.tune(); err != nil {
		return times, err
	}
	for block := range 2 * p.Pairs {
		form := (block + 1) / 2 % 2
		w := block / 2 % len(windows)
		if err := s.c.Barrier(); err != nil {
			return times, err
		}
		start := osthread.Nanotime()
		if err := st.run(w, form == 1); err != nil {
			return times, err
		}
		times[form] = append(times[form], seconds(osthread.Nanotime()-start))
	}
	return times, nil
}

// tune goes through the first window in both forms, and corrects the rate of the computation: the
// ranks share cores and caches, as when the computation was measured.
func (st *stage) tune() error {
	asked, took := 0.0, int64(0)
	for _, changed := range []bool{false, true} {
		for i := range st.acts[0] {
			a := &st.acts[0][i]
			start := osthread.Nanotime()
			st.rate.spend(a.gap)
			took += osthread.Nanotime() - start
			asked += a.gap
			if err := st.act(a, changed); err != nil {
				return err
			}
		}
	}
	if took > 0 && asked > 0 {
		st.rate *= rate(min(max(asked/seconds(took), 0.5), 1))
	}
	return nil
}

// run goes through a window.
func (st *stage) run(w int, changed bool) error {
	for i := range st.acts[w] {
		a := &st.acts[w][i]
		st.rate.spend(a.gap)
		if err := st.act(a, changed); err != nil {
			return err
		}
	}
	st.rate.spend(st.ends[w])
	return nil
}

func (st *stage) act(a *act, changed bool) error {
	switch {
	case a.all != nil:
		a.all.Rearm()
		_, err := a.on.Do(a.all)
		return err
	case !changed || st.batch == nil && !a.first:
		return a.call.written(st.c)
	}
	if a.first {
		st.batch = &mpi.Batch{}
	}
	a.call.start(st.c, st.batch)
	if !a.last {
		return nil
	}
	err := st.batch.Wait()
	st.batch = nil
	return err
}

// settle puts the times of all ranks into the run, by occurrence.
func (s *session) settle(run *Run, p *part, times [2][]float64) error {
	sums := slices.Concat(times[0], times[1])
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(sums), mpi.Sum); err != nil {
		return err
	}
	for i := range sums {
		sums[i] /= float64(s.c.Size() * p.Passes)
	}
	if run == nil {
		return nil
	}
	for _, i := range p.Chains {
		run.Chains[i].tried(p, &Trial{Written: sums[:p.Pairs:p.Pairs], Fixed: sums[p.Pairs:], Passes: p.Passes, Replayed: true})
	}
	return nil
}
