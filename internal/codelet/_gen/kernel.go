package main

import (
	"fmt"
	"slices"
	"strings"
)

// frameBytes is the part of a kernel's frame that the loops use.
const frameBytes = 64

// variant is a shape of kernel.
type variant struct {
	name     string
	twiddled bool
	turned   bool // one pencil: lanes are neighbours, the output is transposed
	stream   bool // stores past the cache
	square   bool // no butterfly: a square of numbers is transposed
	product  bool // no butterfly: every leg is multiplied by its twiddle factors
}

// legs writes the addresses of the legs of a butterfly: R8 and R9 are 1 and 3
// times the stride of the input, R10 and R11 of the output; R12 to R14 and DI
// hold the bases of groups of four legs, made when they are needed.
type legs struct {
	base  string
	bases map[int]string // by group
	age   []int
}

var baseRegisters = []string{"R12", "R13", "R14", "DI"}

func (l *legs) in(c *coder, k int) string  { return l.at(c, k, "SI", "R8", "R9") }
func (l *legs) out(c *coder, k int) string { return l.at(c, k, "DX", "R10", "R11") }

func (l *legs) at(c *coder, k int, base, one, three string) string {
	if l.base != base {
		l.base, l.bases, l.age = base, map[int]string{0: base}, nil
	}
	if _, ok := l.bases[k/4]; !ok {
		l.makeBase(c, k/4, one, three)
	}
	group := l.bases[k/4]
	return []string{
		fmt.Sprintf("(%s)", group), fmt.Sprintf("(%s)(%s*1)", group, one),
		fmt.Sprintf("(%s)(%s*2)", group, one), fmt.Sprintf("(%s)(%s*1)", group, three),
	}[k%4]
}

// makeBase computes the base of a group of legs from the base of the closest group below.
func (l *legs) makeBase(c *coder, group int, one, three string) {
	from := group - 1
	for l.bases[from] == "" {
		from--
	}
	source := l.bases[from]
	target := ""
	if len(l.age) < len(baseRegisters) {
		target = baseRegisters[len(l.age)]
	} else {
		target = l.bases[l.age[0]]
		delete(l.bases, l.age[0])
		l.age = l.age[1:]
	}
	for step := group - from; step > 0; {
		switch {
		case step >= 6:
			c.say("LEAQ (%s)(%s*8), %s", source, three, target)
			step -= 6
		case step >= 3:
			c.say("LEAQ (%s)(%s*4), %s", source, three, target)
			step -= 3
		case step == 2:
			c.say("LEAQ (%s)(%s*8), %s", source, one, target)
			step = 0
		default:
			c.say("LEAQ (%s)(%s*4), %s", source, one, target)
			step = 0
		}
		source = target
	}
	l.bases[group] = target
	l.age = append(l.age, group)
}

func (c *coder) load(r int, where string) {
	if c.t.masked {
		c.say("VMOVUPD.Z %s, K1, %s", where, c.name(r))
		return
	}
	c.say("VMOVUPD %s, %s", where, c.name(r))
}

func (c *coder) store(r int, where string) {
	switch {
	case c.v.stream:
		c.say("VMOVNTPD %s, %s", c.name(r), where)
	case c.t.masked:
		c.say("VMOVUPD %s, K2, %s", c.name(r), where)
	default:
		c.say("VMOVUPD %s, %s", c.name(r), where)
	}
}

// twiddle returns the part of a twiddle factor that an instruction multiplies
// with. Kernels of rows have one factor for all lanes, the others a vector of factors.
func (c *coder) twiddle(o op) operand {
	part := 0
	if o.kind == mulIm {
		part = 1
	}
	if c.v.turned || c.v.product && !c.v.twiddled {
		return c.part(fmt.Sprintf("%d(BX)", 16*c.t.lanes*o.k), part)
	}
	at := fmt.Sprintf("%d(BX)", 16*o.k+8*part)
	if c.t.wide {
		return operand{text: at, broadcast: ".BCST"}
	}
	r := c.allocate()
	defer func() { c.free = append(c.free, r) }()
	if c.t.letter == "X" {
		c.say("VMOVDDUP %s, %s", at, c.name(r))
	} else {
		c.say("VBROADCASTSD %s, %s", at, c.name(r))
	}
	return operand{text: c.name(r)}
}

