package fft

import "github.com/weft-hpc/weft/internal/codelet"

// blocked transforms one long contiguous pencil in two sweeps over memory, each of several
// passes in the cache, instead of one sweep for each pass. (D. H. Bailey, "FFTs in external
// or hierarchical memory", 1990; here without transpositions.)
//
// The first passes have the radices head, whose product is lead. They take a few
// neighbouring positions p below n/lead at a time, with all the elements p + n/lead j of the
// pencil, and leave lead interleaved pencils of length n/lead; the second sweep transforms
// these, a few at a time.
type blocked struct {
	n, lead int
	set     *codelet.Set
	head    []int
	tail    *smooth
	wide    int // positions at a time in the first sweep
	width   int // pencils at a time in the second
	tables  [2]lazyTables
}

// blockPoints is the desired size of the scratch memory of a sweep: with what it is read from
// and written to, it stays in the L2 cache. A row of it has 8 to 32 numbers.
const blockPoints = 1 << 14

func rowOf(length int) int { return min(max(blockPoints/length/4*4, 8), 32) }

// newBlocked returns nil if a pencil of length n has no two good factors, or is not worth
// the trouble: radices are those of a sweep for each pass.
func newBlocked(n int, radices []int, set *codelet.Set) *blocked {
	if !conflicts(n, radices, set.Lanes() == 2) {
		return nil
	}
	return halved(n, set)
}

// halved returns nil if n has no two good factors.
func halved(n int, set *codelet.Set) *blocked {
	f := blockedFactors(n, set)
	lead := f.half(n, set)
	if lead == 0 {
		return nil
	}
	b := &blocked{n: n, lead: lead, set: set, head: f.of(lead), tail: &smooth{n: n / lead, set: set}}
	b.tail.across.radices = f.across(n/lead, set)
	b.wide, b.width = rowOf(lead), rowOf(b.tail.n)
	return b
}

// conflicts reports whether passes along a whole pencil are slow: the first or the last one
// has more legs than a set of a cache has ways, a power of two apart. With two lanes,
// passes along a pencil that the L2 cache does not hold are slow, too.
func conflicts(n int, radices []int, narrow bool) bool {
	const far, ways, large = 256, 12, 1 << 17
	if narrow && n >= large {
		return true
	}
	for _, r := range []int{radices[0], radices[len(radices)-1]} {
		if r > ways && n > far*ways && n/r%far == 0 {
			return true
		}
	}
	return false
}

// chunkScratch is the length of the scratch memory of a chunk.
func (b *blocked) chunkScratch() int { return max(b.lead*b.wide, b.n/b.lead*b.width) }

// tablesOf returns the twiddle factors of the passes of the first sweep. Those of the first
// pass are arranged for Turn, position by position of the second sweep; rest has those of the
// positions after the last full vector.
func (b *blocked) tablesOf(inverse bool) *lazyTables {
	t := &b.tables[direction(inverse)]
	t.once.Do(func() {
		n, m := b.n, b.n/b.lead
		for i, r := range b.head {
			factor := func(p, k int) complex128 { return rootOf(p*k, n, inverse) }
			if i == 0 {
				full, groups := m/b.set.Lanes()*b.set.Lanes(), b.lead/r
				at := func(p, k int) complex128 { return factor(p/full*m+p%full, k) }
				t.passes = append(t.passes, b.set.TurnTwiddle(r, groups*full, at))
				left := m - full
				t.rest = rowTwiddle(r, groups*left, func(p, k int) complex128 { return factor(p/left*m+full+p%left, k) })
			} else {
				t.passes = append(t.passes, rowTwiddle(r, n/r, factor))
			}
			n /= r
		}
	})
	return t
}

// transform transforms one contiguous pencil from src to dst, which may be the same.
func (b *blocked) transform(dst, src []complex128, inverse, stream bool, ws *workspace) {
	between := dst
	if &dst[0] == &src[0] {
		between = ws.a
	}
	t, m := b.tablesOf(inverse), b.n/b.lead
	ws.chunk.pass.Inverse, ws.chunk.pass.Stream = inverse, false
	for p := 0; p < m; p += b.wide {
		b.first(between, src, p, min(b.wide, m-p), t, ws.chunk)
	}
	for q := 0; q < b.lead; q += b.width {
		from, to := block{between[q:], b.lead, 1}, block{dst[q:], b.lead, 1}
		b.tail.columns(to, from, min(b.width, b.lead-q), b.width, inverse, stream, ws.chunk)
	}
}

// first does the first sweep for w positions from p0.
func (b *blocked) first(dst, src []complex128, p0, w int, t *lazyTables, ws *workspace) {
	m, last := b.n/b.lead, len(b.head)-1
	from, to := ws.a, ws.b
	if last == 0 {
		from = dst[p0*b.lead:]
	}
	b.turn(from, src, p0, w, t, &ws.pass)
	p := &ws.pass
	run := b.head[0]
	for i := 1; i <= last; i++ {
		r := b.head[i]
		if i == last {
			to = dst[p0*b.lead:]
		}
		groups := b.lead / (run * r)
		p.InLeg, p.OutLeg, p.Run = run*w*groups, run, run
		p.Mid, p.Outer = codelet.Loop{N: w, In: run, Out: run * r}, codelet.Loop{N: 1}
		for j := range groups {
			p.In, p.Out, p.Twiddle = from[run*w*j:], to[run*r*w*j:], t.passes[i][(p0+m*j)*(r-1):]
			b.set.Rows(r, p)
		}
		from, to = to, from
		run *= r
	}
}

// turn does the first pass for w positions from p0.
func (b *blocked) turn(dst, src []complex128, p0, w int, t *lazyTables, p *codelet.Pass) {
	r, m := b.head[0], b.n/b.lead
	full := m / b.set.Lanes() * b.set.Lanes()
	some := min(w, full-p0)
	left := w - some
	p.InLeg, p.Outer = b.n/r, codelet.Loop{N: 1}
	for j := range b.lead / r {
		if some > 0 {
			p.In, p.Out, p.Run = src[p0+m*j:], dst[w*r*j:], some
			p.Mid, p.Twiddle = codelet.Loop{N: 1}, t.passes[0][(full*j+p0)*(r-1):]
			b.set.Turn(r, p)
		}
		if left > 0 {
			p.In, p.Out, p.OutLeg, p.Run = src[p0+some+m*j:], dst[(w*j+some)*r:], 1, 1
			p.Mid, p.Twiddle = codelet.Loop{N: left, In: 1, Out: r}, t.rest[left*j*(r-1):]
			b.set.Rows(r, p)
		}
	}
}
