package main

import (
	"math"
	"slices"
	"strconv"
)

// value is a vector of complex numbers that a program computes, once.
type value int

// opKind is the kind of an instruction of a program.
type opKind int

const (
	load       opKind = iota // dst = leg k of the input
	store                    // leg k of the output = a
	storeAt                  // the output at byte k = a
	add                      // dst = a + b
	sub                      // dst = a - b
	swap                     // dst = a with real and imaginary parts exchanged
	mul                      // dst = a * constant k
	fma                      // dst = b + a * constant k
	fnma                     // dst = b - a * constant k
	mulIm                    // dst = a * imaginary part of twiddle factor k
	fmaddsubRe               // dst = a * real part of twiddle factor k, minus b in real and plus b in imaginary parts
	shuffle                  // dst = blocks of a and b, as k says
)

type op struct {
	kind      opKind
	dst, a, b value
	k         int
}

const none value = -1

// program is straight-line code on vectors. Values are numbered as they are made.
type program struct {
	ops     []op
	values  int
	consts  *constants
	chains  []chain
	chained int // instructions before this one are in the transform or a chain
}

// chain is the code that follows some results of a transform.
type chain struct {
	needs []value
	ops   []op
}

// chain makes the instructions since the last chain, or since the transform, one.
func (p *program) chain(needs []value) {
	p.chains = append(p.chains, chain{slices.Clone(needs), slices.Clone(p.ops[p.chained:])})
	p.chained = len(p.ops)
}

// schedule shortens the lives of values: loads move down to their first use, and
// chains up to the point where their inputs are known. Every result depends on every leg,
// so all loads stay before all stores: a butterfly may work in place.
func (p *program) schedule(core int) {
	loads, known := map[value]op{}, map[value]bool{}
	old := p.ops
	p.ops = nil
	for _, o := range old[:core] {
		if o.kind == load {
			loads[o.dst] = o
			continue
		}
		for _, v := range []value{o.a, o.b} {
			if l, ok := loads[v]; ok {
				p.ops = append(p.ops, l)
				delete(loads, v)
			}
		}
		p.ops = append(p.ops, o)
		known[o.dst] = true
		p.release(known)
	}
}

// release schedules the chains that have become possible.
func (p *program) release(known map[value]bool) {
	for i := range p.chains {
		c := &p.chains[i]
		ready := c.ops != nil
		for _, v := range c.needs {
			ready = ready && known[v]
		}
		if ready {
			p.ops = append(p.ops, c.ops...)
			c.ops = nil
		}
	}
}

func (p *program) emit(kind opKind, a, b value, k int) value {
	dst := value(p.values)
	if kind == store || kind == storeAt {
		dst = none
	} else {
		p.values++
	}
	p.ops = append(p.ops, op{kind, dst, a, b, k})
	return dst
}

// constant is a vector that is the same in every lane: (c, c), or turned, (-c, c)
// up to the sign of the direction: what swap is multiplied with to multiply by i c.
type constant struct {
	text   string // of c
	turned bool
}

// constants numbers the constants of all programs.
type constants struct {
	list  []constant
	index map[constant]int
}

func (c *constants) of(x float64, turned bool) int {
	k := constant{strconv.FormatFloat(x, 'g', 17, 64), turned}
	i, ok := c.index[k]
	if !ok {
		i = len(c.list)
		c.list = append(c.list, k)
		c.index[k] = i
	}
	return i
}

// term is a value that still has to be multiplied: by scale, and quarters times
// by w4, the fourth root of unity of the direction (-i forward, i inverse).
// Additions do that on the way, as one fused operation.
type term struct {
	v        value
	quarters int
	scale    float64
}

func plain(v value) term { return term{v, 0, 1} }

// settle returns the value of a term.
func (p *program) settle(t term) value {
	if t.quarters == 0 && t.scale == 1 {
		return t.v
	}
	scale := t.scale
	if t.quarters >= 2 {
		scale = -scale
	}
	if t.quarters%2 == 1 {
		return p.emit(mul, p.emit(swap, t.v, none, 0), none, p.consts.of(scale, true))
	}
	return p.emit(mul, t.v, none, p.consts.of(scale, false))
}

// sumDiff returns a + b and a - b.
func (p *program) sumDiff(a, b term) (sum, diff value) {
	x := p.settle(a)
	turned := b.quarters%2 == 1
	y := b.v
	if turned {
		y = p.emit(swap, y, none, 0)
	}
	if turned || b.scale != 1 {
		k := p.consts.of(b.scale, turned)
		sum, diff = p.emit(fma, y, x, k), p.emit(fnma, y, x, k)
	} else {
		sum, diff = p.emit(add, x, y, 0), p.emit(sub, x, y, 0)
	}
	if b.quarters >= 2 {
		sum, diff = diff, sum
	}
	return sum, diff
}

// rotate returns v times the k-th power of the n-th root of unity, by one fused
// operation: cos a (1 + w4 tan a), with the cosine left to the addition.
func (p *program) rotate(v value, k, n int) term {
	quarters := (4*k + n/2) / n // the nearest
	if 4*k == quarters*n {
		return term{v, quarters % 4, 1}
	}
	rest := math.Pi / 2 * float64(4*k-quarters*n) / float64(n)
	kind := fma
	if rest < 0 {
		kind = fnma
	}
	tangent := math.Tan(math.Abs(rest))
	if 8*k%n == 0 {
		tangent = 1
	}
	u := p.emit(kind, p.emit(swap, v, none, 0), v, p.consts.of(tangent, true))
	return term{u, quarters % 4, cosine(rest)}
}

func cosine(a float64) float64 {
	if math.Abs(math.Abs(a)-math.Pi/4) < 1e-15 {
		return math.Sqrt2 / 2
	}
	return math.Cos(a)
}
