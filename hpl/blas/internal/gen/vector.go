package main

import "fmt"

// sweep writes a loop over a vector of DX elements. A turn of the loop does many vectors, with
// big for each; small (nil if many is 1) does one vector, tail the last elements, through
// the mask. R15 counts the bytes that are done.
func (f *file) sweep(many int, big func(u int), small, tail func()) {
	f.op("XORQ R15, R15")
	f.op("SUBQ $%d, DX", many*f.lanes)
	f.op("JLT few")
	f.op("PCALIGN $32")
	f.label("many")
	for u := range many {
		big(u)
	}
	f.op("ADDQ $%d, R15", many*f.bytes())
	f.op("SUBQ $%d, DX", many*f.lanes)
	f.op("JGE many")
	f.label("few")
	if many > 1 {
		f.op("ADDQ $%d, DX", (many-1)*f.lanes)
		f.op("JLT rest")
		f.label("one")
		small()
		f.op("ADDQ $%d, R15", f.bytes())
		f.op("SUBQ $%d, DX", f.lanes)
		f.op("JGE one")
		f.label("rest")
	}
	f.op("ADDQ $%d, DX", f.lanes)
	f.op("JEQ done")
	f.mask("DX")
	tail()
	f.label("done")
}

// at returns the place of vector u of the turn, in the vector that starts at base.
func (f *file) at(base string, u int) string { return fmt.Sprintf("%d(%s)(R15*1)", u*f.bytes(), base) }

func (f *file) and(a, b, to int) {
	if f.lanes == 8 {
		f.op("VPANDQ %s, %s, %s", f.v(a), f.v(b), f.v(to))
	} else {
		f.op("VANDPD %s, %s, %s", f.v(a), f.v(b), f.v(to))
	}
}

// noSign fills register i with the mask of all bits but the sign.
func (f *file) noSign(i int) {
	f.op("MOVQ $0x7fffffffffffffff, AX")
	f.op("MOVQ AX, X%d", i)
	f.op("VBROADCASTSD X%d, %s", i, f.v(i))
}

// fold combines the lanes of register 0 pairwise until one is left; uses 1.
func (f *file) fold(op string) {
	if f.lanes == 8 {
		f.op("VEXTRACTF64X4 $1, Z0, Y1")
		f.op("%s Y1, Y0, Y0", op)
	}
	f.op("VEXTRACTF128 $1, Y0, X1")
	f.op("%s X1, X0, X0", op)
	f.op("VUNPCKHPD X0, X0, X1")
	f.op("%s X1, X0, X0", op)
}

// absMax: if an operand is NaN, VMAXPD returns the second source, the maximum so far.
func (f *file) absMax() {
	f.fn("absMax", "(x []float64) float64", 32)
	f.op("MOVQ x_base+0(FP), SI")
	f.op("MOVQ x_len+8(FP), DX")
	f.noSign(8)
	for i := range 4 {
		f.zero(i)
	}
	larger := func(acc int) {
		f.and(8, 4+acc, 4+acc)
		f.op("VMAXPD %s, %s, %s", f.v(acc), f.v(4+acc), f.v(acc))
	}
	f.sweep(4, func(u int) {
		f.op("VMOVUPD %s, %s", f.at("SI", u), f.v(4+u))
		larger(u)
	}, func() {
		f.op("VMOVUPD %s, %s", f.at("SI", 0), f.v(4))
		larger(0)
	}, func() {
		f.loadMasked("(SI)(R15*1)", 4)
		larger(0)
	})
	f.op("VMAXPD %s, %s, %s", f.v(1), f.v(0), f.v(0))
	f.op("VMAXPD %s, %s, %s", f.v(3), f.v(2), f.v(2))
	f.op("VMAXPD %s, %s, %s", f.v(2), f.v(0), f.v(0))
	f.fold("VMAXPD")
	f.op("VMOVSD X0, ret+24(FP)")
	f.end()
}

