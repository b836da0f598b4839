package fft

import (
	"fmt"

	"github.com/weft-hpc/weft/internal/codelet"
)

// Plan transforms a number of pencils of one length. It is immutable: any number
// of goroutines may use one at the same time, each with its own destinations.
type Plan struct {
	n, count int
	in, out  Layout
	set      *codelet.Set
	line     line
	turned   *smooth // not nil if contiguous pencils need no rearrangement
	width    int     // pencils side by side in the scratch
	group    int     // contiguous pencils per pass
	stream   bool    // the output bypasses the caches
	scratch  workspaces
}

// line transforms interleaved pencils of one length.
type line interface {
	columns(dst, src block, w, width int, inverse, stream bool, ws *workspace)
	// newWorkspace returns scratch memory for a number of pencils.
	newWorkspace(pencils int) *workspace
	// alone reports whether contiguous pencils are faster one by one than interleaved.
	alone() bool
}

// New plans transforms of one contiguous sequence of length n.
//
// Any length will do. Products of primes up to 13 are quick; the other prime factors together
// cost two transforms of about twice their length (Bluestein). Planning computes the tables of one
// direction at its first use, in O(n). Error: n < 1.
func New(n int, opts ...Option) (*Plan, error) {
	return NewMany(n, 1, Contiguous(n), Contiguous(n), opts...)
}

// NewMany plans transforms of count pencils of length n. in is their layout in the input, out
// in the output. Interleaved pencils (Dist 1) and contiguous pencils (Stride 1) are read and
// written in place, others through scratch memory.
//
// Errors: n < 1, count < 1, too many points, a layout in which pencils overlap.
func NewMany(n, count int, in, out Layout, opts ...Option) (*Plan, error) {
	if n < 1 {
		return nil, fmt.Errorf("fft: a transform of length %d: the length must be at least 1", n)
	}
	if count < 1 {
		return nil, fmt.Errorf("fft: a plan for %d transforms: there must be at least 1", count)
	}
	if n > maxPoints/count {
		return nil, fmt.Errorf("fft: %d transforms of length %d: that is more than %d points", count, n, maxPoints)
	}
	if err := in.check("input", n, count); err != nil {
		return nil, err
	}
	if err := out.check("output", n, count); err != nil {
		return nil, err
	}
	o := collect(opts)
	p := &Plan{n: n, count: count, in: in, out: out, set: o.set}
	p.choose()
	if o.stream != nil {
		p.stream = *o.stream && out.Dist == 1
	}
	return p, nil
}

// lineOf returns the transform of pencils of length n.
func lineOf(n int, set *codelet.Set) line {
	if s := newSmooth(n, set); s != nil {
		return s
	}
	if q := rough(n); q < n {
		return newMixed(n, q, set)
	}
	return newBluestein(n, set)
}

// scratchPoints is the desired size of the scratch memory of interleaved pencils: the passes
// then stay in the L1 cache. farPoints is the size if the rows of the input are pages
// apart: then wider pieces of rows are better, and the scratch memory takes a part of the
// L2 cache. A row of it has 8 to 16 numbers, or 16 to 64. Rows are far apart if all rows
// together span more than farSpan.
const (
	scratchPoints = 1 << 10
	farPoints     = 1 << 13
	farSpan       = 1 << 15
)

// chooseWidth chooses the number of pencils to transform together.
func (p *Plan) chooseWidth() {
	noLanes := p.set.Lanes() == 1 && p.in.Dist != 1 && p.out.Dist != 1
	alone := p.in.Stride == 1 && p.out.Stride == 1 && p.line != nil && p.line.alone()
	if p.count == 1 || noLanes || alone {
		p.width = 1
		return
	}
	w := min(max(scratchPoints/p.n, 8), 16)
	if p.in.Dist == 1 && p.n*p.in.Stride >= farSpan {
		w = min(max(farPoints/p.n, 16), 64)
		if p.set.Lanes() == 2 {
			w = min(2*w, 64) // measured; with four lanes it is slower
		}
	}
	const line = 4 // numbers in a cache line, and a multiple of all lanes
	p.width = min(w/line, (p.count+line-1)/line) * line
}

// choose chooses the method, and the scratch memory.
func (p *Plan) choose() {
	if p.set.Model() == nil {
		p.line = lineOf(p.n, p.set)
	}
	p.chooseWidth()
	if p.line == nil { // modelled
		return
	}
	p.stream = p.out.Dist == 1 && p.set.Streams(p.out.span(p.n, p.count))
	p.group = max(1, min(p.count, 1024/p.n))
	around := 0
	s, ok := p.line.(*smooth)
	if ok && s.along.turned && p.in.Stride == 1 && p.out.Stride == 1 {
		p.turned = s
	} else if p.gathers() || p.scatters() {
		around = p.n * p.width
	}
	pencils := p.width
	if p.turned != nil {
		pencils = p.group
	}
	p.scratch.around, p.scratch.make = around, func() *workspace { return p.line.newWorkspace(pencils) }
}

// gathers reports whether pencils must be interleaved first.
func (p *Plan) gathers() bool { return p.width > 1 && p.in.Dist != 1 }

// scatters reports whether the output is made in scratch memory.
func (p *Plan) scatters() bool { return p.width > 1 && p.out.Dist != 1 }