// part loads the real parts of a vector of factors, or the imaginary parts, each doubled.
func (c *coder) part(at string, part int) operand {
	r := c.allocate()
	defer func() { c.free = append(c.free, r) }()
	if part == 0 {
		c.say("VMOVDDUP %s, %s", at, c.name(r))
	} else {
		imm := map[string]string{"Z": "$0xff", "Y": "$15"}[c.t.letter]
		c.say("VPERMILPD %s, %s, %s", imm, at, c.name(r))
	}
	return operand{text: c.name(r)}
}

// kernel returns the program of one butterfly of a variant.
func kernel(radix int, v variant, t target, consts *constants) *program {
	p := &program{consts: consts}
	legs := make([]term, radix)
	for k := range legs {
		legs[k] = plain(p.emit(load, none, none, k))
	}
	if v.square {
		y := make([]value, radix)
		for k := range y {
			y[k] = legs[k].v
		}
		for k, x := range p.transpose(y) {
			p.emit(store, x, none, k)
		}
		return p
	}
	if v.product {
		for k, x := range legs {
			turned := p.emit(mulIm, p.emit(swap, x.v, none, 0), none, k)
			p.emit(store, p.emit(fmaddsubRe, x.v, turned, k), none, k)
		}
		return p
	}
	y := p.transform(legs)
	core := len(p.ops)
	p.chained = core
	if v.turned {
		p.turn(y, t.lanes)
		p.schedule(core)
		return p
	}
	for k, first := range y {
		if v.twiddled {
			p.twist(y, max(k, 1), k+1)
		}
		p.emit(store, y[k], none, k)
		p.chain([]value{first})
	}
	p.schedule(core)
	return p
}

// turn multiplies the legs by their twiddle factors, and stores them transposed, one square
// of lanes after another. The last square overlaps the one before if the radix is not a
// multiple of the lanes: some numbers are stored twice.
func (p *program) turn(y []value, lanes int) {
	radix, plain := len(y), slices.Clone(y)
	for done := 0; done < radix; {
		k := min(done, radix-lanes)
		needs := slices.Clone(plain[max(0, min(k, done-lanes)) : k+lanes])
		p.twist(y, max(done, 1), k+lanes)
		for lane, x := range p.transpose(y[k : k+lanes]) {
			p.emit(storeAt, x, none, 16*(radix*lane+k))
		}
		p.chain(needs)
		done = k + lanes
	}
}

// twist multiplies y[from:to] by their twiddle factors.
func (p *program) twist(y []value, from, to int) {
	for k := from; k < to; k++ {
		turned := p.emit(mulIm, p.emit(swap, y[k], none, 0), none, k-1)
		y[k] = p.emit(fmaddsubRe, y[k], turned, k-1)
	}
}

// transpose returns vectors of the lanes of y: vector p has lane p of every y.
func (p *program) transpose(y []value) []value {
	if len(y) == 2 {
		return []value{p.emit(shuffle, y[0], y[1], 0x20), p.emit(shuffle, y[0], y[1], 0x31)}
	}
	var z []value
	for _, half := range []int{0x44, 0xee} {
		a, b := p.emit(shuffle, y[0], y[1], half), p.emit(shuffle, y[2], y[3], half)
		z = append(z, p.emit(shuffle, a, b, 0x88), p.emit(shuffle, a, b, 0xdd))
	}
	return z
}

// body returns the instructions of a kernel and the bytes of its stack.
func body(radix int, v variant, t target, consts *constants) (lines []string, pins map[int]int, frame int) {
	p := kernel(radix, v, t, consts)
	pins = pin(p, t)
	c := &coder{t: t, v: v, pinned: pins, legs: &legs{}}
	c.run(p)
	return c.text, pins, frameBytes + 16*t.lanes*c.spills
}

