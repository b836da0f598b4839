package fft

import (
	"sync"

	"github.com/weft-hpc/weft/internal/codelet"
)

// smooth transforms one length that is a product of the codelets' radices, pass
// after pass (package codelet). Immutable but for the tables made on demand.
type smooth struct {
	n      int
	set    *codelet.Set
	across schedule // of interleaved pencils
	along  schedule // of single ones
	blocks *blocked // of single long ones; nil for short ones
}

// schedule is the radices of the passes and, for every pass but the last, its twiddle
// factors, forward and inverse. With turned, the factors of the first pass are arranged for
// Turn.
type schedule struct {
	radices []int
	turned  bool
	tables  [2]lazyTables
}

// lazyTables are twiddle factors by pass, made when first needed.
type lazyTables struct {
	once   sync.Once
	passes [][]complex128
	rest   []complex128 // of the points after a turned pass
}

// newSmooth returns nil if n has a prime factor without a codelet.
func newSmooth(n int, set *codelet.Set) *smooth {
	f := newFactors(n)
	if f.of(n) == nil {
		return nil
	}
	s := &smooth{n: n, set: set}
	s.across.radices = f.across(n, set)
	s.along.radices = f.along(n, set)
	if r := s.along.radices; len(r) > 1 {
		s.along.turned = set.CanTurn(r[0]) && n/r[0] >= set.Lanes()
	}
	if s.along.turned {
		s.blocks = newBlocked(n, s.along.radices, set)
	}
	return s
}

// direction is the index of the tables.
func direction(inverse bool) int {
	if inverse {
		return 1
	}
	return 0
}

// tablesOf returns the twiddle factors of a schedule. The factor of step p and leg k of a
// pass of rows is element p (r-1) + k - 1.
func (s *smooth) tablesOf(c *schedule, inverse bool) *lazyTables {
	t := &c.tables[direction(inverse)]
	t.once.Do(func() {
		n := s.n
		for i, r := range c.radices[:max(len(c.radices)-1, 0)] {
			m := n / r
			factor := func(p, k int) complex128 { return rootOf(p*k, r*m, inverse) }
			if i == 0 && c.turned {
				full := m / s.set.Lanes() * s.set.Lanes()
				t.passes = append(t.passes, s.set.TurnTwiddle(r, full, factor))
				t.rest = rowTwiddle(r, m-full, func(p, k int) complex128 { return factor(full+p, k) })
			} else {
				t.passes = append(t.passes, rowTwiddle(r, m, factor))
			}
			n = m
		}
	})
	return t
}

func rowTwiddle(r, m int, factor func(p, k int) complex128) []complex128 {
	w := codelet.Aligned(m * (r - 1))
	for p := range m {
		for k := 1; k < r; k++ {
			w[p*(r-1)+k-1] = factor(p, k)
		}
	}
	return w
}

// rootOf is exp(-2 pi i k / n), or its conjugate.
func rootOf(k, n int, inverse bool) complex128 {
	w := codelet.Root(k, n)
	if inverse {
		return complex(real(w), -imag(w))
	}
	return w
}

// block is where pencils lie: element i of pencil b at data[i*row+b*pencil].
type block struct {
	data        []complex128
	row, pencil int
}

