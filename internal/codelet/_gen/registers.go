package main

import (
	"fmt"
	"math"
)

// target is a vector instruction set at one width.
type target struct {
	suffix    string // of the names of its kernels
	letter    string // of its registers: Z, Y or X
	registers int
	lanes     int  // complex numbers in a vector
	wide      bool // AVX-512: embedded broadcasts, masks
	masked    bool
}

// coder turns a program into instructions: registers are handed out in order, and
// when there are none left the value needed last goes to the stack.
type coder struct {
	t      target
	text   []string
	uses   map[value][]int // positions of the instructions that need it, ahead
	in     map[value]int   // its register
	slot   map[value]int   // its place on the stack
	free   []int
	locked []int       // registers of the instruction at hand
	pinned map[int]int // constants that live in registers
	spills int
	legs   *legs
	v      variant
}

func (c *coder) say(format string, args ...any) {
	c.text = append(c.text, "\t"+fmt.Sprintf(format, args...))
}

func (c *coder) name(r int) string { return fmt.Sprintf("%s%d", c.t.letter, r) }

// allocate returns a free register, and locks it.
func (c *coder) allocate() int {
	if len(c.free) == 0 {
		c.evict()
	}
	r := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	c.locked = append(c.locked, r)
	return r
}

func (c *coder) isLocked(r int) bool {
	for _, l := range c.locked {
		if l == r {
			return true
		}
	}
	return false
}

// evict saves the value whose next use is farthest away.
func (c *coder) evict() {
	victim, far := none, -1
	for v, r := range c.in {
		next := math.MaxInt
		if len(c.uses[v]) > 0 {
			next = c.uses[v][0]
		}
		if !c.isLocked(r) && (next > far || next == far && v < victim) {
			victim, far = v, next
		}
	}
	if victim == none {
		panic("an instruction needs more registers than there are")
	}
	r := c.in[victim]
	if _, saved := c.slot[victim]; !saved {
		c.slot[victim] = c.spills
		c.spills++
		c.say("VMOVUPD %s, %s", c.name(r), c.slotName(victim))
	}
	delete(c.in, victim)
	c.free = append(c.free, r)
}

func (c *coder) slotName(v value) string {
	return fmt.Sprintf("%d(SP)", frameBytes+16*c.t.lanes*c.slot[v])
}

// get returns the register of v, and locks it.
func (c *coder) get(v value) int {
	r, ok := c.in[v]
	if !ok {
		r = c.allocate()
		c.say("VMOVUPD %s, %s", c.slotName(v), c.name(r))
		c.in[v] = r
	}
	c.locked = append(c.locked, r)
	return r
}

// used notes that the instruction at hand has read v, and reports whether it was
// the last to do so; then its register is free.
func (c *coder) used(v value) bool {
	c.uses[v] = c.uses[v][1:]
	return len(c.uses[v]) == 0
}

// drop frees the register of v.
func (c *coder) drop(v value) {
	if r, ok := c.in[v]; ok {
		delete(c.in, v)
		c.free = append(c.free, r)
	}
}

// run codes a whole program.
func (c *coder) run(p *program) {
	c.uses, c.in, c.slot = map[value][]int{}, map[value]int{}, map[value]int{}
	for i, o := range p.ops {
		for _, v := range []value{o.a, o.b} {
			if v != none {
				c.uses[v] = append(c.uses[v], i)
			}
		}
	}
	for r := c.t.registers - 1; r >= len(c.pinned); r-- {
		c.free = append(c.free, r)
	}
	for _, o := range p.ops {
		c.locked = c.locked[:0]
		c.step(o)
	}
}

// step codes one instruction.
func (c *coder) step(o op) {
	switch o.kind {
	case load:
		c.in[o.dst] = c.allocate()
		c.load(c.in[o.dst], c.legs.in(c, o.k))
	case store, storeAt:
		where := fmt.Sprintf("%d(DX)", o.k)
		if o.kind == store {
			where = c.legs.out(c, o.k)
		}
		c.store(c.get(o.a), where)
		if c.used(o.a) {
			c.drop(o.a)
		}
	case fma, fnma, fmaddsubRe:
		c.fused(o)
	default:
		c.threeAddress(o)
	}
}

// threeAddress codes the instructions whose result goes to any register.
func (c *coder) threeAddress(o op) {
	a, b := c.get(o.a), -1
	if o.b != none {
		b = c.get(o.b)
	}
	memory := c.operand(o)
	if c.used(o.a) {
		c.drop(o.a)
	}
	if o.b != none && c.used(o.b) && o.a != o.b {
		c.drop(o.b)
	}
	dst := c.allocate()
	c.in[o.dst] = dst
	switch o.kind {
	case add:
		c.say("VADDPD %s, %s, %s", c.name(b), c.name(a), c.name(dst))
	case sub:
		c.say("VSUBPD %s, %s, %s", c.name(b), c.name(a), c.name(dst))
	case swap:
		imm := map[string]string{"Z": "$0x55", "Y": "$5", "X": "$1"}[c.t.letter]
		c.say("VPERMILPD %s, %s, %s", imm, c.name(a), c.name(dst))
	case shuffle:
		c.shuffle(o.k, a, b, dst)
	default:
		c.say("VMULPD%s %s, %s, %s", memory.broadcast, memory.text, c.name(a), c.name(dst))
	}
}

func (c *coder) shuffle(imm, a, b, dst int) {
	name := "VSHUFF64X2"
	if !c.t.wide {
		name = "VPERM2F128"
	}
	c.say("%s $%#x, %s, %s, %s", name, imm, c.name(b), c.name(a), c.name(dst))
}

// fused codes the instructions that overwrite one of their operands: a if nobody
// needs it any more, else b if that is so, else a copy of a.
func (c *coder) fused(o op) {
	a, b := c.get(o.a), c.get(o.b)
	memory := c.operand(o)
	name := map[opKind]string{fma: "VFMADD", fnma: "VFNMADD", fmaddsubRe: "VFMADDSUB"}[o.kind]
	lastA, lastB := c.used(o.a), c.used(o.b)
	if lastB && !lastA && o.kind != fmaddsubRe {
		delete(c.in, o.b)
		c.in[o.dst] = b
		c.say("%s231PD%s %s, %s, %s", name, memory.broadcast, memory.text, c.name(a), c.name(b))
		return
	}
	dst := a
	if lastA {
		delete(c.in, o.a)
	} else {
		dst = c.allocate()
		c.say("VMOVAPD %s, %s", c.name(a), c.name(dst))
	}
	c.in[o.dst] = dst
	c.say("%s132PD%s %s, %s, %s", name, memory.broadcast, memory.text, c.name(b), c.name(dst))
	if lastB {
		c.drop(o.b)
	}
}

// operand is a factor of an instruction.
type operand struct{ text, broadcast string }

func (c *coder) operand(o op) operand {
	switch o.kind {
	case mul, fma, fnma:
		if r, ok := c.pinned[o.k]; ok {
			return operand{text: c.name(r)}
		}
		return operand{text: fmt.Sprintf("%d(CX)", 64*o.k)}
	case mulIm, fmaddsubRe:
		return c.twiddle(o)
	}
	return operand{}
}