func (f *file) indexAbs() {
	f.fn("indexAbs", "(x []float64, v float64) int", 40)
	f.op("MOVQ x_base+0(FP), SI")
	f.op("MOVQ x_len+8(FP), DX")
	f.noSign(2)
	f.op("VBROADCASTSD v+24(FP), %s", f.v(3))
	look := func() {
		f.and(2, 0, 0)
		if f.lanes == 8 {
			f.op("VCMPPD $0, Z0, Z3, K2")
			f.op("KMOVW K2, BX")
		} else {
			f.op("VCMPPD $0, Y0, Y3, Y0")
			f.op("VMOVMSKPD Y0, BX")
		}
	}
	f.sweep(1, func(int) {
		f.op("VMOVUPD %s, %s", f.at("SI", 0), f.v(0))
		look()
		f.op("TESTL BX, BX")
		f.op("JNE found")
	}, nil, func() {
		f.loadMasked("(SI)(R15*1)", 0)
		look()
		f.op("BSFL BX, BX")
		f.op("JEQ none")
		f.op("CMPQ BX, DX")
		f.op("JLT hit")
	})
	f.label("none")
	f.op("MOVQ $-1, AX")
	f.op("MOVQ AX, ret+32(FP)")
	f.end()
	f.label("found")
	f.op("BSFL BX, BX")
	f.label("hit")
	f.op("SHRQ $3, R15")
	f.op("ADDQ R15, BX")
	f.op("MOVQ BX, ret+32(FP)")
	f.end()
}

func (f *file) scal() {
	f.fn("scal", "(alpha float64, x []float64)", 32)
	f.op("VBROADCASTSD alpha+0(FP), %s", f.v(0))
	f.op("MOVQ x_base+8(FP), SI")
	f.op("MOVQ x_len+16(FP), DX")
	one := func(u int) {
		f.op("VMULPD %s, %s, %s", f.at("SI", u), f.v(0), f.v(1+u))
		f.op("VMOVUPD %s, %s", f.v(1+u), f.at("SI", u))
	}
	f.sweep(4, one, func() { one(0) }, func() {
		f.loadMasked("(SI)(R15*1)", 1)
		f.op("VMULPD %s, %s, %s", f.v(1), f.v(0), f.v(1))
		f.storeMasked(1, "(SI)(R15*1)")
	})
	f.end()
}

func (f *file) axpy() {
	f.fn("axpy", "(alpha float64, x, y []float64)", 56)
	f.op("VBROADCASTSD alpha+0(FP), %s", f.v(0))
	f.op("MOVQ x_base+8(FP), SI")
	f.op("MOVQ x_len+16(FP), DX")
	f.op("MOVQ y_base+32(FP), DI")
	one := func(u int) {
		f.op("VMOVUPD %s, %s", f.at("DI", u), f.v(1+u))
		f.op("VFMADD231PD %s, %s, %s", f.at("SI", u), f.v(0), f.v(1+u))
		f.op("VMOVUPD %s, %s", f.v(1+u), f.at("DI", u))
	}
	f.sweep(4, one, func() { one(0) }, func() {
		f.loadMasked("(DI)(R15*1)", 1)
		f.loadMasked("(SI)(R15*1)", 2)
		f.op("VFMADD231PD %s, %s, %s", f.v(2), f.v(0), f.v(1))
		f.storeMasked(1, "(DI)(R15*1)")
	})
	f.end()
}

func (f *file) swap() {
	f.fn("swap", "(x, y []float64)", 48)
	f.op("MOVQ x_base+0(FP), SI")
	f.op("MOVQ x_len+8(FP), DX")
	f.op("MOVQ y_base+24(FP), DI")
	one := func(u int) {
		f.op("VMOVUPD %s, %s", f.at("SI", u), f.v(2*u))
		f.op("VMOVUPD %s, %s", f.at("DI", u), f.v(2*u+1))
		f.op("VMOVUPD %s, %s", f.v(2*u), f.at("DI", u))
		f.op("VMOVUPD %s, %s", f.v(2*u+1), f.at("SI", u))
	}
	f.sweep(4, one, func() { one(0) }, func() {
		f.loadMasked("(SI)(R15*1)", 0)
		f.loadMasked("(DI)(R15*1)", 1)
		f.storeMasked(0, "(DI)(R15*1)")
		f.storeMasked(1, "(SI)(R15*1)")
	})
	f.end()
}