// columns transforms w interleaved pencils (pencil strides of 1) from src to dst, which may
// be the same. width is the length of a row of the scratch memory: w, rounded up to full
// vectors.
func (s *smooth) columns(dst, src block, w, width int, inverse, stream bool, ws *workspace) {
	p := &ws.pass
	p.Inverse, p.Stream = inverse, false
	radices := s.across.radices
	last := len(radices) - 1
	if last < 0 {
		copy(dst.data[:w], src.data[:w]) // one number is its own transform
		return
	}
	one := codelet.Loop{N: 1}
	if last == 0 {
		p.In, p.InLeg, p.Out, p.OutLeg, p.Run = src.data, src.row, dst.data, dst.row, w
		p.Mid, p.Outer, p.Twiddle, p.Stream = one, one, nil, stream
		s.set.Rows(radices[0], p)
		return
	}
	tables := s.tablesOf(&s.across, inverse).passes
	r := radices[0]
	m := s.n / r
	a, b := ws.a, ws.b
	p.In, p.InLeg, p.Out, p.OutLeg, p.Run = src.data, m*src.row, a, width, w
	p.Mid, p.Outer, p.Twiddle = codelet.Loop{N: m, In: src.row, Out: r * width}, one, tables[0]
	s.set.Rows(r, p)
	run := r * width
	for i := 1; i < last; i++ {
		r = radices[i]
		m /= r
		p.In, p.InLeg, p.Out, p.OutLeg, p.Run = a, m*run, b, run, run
		p.Mid, p.Twiddle = codelet.Loop{N: m, In: run, Out: r * run}, tables[i]
		s.set.Rows(r, p)
		a, b = b, a
		run *= r
	}
	p.In, p.InLeg, p.Out, p.Twiddle, p.Stream = a, run, dst.data, nil, stream
	p.OutLeg = run / width * dst.row
	if w == width && dst.row == width {
		p.Run, p.Mid = run, one
	} else {
		p.Run, p.Mid = w, codelet.Loop{N: run / width, In: width, Out: dst.row}
	}
	s.set.Rows(radices[last], p)
}

// pencils transforms count contiguous pencils (row strides of 1) from src to dst,
// which may be the same. Only if along is turned.
func (s *smooth) pencils(dst, src block, count int, inverse bool, ws *workspace) {
	if s.blocks != nil {
		for i := range count {
			s.blocks.transform(dst.data[i*dst.pencil:], src.data[i*src.pencil:], inverse, false, ws)
		}
		return
	}
	p := &ws.pass
	radices := s.along.radices
	last := len(radices) - 1
	r := radices[0]
	m := s.n / r
	a, b := ws.a, ws.b
	one := codelet.Loop{N: 1}
	p.Inverse, p.Stream = inverse, false
	s.turn(src, count, inverse, ws)
	tables := s.tablesOf(&s.along, inverse).passes
	run := r
	for i := 1; i < last; i++ {
		r = radices[i]
		m /= r
		to := block{b, 1, s.n}
		if i == last-1 {
			to = dst // the last pass reads and writes the same places
		}
		p.In, p.InLeg, p.Out, p.OutLeg, p.Run = a, m*run, to.data, run, run
		p.Mid, p.Twiddle = codelet.Loop{N: m, In: run, Out: r * run}, tables[i]
		p.Outer = codelet.Loop{N: count, In: s.n, Out: to.pencil}
		s.set.Rows(r, p)
		a, b = b, a
		run *= r
	}
	from := block{a, 1, s.n}
	if last > 1 {
		from = dst
	}
	p.In, p.InLeg, p.Out, p.OutLeg, p.Run = from.data, run, dst.data, run, run
	p.Mid, p.Outer, p.Twiddle = codelet.Loop{N: count, In: from.pencil, Out: dst.pencil}, one, nil
	s.set.Rows(radices[last], p)
}

// turn does the first pass along single pencils, from src to ws.a.
func (s *smooth) turn(src block, count int, inverse bool, ws *workspace) {
	p := &ws.pass
	t := s.tablesOf(&s.along, inverse)
	r := s.along.radices[0]
	m := s.n / r
	full := m / s.set.Lanes() * s.set.Lanes()
	p.In, p.InLeg, p.Out, p.Run = src.data, m, ws.a, full
	p.Mid, p.Outer, p.Twiddle = codelet.Loop{N: 1}, codelet.Loop{N: count, In: src.pencil, Out: s.n}, t.passes[0]
	s.set.Turn(r, p)
	if full < m {
		p.In, p.Out, p.OutLeg, p.Run = src.data[full:], ws.a[full*r:], 1, 1
		p.Mid, p.Twiddle = codelet.Loop{N: m - full, In: 1, Out: r}, t.rest
		s.set.Rows(r, p)
	}
}

// alone: contiguous pencils have methods of their own.
func (s *smooth) alone() bool { return false }

func (s *smooth) newWorkspace(pencils int) *workspace {
	ws := newWorkspace(s.n * pencils)
	if s.blocks != nil {
		ws.chunk = newWorkspace(s.blocks.chunkScratch())
	}
	return ws
}
