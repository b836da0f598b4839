package distributed

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// late is what it takes to transform the late groups of Tasks while they arrive
// (demand-driven synchronization: Iancu, Husbands and Hargrove, HUNT, sections 4 and 5).
// A message is then a block: the rows of one group of all planes of a source, ordered not
// by planes but by the ranges of columns that the receiver transforms one after another.
// Each range needs a piece of each block, so it can be transformed when the strips
// that hold these pieces have landed. Blocks lie in an arena, which can make readers
// wait; they are copied from there to their columns, and at the other end from planes.
type late struct {
	arena   *dds.Arena
	end     *dds.Endpoint // nil: messages are plain after all
	in, out []complex128  // of the blocks of one exchange
	before  dds.Counts    // at the last ResetStats
}

// pageLen is a page in elements.
func pageLen() int { return pages.Size() / element }

// pagesOf returns the whole pages that n elements take, in elements.
func pagesOf(n int) int { return (n + pageLen() - 1) / pageLen() * pageLen() }

// openLate makes the memory and the endpoint for blocks, if there can be any.
// Collective.
func (p *Plan) openLate() error {
	if p.cfg.DDS == 0 || p.ct == nil || p.groups[0] == nil || p.cfg.OneSided || p.cfg.Stage > 0 || p.cfg.earlyGroups() == p.cfg.Groups {
		return nil
	}
	err := p.makeLate()
	if err != nil {
		p.revoke(err) // the others wait in Open
		return err
	}
	if p.late.end, err = p.cfg.DDS.Open(p.groups[0], p.late.arena); err != nil || p.late.end == nil || !p.ownCT {
		return err
	}
	if err = p.ct.Attend(p.late.arena); errors.Is(err, dds.ErrNoFaults) {
		return nil
	}
	return err
}

// makeLate makes the arena, with room for the exchange that needs most.
func (p *Plan) makeLate() (err error) {
	in, out := 0, 0
	for _, st := range []*steps{p.forward, p.inverse} {
		for i := range st.passes {
			if x := st.passes[i].after; x != nil && st.late(i) {
				i, o := x.lateLens(p.cfg.earlyGroups())
				in, out = max(in, i), max(out, o)
			}
		}
	}
	l := &late{}
	if l.arena, err = dds.NewArena(element * max(1, in+out)); err != nil {
		return fmt.Errorf("distributed: %w", err)
	}
	p.late = l
	if l.in, err = dds.Make[complex128](l.arena, in); err == nil {
		l.out, err = dds.Make[complex128](l.arena, out)
	}
	return err
}

// late reports whether the exchange after pass i can have late groups that travel as
// blocks: all planes have to be there, and pencils to follow.
func (st *steps) late(i int) bool {
	return st.passes[i].after.crossing && st.passes[i+1].columns != nil
}

// earlyGroups returns how many groups travel with their planes if all are staged.
func (c *Config) earlyGroups() int { return (2*c.Groups + 1) / 3 }

// blockLen returns the elements of a block of group k.
func (x *exchange) blockLen(source, receiver, k int) int {
	_, planes := x.planes(source)
	_, rows := x.group(source, receiver, k)
	return planes * rows * x.cols.n
}

// lateLens returns the memory of all blocks that come, and of all that go.
func (x *exchange) lateLens(early int) (in, out int) {
	for q := range x.size {
		for k := early; k < x.groups && q != x.me; k++ {
			in += pagesOf(x.blockLen(q, x.me, k))
			out += pagesOf(x.blockLen(x.me, q, k))
		}
	}
	return in, out
}

// reserve gives the blocks of a trail their memory, each whole pages.
func (t *trail) reserve(l *late) {
	t.late, t.coming, t.going = l, make([][][]complex128, t.size), make([][][]complex128, t.size)
	in, out := l.in, l.out
	take := func(from *[]complex128, n int) []complex128 {
		block := (*from)[:n:n]
		*from = (*from)[pagesOf(n):]
		return block
	}
	for q := range t.size {
		for k := t.early; k < t.groups && q != t.me; k++ {
			t.coming[q] = append(t.coming[q], take(&in, t.blockLen(q, t.me, k)))
			t.going[q] = append(t.going[q], take(&out, t.blockLen(t.me, q, k)))
		}
	}
}