// pin chooses the constants that live in registers: the most used, if there is
// room.
func pin(p *program, t target) map[int]int {
	count := map[int]int{}
	for _, o := range p.ops {
		if o.kind == mul || o.kind == fma || o.kind == fnma {
			count[o.k]++
		}
	}
	room := 1
	if t.wide {
		room = 6
	}
	pins := map[int]int{}
	for len(pins) < room {
		best := -1
		for k, n := range count {
			if _, ok := pins[k]; !ok && n > 1 && (best < 0 || n > count[best] || n == count[best] && k < best) {
				best = k
			}
		}
		if best < 0 {
			break
		}
		pins[best] = len(pins)
	}
	return pins
}

// write writes one kernel.
func write(w *strings.Builder, radix int, v variant, t target, consts *constants) {
	lines, pins, frame := body(radix, v, t, consts)
	name := fmt.Sprintf("%s%d%s", v.name, radix, t.suffix)
	fmt.Fprintf(w, "\n// func %s(a *arguments)\nTEXT ·%s(SB), 0, $%d-8\n", name, name, frame)
	for _, l := range prologue {
		fmt.Fprintf(w, "\t%s\n", l)
	}
	if t.masked {
		fmt.Fprint(w, "\tKMOVW 128(R15), K1\n\tKMOVW 136(R15), K2\n")
	}
	for k := range 16 {
		for i, r := range pins {
			if r == k {
				fmt.Fprintf(w, "\tVMOVUPD %d(CX), %s%d\n", 64*i, t.letter, r)
			}
		}
	}
	advance := ""
	if v.turned {
		advance = fmt.Sprintf("\tADDQ $%d, BX\n", 16*t.lanes*(radix-1))
	}
	if v.product && !v.twiddled {
		advance = fmt.Sprintf("\tADDQ $%d, BX\n", 16*t.lanes*radix)
	}
	fmt.Fprint(w, heads)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
	fmt.Fprint(w, advance, tails)
	if v.stream {
		fmt.Fprint(w, "\tSFENCE\n")
	}
	fmt.Fprint(w, "\tVZEROUPPER\n\tRET\n")
}

// The arguments are copied to the frame: 0 inner steps left, 8 middle steps left,
// 16 outer steps left, 24 and 32 the pointers of the middle loop, 40 its
// twiddles, 48 and 56 the pointers of the outer loop. R15 is the arguments.
var prologue = []string{
	"MOVQ a+0(FP), R15",
	"MOVQ 0(R15), SI", "MOVQ 8(R15), DX", "MOVQ 24(R15), CX",
	"MOVQ 32(R15), R8", "LEAQ (R8)(R8*2), R9",
	"MOVQ 40(R15), R10", "LEAQ (R10)(R10*2), R11",
	"MOVQ 104(R15), AX", "MOVQ AX, 16(SP)",
}

const heads = `outer:
	MOVQ SI, 48(SP)
	MOVQ DX, 56(SP)
	MOVQ 16(R15), BX
	MOVQ 72(R15), AX
	MOVQ AX, 8(SP)
middle:
	MOVQ SI, 24(SP)
	MOVQ DX, 32(SP)
	MOVQ BX, 40(SP)
	MOVQ 48(R15), AX
	PCALIGN $32
inner:
`

const tails = `	ADDQ 56(R15), SI
	ADDQ 64(R15), DX
	DECQ AX
	JNZ  inner
	MOVQ 24(SP), SI
	MOVQ 32(SP), DX
	MOVQ 40(SP), BX
	ADDQ 80(R15), SI
	ADDQ 88(R15), DX
	ADDQ 96(R15), BX
	DECQ 8(SP)
	JNZ  middle
	MOVQ 48(SP), SI
	MOVQ 56(SP), DX
	ADDQ 112(R15), SI
	ADDQ 120(R15), DX
	DECQ 16(SP)
	JNZ  outer
`