// ahead is how many exchanges lie between the prefetch of a line and its own. Without prefetches only
// as many cache misses are under way as fit into the processor's window of instructions.
const ahead = 16

// exchange4 goes through the rows in either direction.
func (f *file) exchange4() {
	f.fn("exchange4", "(a []float64, lda int, pivots []int, first, rows, step int)", 80)
	f.fourColumns("a_base+0(FP)", "lda+24(FP)")
	f.op("MOVQ pivots_base+32(FP), SI")
	f.op("MOVQ first+56(FP), BX")
	f.op("MOVQ rows+64(FP), CX")
	f.op("MOVQ step+72(FP), DX")
	f.op("IMUL3Q $%d, DX, R12", ahead)
	f.op("ADDQ BX, R12")
	f.label("row")
	f.op("CMPQ CX, $%d", ahead)
	f.op("JLE exchange")
	f.op("MOVQ (SI)(R12*8), AX")
	f.op("ADDQ DX, R12")
	for _, c := range columns {
		f.op("PREFETCHT0 (%s)(AX*8)", c)
	}
	f.label("exchange")
	f.op("MOVQ (SI)(BX*8), AX")
	for _, c := range columns {
		f.op("MOVQ (%s)(AX*8), DI", c)
		f.op("MOVQ (%s)(BX*8), R13", c)
		f.op("MOVQ DI, (%s)(BX*8)", c)
		f.op("MOVQ R13, (%s)(AX*8)", c)
	}
	f.op("ADDQ DX, BX")
	f.op("DECQ CX")
	f.op("JNE row")
	f.op("RET")
}

// gather8 and scatter8 move two elements with each access of w.
func (f *file) gather8() {
	f.fn("gather8", "(a []float64, lda int, rows []int, w []float64, ldw int)", 88)
	f.eightColumns(func(at int, c, d string) {
		f.op("VMOVSD (%s)(AX*8), X0", c)
		f.op("VMOVHPD (%s)(AX*8), X0, X0", d)
		f.op("VMOVUPD X0, %d(DI)", at)
	})
}

func (f *file) scatter8() {
	f.fn("scatter8", "(a []float64, lda int, rows []int, w []float64, ldw int)", 88)
	f.eightColumns(func(at int, c, d string) {
		f.op("VMOVUPD %d(DI), X0", at)
		f.op("VMOVSD X0, (%s)(AX*8)", c)
		f.op("VMOVHPD X0, (%s)(AX*8)", d)
	})
}

// eightColumns writes a loop over rows, which moves the elements of two columns at a time:
// those at some bytes behind DI, and those in row AX of columns c and d.
func (f *file) eightColumns(move func(at int, c, d string)) {
	const rowsAhead = 6 // as ahead
	all := []string{"R8", "R9", "R10", "R11", "R12", "R13", "R15", "DX"}
	f.op("MOVQ lda+24(FP), AX")
	f.op("MOVQ a_base+0(FP), %s", all[0])
	for j := 1; j < len(all); j++ {
		f.op("LEAQ (%s)(AX*8), %s", all[j-1], all[j])
	}
	f.op("MOVQ rows_base+32(FP), SI")
	f.op("MOVQ rows_len+40(FP), CX")
	f.op("MOVQ w_base+56(FP), DI")
	f.op("MOVQ ldw+80(FP), BX")
	f.op("SHLQ $3, BX")
	f.label("row")
	f.op("CMPQ CX, $%d", rowsAhead)
	f.op("JLE move")
	f.op("MOVQ %d(SI), AX", 8*rowsAhead)
	for _, c := range all {
		f.op("PREFETCHT0 (%s)(AX*8)", c)
	}
	f.label("move")
	f.op("MOVQ (SI), AX")
	for j := 0; j < len(all); j += 2 {
		move(8*j, all[j], all[j+1])
	}
	f.op("ADDQ $8, SI")
	f.op("ADDQ BX, DI")
	f.op("DECQ CX")
	f.op("JNE row")
	f.op("RET")
}

// fourColumns puts the addresses of four columns into R8 to R11.
func (f *file) fourColumns(a, lda string) {
	f.op("MOVQ %s, R8", a)
	f.op("MOVQ %s, AX", lda)
	f.op("LEAQ (R8)(AX*8), R9")
	f.op("LEAQ (R9)(AX*8), R10")
	f.op("LEAQ (R10)(AX*8), R11")
}

