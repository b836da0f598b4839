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

// lazyBlocks is the memory of blocks: messages that columns read while they arrive
// (demand-driven synchronization: Iancu, Husbands and Hargrove, HUNT, sections 4 and 5).
// A block holds one deferred group of all planes of a source, ordered not by planes but by
// the ranges of columns that the receiver transforms one after another. A range needs a
// piece of each block, so it waits only for the strips that hold these pieces. Blocks lie
// in an arena, which can make readers wait: the sender packs them from its planes, the
// receiver copies them to its columns.
type lazyBlocks struct {
	arena   *dds.Arena
	end     *dds.Endpoint // nil: messages are plain after all
	in, out []complex128  // of the blocks of one exchange
	before  dds.Counts    // at the last ResetStats
}

// pagesOf returns the length of n elements in whole pages, in elements.
func pagesOf(n int) int {
	page := pages.Size() / element
	return (n + page - 1) / page * page
}

// openLazy makes the memory and the endpoint for blocks, if the configuration allows any.
// Collective.
func (p *Plan) openLazy() error {
	if p.cfg.DDS == 0 || p.ct == nil || p.groups[0] == nil || p.cfg.OneSided || p.cfg.Stage > 0 || p.cfg.earlyGroups() == p.cfg.Groups {
		return nil
	}
	err := p.makeLazy()
	if err != nil {
		p.revoke(err) // the others wait in Open
		return err
	}
	if p.lazy.end, err = p.cfg.DDS.Open(p.groups[0], p.lazy.arena); err != nil || p.lazy.end == nil || !p.ownCT {
		return err
	}
	if err = p.ct.Attend(p.lazy.arena); errors.Is(err, dds.ErrNoFaults) {
		return nil
	}
	return err
}

// makeLazy makes the arena, with room for the exchange that needs most.
func (p *Plan) makeLazy() (err error) {
	in, out := 0, 0
	for _, st := range []*steps{p.forward, p.inverse} {
		for i := range st.passes {
			if x := st.passes[i].after; x != nil && st.canBeLazy(i) {
				i, o := x.lazyLens(p.cfg.earlyGroups())
				in, out = max(in, i), max(out, o)
			}
		}
	}
	l := &lazyBlocks{}
	if l.arena, err = dds.NewArena(element * max(1, in+out)); err != nil {
		return fmt.Errorf("distributed: %w", err)
	}
	p.lazy = l
	if l.in, err = dds.Make[complex128](l.arena, in); err == nil {
		l.out, err = dds.Make[complex128](l.arena, out)
	}
	return err
}

// canBeLazy reports whether deferred groups after pass i can travel as blocks: that needs
// planes that are spread over the ranks, and a pass of columns next.
func (st *steps) canBeLazy(i int) bool {
	return st.passes[i].after.distributed && st.passes[i+1].columns != nil
}

// earlyGroups returns how many groups travel with their planes if the stage keeps all.
func (c *Config) earlyGroups() int { return (2*c.Groups + 1) / 3 }

// blockLen returns the elements of a block of group k.
func (x *exchange) blockLen(source, receiver, k int) int {
	_, planes := x.planes(source)
	_, rows := x.group(source, receiver, k)
	return planes * rows * x.cols.n
}

// lazyLens returns the elements of all incoming blocks, and of all outgoing ones.
func (x *exchange) lazyLens(early int) (in, out int) {
	for q := range x.size {
		for k := early; k < x.groups && q != x.me; k++ {
			in += pagesOf(x.blockLen(q, x.me, k))
			out += pagesOf(x.blockLen(x.me, q, k))
		}
	}
	return in, out
}

// reserve gives the blocks of an exchange their memory, each whole pages.
func (t *pipeline) reserve(l *lazyBlocks) {
	t.lazy, t.incoming, t.outgoing = l, make([][][]complex128, t.groups-t.early), make([][][]complex128, t.groups-t.early)
	in, out := l.in, l.out
	take := func(from *[]complex128, n int) []complex128 {
		block := (*from)[:n:n]
		*from = (*from)[pagesOf(n):]
		return block
	}
	for k := range t.incoming {
		t.incoming[k], t.outgoing[k] = make([][]complex128, t.size), make([][]complex128, t.size)
		for q := range t.peers {
			t.incoming[k][q] = take(&in, t.blockLen(q, t.me, t.early+k))
			t.outgoing[k][q] = take(&out, t.blockLen(t.me, q, t.early+k))
		}
	}
}

// receiveBlock spawns the receive of group k from s.
func (t *pipeline) receiveBlock(g *graph, s, k int) {
	if block := t.incoming[k-t.early][s]; len(block) > 0 {
		g.p.ct.LazyRecv(g.p.rt, t.lazy.end, mpi.Of(block), s, k, nil)
	}
}

// sendBlock spawns the packing of group k of all planes into a block, and its send to q.
func (g *graph) sendBlock(t *pipeline, planes tile, q, k int, inOrder tasks.Clause) {
	block := t.outgoing[k-t.early][q]
	packTask.Spawn(g.p.rt, packing{g, t, q, k}, planes, block)
	g.p.stats.message(len(block) * element)
	g.p.ct.LazySend(g.p.rt, t.lazy.end, mpi.Of(block), q, k, nil, inOrder)
}

// packing says what packBlock packs: group k for receiver q.
type packing struct {
	g    *graph
	t    *pipeline
	q, k int
}

// packBlock makes a block, range by range of the receiver's columns. A column of planes
// holds the rows of the group in one plane.
func packBlock(w packing, planes tile, block []complex128) {
	w.g.compute(func(*scratch) {
		first, _ := w.t.group(w.t.me, w.q, w.k)
		skipped := first * w.t.cols.n
		n := 0
		for _, r := range w.t.columnRanges(w.q) {
			for u := 0; r.part == w.k && u < planes.Cols; u++ {
				n += copy(block[n:], planes.Col(u)[r.from-skipped:r.to-skipped])
			}
		}
	})
}

// unpack copies a range of columns from the blocks of its group to the array. It waits for
// each piece in turn, in the order in which peers send, and returns the ns waited.
func (t *pipeline) unpack(r columnRange, blocks [][]complex128) (waited int64) {
	first, _ := t.group(t.me, t.me, r.part)
	at, n := r.from-first*t.cols.n, r.to-r.from
	for i := 1; i < t.size; i++ {
		s := (t.me + t.size - i) % t.size
		start, planes := t.planes(s)
		piece := blocks[s][planes*at:][:planes*n]
		since := osthread.Nanotime()
		dds.Touch(piece)
		waited += osthread.Nanotime() - since
		for u := range planes {
			copy(t.array[(start+u)*t.leadingDim(t.me)+r.from:][:n], piece[u*n:])
		}
	}
	return waited
}

// counts returns the counts of the arena since the last ResetStats.
func (l *lazyBlocks) counts() (c dds.Counts) {
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
func (l *lazyBlocks) abandon(err error) {
	if l != nil && l.end != nil {
		_ = l.end.Abandon(err) // err is the cause, and is reported
	}
}

// closeEnd closes the endpoint. Collective; before the communication thread ends.
func (l *lazyBlocks) closeEnd() error {
	if l == nil || l.end == nil {
		return nil
	}
	return l.end.Close()
}

// closeArena frees the memory, after the communication thread, which may watch it, has
// ended.
func (l *lazyBlocks) closeArena() error {
	if l == nil {
		return nil
	}
	return l.arena.Close()
}