// Len returns the length of a pencil.
func (p *Plan) Len() int { return p.n }

// Count returns the number of pencils.
func (p *Plan) Count() int { return p.count }

// Forward computes dst[k] = sum over j of src[j] exp(-2 pi i j k / n) for every
// pencil. It does not scale, as FFTW does not: forward and inverse multiply by n
// ([Scale]). dst may be src (from its first element) if both layouts are the same;
// otherwise they must not share memory, and src is not changed.
//
// Any goroutine; does not block; allocates nothing once the pool of scratch is warm. Error:
// a slice too short for its layout, or overlapping slices. Cost: see the package
// comment.
func (p *Plan) Forward(dst, src []complex128) error { return p.run(dst, src, false) }

// Inverse computes dst[j] = sum over k of src[k] exp(+2 pi i j k / n) for every
// pencil, without scaling. All else is as in Forward.
func (p *Plan) Inverse(dst, src []complex128) error { return p.run(dst, src, true) }

func (p *Plan) run(dst, src []complex128, inverse bool) error {
	return p.First(p.count, dst, src, inverse)
}

// First transforms only the first count pencils. Slices that start at another pencil select
// any range of pencils, so several goroutines can share the work of a plan. All else is as
// with Forward; a negative count, or one above Count, is an error, too.
func (p *Plan) First(count int, dst, src []complex128, inverse bool) error {
	if count < 0 || count > p.count {
		return fmt.Errorf("fft: the first %d transforms of a plan for %d", count, p.count)
	}
	if err := p.check(count, dst, src); err != nil || count == 0 {
		return err
	}
	p.part(dst, src, count, inverse)
	return nil
}

// part transforms the first count of the pencils.
func (p *Plan) part(dst, src []complex128, count int, inverse bool) {
	if m := p.set.Model(); m != nil {
		m.Transform(p.n, count)
		return
	}
	ws := p.scratch.get()
	if p.turned != nil {
		for b := 0; b < count; b += p.group {
			from, to := block{src[b*p.in.Dist:], 1, p.in.Dist}, block{dst[b*p.out.Dist:], 1, p.out.Dist}
			p.turned.pencils(to, from, min(p.group, count-b), inverse, ws)
		}
	} else {
		for b := 0; b < count; b += p.width {
			p.chunk(dst[b*p.out.Dist:], src[b*p.in.Dist:], min(p.width, count-b), inverse, ws)
		}
	}
	p.scratch.put(ws)
}

// check reports slices that do not fit count pencils of the plan.
func (p *Plan) check(count int, dst, src []complex128) error {
	needIn, needOut := p.in.span(p.n, count), p.out.span(p.n, count)
	if len(src) < needIn {
		return fmt.Errorf("fft: the input has %d numbers: %d transforms of length %d need %d", len(src), count, p.n, needIn)
	}
	if len(dst) < needOut {
		return fmt.Errorf("fft: the output has %d numbers: %d transforms of length %d need %d", len(dst), count, p.n, needOut)
	}
	shared, same := overlap(dst[:needOut], src[:needIn])
	if shared && (!same || p.in != p.out) {
		return fmt.Errorf("fft: input and output share memory: in place they must start together and have the same layout")
	}
	return nil
}

// chunk transforms w pencils, at most width.
func (p *Plan) chunk(dst, src []complex128, w int, inverse bool, ws *workspace) {
	from, to := block{src, p.in.Stride, 1}, block{dst, p.out.Stride, 1}
	if p.gathers() {
		from = block{ws.c, p.width, 1}
		p.gather(src, w, ws)
	}
	if p.scatters() {
		to = block{ws.c, p.width, 1}
	}
	p.line.columns(to, from, w, p.width, inverse, p.stream, ws)
	if p.scatters() {
		p.scatter(dst, w, ws)
	}
}

// gather interleaves w pencils of length n in scratch memory.
func (p *Plan) gather(src []complex128, w int, ws *workspace) {
	if p.in.Stride == 1 && p.in.Dist >= p.n {
		p.set.Transpose(ws.c, p.width, src, p.in.Dist, w, p.n, &ws.pass)
		return
	}
	rearrange(block{ws.c, p.width, 1}, block{src, p.in.Stride, p.in.Dist}, p.n, w)
}

// scatter copies w interleaved pencils to the output.
func (p *Plan) scatter(dst []complex128, w int, ws *workspace) {
	if p.out.Stride == 1 && p.out.Dist >= p.n {
		p.set.Transpose(dst, p.out.Dist, ws.c, p.width, p.n, w, &ws.pass)
		return
	}
	rearrange(block{dst, p.out.Stride, p.out.Dist}, block{ws.c, p.width, 1}, p.n, w)
}

// rearrange copies w pencils of length n one by one.
func rearrange(dst, src block, n, w int) {
	for b := range w {
		d, s := dst.data[b*dst.pencil:], src.data[b*src.pencil:]
		for i := range n {
			d[i*dst.row] = s[i*src.row]
		}
	}
}

// Scale multiplies x by f: by 1/n, it makes an inverse transform undo a forward
// one. Any goroutine.
func Scale(x []complex128, f float64) {
	for i, v := range x {
		x[i] = complex(real(v)*f, imag(v)*f)
	}
}