var columns = []string{"R8", "R9", "R10", "R11"}

func (f *file) ger4() {
	f.fn("ger4", "(x []float64, c0, c1, c2, c3 float64, a []float64, lda int)", 88)
	f.op("MOVQ x_base+0(FP), SI")
	f.op("MOVQ x_len+8(FP), DX")
	f.fourColumns("a_base+56(FP)", "lda+80(FP)")
	for j := range 4 {
		f.op("VBROADCASTSD c%d+%d(FP), %s", j, 24+8*j, f.v(j))
	}
	one := func(u int) {
		f.op("VMOVUPD %s, %s", f.at("SI", u), f.v(4))
		for j, c := range columns {
			f.op("VMOVUPD %s, %s", f.at(c, u), f.v(5+j))
			f.op("VFMADD231PD %s, %s, %s", f.v(4), f.v(j), f.v(5+j))
			f.op("VMOVUPD %s, %s", f.v(5+j), f.at(c, u))
		}
	}
	f.sweep(2, one, func() { one(0) }, func() {
		f.loadMasked("(SI)(R15*1)", 4)
		for j, c := range columns {
			mem := "(" + c + ")(R15*1)"
			f.loadMasked(mem, 5+j)
			f.op("VFMADD231PD %s, %s, %s", f.v(4), f.v(j), f.v(5+j))
			f.storeMasked(5+j, mem)
		}
	})
	f.end()
}

func (f *file) gemvN4() {
	f.fn("gemvN4", "(c0, c1, c2, c3 float64, a []float64, lda int, y []float64)", 88)
	f.op("MOVQ y_base+64(FP), DI")
	f.op("MOVQ y_len+72(FP), DX")
	f.fourColumns("a_base+32(FP)", "lda+56(FP)")
	for j := range 4 {
		f.op("VBROADCASTSD c%d+%d(FP), %s", j, 8*j, f.v(j))
	}
	one := func(u int) {
		f.op("VMOVUPD %s, %s", f.at("DI", u), f.v(4+u))
		for j, c := range columns {
			f.op("VFMADD231PD %s, %s, %s", f.at(c, u), f.v(j), f.v(4+u))
		}
		f.op("VMOVUPD %s, %s", f.v(4+u), f.at("DI", u))
	}
	f.sweep(4, one, func() { one(0) }, func() {
		f.loadMasked("(DI)(R15*1)", 4)
		for j, c := range columns {
			f.loadMasked("("+c+")(R15*1)", 5)
			f.op("VFMADD231PD %s, %s, %s", f.v(5), f.v(j), f.v(4))
		}
		f.storeMasked(4, "(DI)(R15*1)")
	})
	f.end()
}

// gemvT4 has two sums per column, to hide the latency of the addition.
func (f *file) gemvT4() {
	f.fn("gemvT4", "(a []float64, lda int, x, y []float64)", 80)
	f.op("MOVQ x_base+32(FP), SI")
	f.op("MOVQ x_len+40(FP), DX")
	f.op("MOVQ y_base+56(FP), DI")
	f.fourColumns("a_base+0(FP)", "lda+24(FP)")
	for i := range 8 {
		f.zero(2 + i)
	}
	one := func(u int) {
		f.op("VMOVUPD %s, %s", f.at("SI", u), f.v(10+u))
		for j, c := range columns {
			f.op("VFMADD231PD %s, %s, %s", f.at(c, u), f.v(10+u), f.v(2+2*j+u))
		}
	}
	f.sweep(2, one, func() { one(0) }, func() {
		f.loadMasked("(SI)(R15*1)", 10)
		for j, c := range columns {
			f.loadMasked("("+c+")(R15*1)", 11)
			f.op("VFMADD231PD %s, %s, %s", f.v(11), f.v(10), f.v(2+2*j))
		}
	})
	for j := range 4 {
		f.op("VADDPD %s, %s, %s", f.v(2+2*j), f.v(3+2*j), f.v(0))
		f.fold("VADDPD")
		f.op("VMOVSD X0, %d(DI)", 8*j)
	}
	f.end()
}