// receiveBlock spawns the receiving of group k from s.
func (t *trail) receiveBlock(g *graph, s, k int) {
	if block := t.coming[s][k-t.early]; len(block) > 0 {
		g.p.ct.LazyRecv(g.p.rt, t.late.end, mpi.Of(block), s, k, nil)
	}
}

// sendBlock spawns what makes a block of group k of all planes, and sends it to q.
func (t *trail) sendBlock(g *graph, q, k, width int) {
	block := t.going[q][k-t.early]
	_, planes := t.planes(t.me)
	first, count := t.group(t.me, q, k)
	slot := g.p.stage.slot
	from := g.p.stage.mem[t.place(q, first):]
	g.spawn("pack", func(*scratch) { t.pack(block, g.p.stage.mem, slot, q, k) },
		tasks.Reads(tasks.Tile[complex128]{Data: from, Rows: count * width, Cols: planes, LD: slot}), tasks.Writes(block))
	g.p.stats.message(len(block) * element)
	g.p.ct.LazySend(g.p.rt, t.late.end, mpi.Of(block), q, k, nil, tasks.Updates(&t.turns[q][k%lateWindow]))
}

// pack makes a block from planes, slot elements apart: range by range of the receiver's
// columns.
func (t *trail) pack(block, stage []complex128, slot, q, k int) {
	_, planes := t.planes(t.me)
	to, at := 0, t.place(q, 0)
	for _, r := range t.spans(q) {
		if r.part != k {
			continue
		}
		for u := range planes {
			to += copy(block[to:], stage[u*slot+at+r.from:u*slot+at+r.to])
		}
	}
}

// arrives reports whether a range of columns comes in blocks.
func (t *trail) arrives(r span) bool { return t != nil && t.coming != nil && r.part >= t.early }

// blocksOf returns what a range of columns reads: the blocks of its group.
func (t *trail) blocksOf(r span) (cl []tasks.Clause) {
	for s := range t.size {
		if s != t.me && len(t.coming[s][r.part-t.early]) > 0 {
			cl = append(cl, tasks.With(tasks.Lazy(tasks.Input), t.coming[s][r.part-t.early]))
		}
	}
	return cl
}

// unpack copies a range of columns from the blocks of its group, waiting for each piece
// in turn, in the order in which peers send. It returns the ns it has waited.
func (t *trail) unpack(r span) (waited int64) {
	first, _ := t.group(t.me, t.me, r.part)
	at, n := r.from-first*t.cols.n, r.to-r.from
	for i := 1; i < t.size; i++ {
		s := (t.me + t.size - i) % t.size
		start, planes := t.planes(s)
		piece := t.coming[s][r.part-t.early][planes*at:][:planes*n]
		since := osthread.Nanotime()
		dds.Touch(piece)
		waited += osthread.Nanotime() - since
		for u := range planes {
			copy(t.array[(start+u)*t.lead(t.me)+r.from:][:n], piece[u*n:])
		}
	}
	return waited
}

// counts returns what the arena has counted since the last ResetStats.
func (l *late) counts() (c dds.Counts) {
	if l == nil {
		return c
	}
	now := l.arena.Counts()
	return dds.Counts{
		Strips: now.Strips - l.before.Strips, Faults: now.Faults - l.before.Faults, Stalls: now.Stalls - l.before.Stalls,
		Stray: now.Stray - l.before.Stray, Retired: now.Retired - l.before.Retired, Pages: now.Pages - l.before.Pages, Moved: now.Moved - l.before.Moved,
	}
}

// abandon ends the messages of blocks after an error.
func (l *late) abandon(err error) {
	if l != nil && l.end != nil {
		_ = l.end.Abandon(err) // the error is what it is about
	}
}

// closeEnd closes the endpoint. Collective; before the communication thread ends.
func (l *late) closeEnd() error {
	if l == nil || l.end == nil {
		return nil
	}
	return l.end.Close()
}

// closeArena gives the memory back; after the communication thread has ended, which may
// watch it.
func (l *late) closeArena() error {
	if l == nil {
		return nil
	}
	return l.arena.Close()
}
