package main

import "fmt"

// Registers of gemmColumn: SI a, R8 bytes between its columns, R9 three times that,
// R11 the column to prefetch, R15 the strip; BX b; DI c, R10 bytes between its columns; CX steps;
// R12 the column of c to prefetch, DX how many are left; R14 rows of c that are left; AX the place in the
// block of A that comes next. R11 is the end of b for the loop over a packed strip of A.
//
// A tile prefetches its operands: a from the L2 cache, sixteen steps ahead; b from the L3
// cache, where the first tile of a column of tiles finds it, a page ahead, beyond the end of
// its strip into the next; its own c from memory, which comes while it multiplies, or, if it
// has few steps, that of the tile below. Prefetching b raised 76 GFLOP/s to 109. The tile
// below alone, which is wrong at the end of each column of tiles, cost 1.5 % with AVX2 and 3 %
// with AVX-512 (k = 192). The block of A that comes next goes to the L2 cache, as many lines
// with each tile as a product with k columns needs, of which nothing is read twice: 8000 x 192 x 192 took 1.08 times as
// long without with AVX2, and 1.03 with AVX-512; 8000 x 96 x 96 1.05 and 1.13 (Xeon). With AVX2 a packed strip of A, which is contiguous, is left to the
// prefetchers of the processor: two instructions in twenty less, and 1 to 5 % faster. With
// AVX-512 that is 1 % slower.

const (
	unroll = 4    // steps of k per turn of the loop
	aheadB = 4096 // bytes from the element of b being read to the prefetched one
	long   = 64   // steps in which c comes from memory
)

func (f *file) vecs() int { return f.mr / f.lanes }

// accumulator returns the register of vector v in column j of the tile.
func (f *file) accumulator(v, j int) int { return f.vecs()*(f.abuf) + f.bbuf + f.vecs()*j + v }

// gemmStep multiplies one column of a with one row of b. It prefetches the column of a at ahead,
// if there is one, and b if it is to.
func (f *file) gemmStep(s int, a, ahead string, b bool) {
	first := s % f.abuf * f.vecs()
	for v := range f.vecs() {
		f.op("VMOVUPD %d%s, %s", v*f.bytes(), a, f.v(first+v))
	}
	if line := 8 * s * f.nr; b && line%64 == 0 {
		f.op("PREFETCHT0 %d(BX)", aheadB+line)
	}
	for j := range f.nr {
		element := f.vecs()*f.abuf + j%f.bbuf
		f.op("VBROADCASTSD %d(BX), %s", 8*(s*f.nr+j), f.v(element))
		if line := 64 * j; ahead != "" && line < 8*f.mr {
			f.op("PREFETCHT0 %d%s", line, ahead)
		}
		for v := range f.vecs() {
			f.op("VFMADD231PD %s, %s, %s", f.v(first+v), f.v(element), f.v(f.accumulator(v, j)))
		}
	}
}

func (f *file) gemmColumn() {
	f.fn("gemmColumn", "(m, n, k int, alpha float64, a []float64, as, lda int, b, c []float64, ldc int, next uintptr, step int)", 144)
	f.op("MOVQ m+0(FP), R14")
	f.op("MOVQ a_base+32(FP), R15")
	f.op("MOVQ lda+64(FP), R8")
	f.op("SHLQ $3, R8")
	f.op("LEAQ (R8)(R8*2), R9")
	f.op("MOVQ c_base+96(FP), DI")
	f.op("MOVQ ldc+120(FP), R10")
	f.op("SHLQ $3, R10")
	f.label("tile")
	f.op("MOVQ R15, SI")
	f.op("LEAQ (SI)(R8*8), R11") // sixteen columns ahead
	f.op("LEAQ (R11)(R8*8), R11")
	f.op("MOVQ b_base+72(FP), BX")
	f.op("MOVQ k+16(FP), CX")
	f.op("MOVQ next+128(FP), AX")
	f.op("MOVQ step+136(FP), R13")
	f.op("ADDQ AX, R13")
	f.op("MOVQ R13, next+128(FP)")
	f.op("LEAQ %d(DI), R12", 8*f.mr)
	f.op("CMPQ CX, $%d", long)
	f.op("CMOVQGE DI, R12")
	for i := range f.vecs() * f.nr {
		f.zero(f.accumulator(0, 0) + i)
	}
	f.op("MOVQ $%d, DX", f.nr)
	f.op("SUBQ $%d, CX", unroll)
	f.op("JLT rest")
	f.op("PCALIGN $64")
	f.label("first")
	for line := 0; line < 8*f.mr; line += 64 {
		f.op("PREFETCHT0 %d(R12)", line)
	}
	f.op("PREFETCHT0 %d(R12)", 8*f.mr-8)
	f.op("ADDQ R10, R12")
	lines := (f.mr + 7) / 8
	for line := range lines {
		f.op("PREFETCHT1 %d(AX)", 64*line)
	}
	f.op("ADDQ $%d, AX", 64*lines)
	f.gemmTurn()
	f.op("JLT rest")
	f.op("DECQ DX")
	f.op("JNE first")
	if f.near {
		f.op("CMPQ R8, $%d", 8*f.mr)
		f.op("JEQ packed")
	}
	f.op("PCALIGN $64")
	f.label("loop")
	f.gemmTurn()
	f.op("JGE loop")
	if f.near {
		f.op("JMP rest")
		f.gemmNear()
	}
	f.label("rest")
	f.op("ADDQ $%d, CX", unroll)
	f.op("JEQ update")
	f.label("single")
	f.gemmStep(0, "(SI)", "", false)
	f.op("ADDQ R8, SI")
	f.op("ADDQ $%d, BX", 8*f.nr)
	f.op("DECQ CX")
	f.op("JNE single")
	f.label("update")
	f.gemmUpdate()
}

// gemmTurn does unroll steps, and leaves the flags of the count.
func (f *file) gemmTurn() {
	f.gemmSteps("R11")
	f.op("LEAQ (R11)(R8*4), R11")
	f.op("SUBQ $%d, CX", unroll)
}

// gemmSteps does unroll steps, and prefetches from the column of a that is in register ahead,
// if any.
func (f *file) gemmSteps(ahead string) {
	for s, place := range []string{"(%s)", "(%s)(R8*1)", "(%s)(R8*2)", "(%s)(R9*1)"} {
		fetch := ""
		if ahead != "" {
			fetch = fmt.Sprintf(place, ahead)
		}
		f.gemmStep(s, fmt.Sprintf(place, "SI"), fetch, true)
	}
	f.op("LEAQ (SI)(R8*4), SI")
	f.op("ADDQ $%d, BX", 8*f.nr*unroll)
}

// gemmNear does the turns that are left without prefetching a. The end of b counts them.
func (f *file) gemmNear() {
	f.label("packed")
	f.op("LEAQ %d(CX), R11", unroll)
	f.op("ANDQ $-%d, R11", unroll)
	f.op("IMULQ $%d, R11", 8*f.nr)
	f.op("ADDQ BX, R11")
	f.op("ANDQ $%d, CX", unroll-1)
	f.op("SUBQ $%d, CX", unroll)
	f.op("PCALIGN $64")
	f.label("turn")
	f.gemmSteps("")
	f.op("CMPQ BX, R11")
	f.op("JNE turn")
}

// gemmUpdate adds alpha times the accumulators to the tile of c, and goes on to the next one.
func (f *file) gemmUpdate() {
	alpha := f.vecs() * f.abuf
	f.op("VBROADCASTSD alpha+24(FP), %s", f.v(alpha))
	f.op("MOVQ n+8(FP), DX")
	f.op("MOVQ DI, R13")
	f.op("CMPQ R14, $%d", f.mr)
	f.op("JLT edge")
	f.op("CMPQ DX, $%d", f.nr)
	f.op("JNE edge")
	for j := range f.nr {
		for v := range f.vecs() {
			r := f.v(f.accumulator(v, j))
			f.op("VFMADD213PD %d(R13), %s, %s", v*f.bytes(), f.v(alpha), r)
			f.op("VMOVUPD %s, %d(R13)", r, v*f.bytes())
		}
		if j < f.nr-1 {
			f.op("ADDQ R10, R13")
		}
	}
	f.label("next")
	f.op("MOVQ as+56(FP), AX")
	f.op("LEAQ (R15)(AX*8), R15")
	f.op("ADDQ $%d, DI", 8*f.mr)
	f.op("SUBQ $%d, R14", f.mr)
	f.op("JGT tile")
	f.end()
	f.label("edge")
	f.op("MOVQ $%d, AX", f.mr)
	f.op("CMPQ R14, AX")
	f.op("CMOVQLT R14, AX")
	if f.lanes == 8 {
		f.masks512()
	} else {
		f.op("LEAQ ·maskTable+96(SB), R12")
		f.op("NEGQ AX")
		f.op("LEAQ (R12)(AX*8), R12")
	}
	for j := range f.nr {
		for v := range f.vecs() {
			f.edgeVector(v, f.accumulator(v, j), alpha)
		}
		if j < f.nr-1 {
			f.op("CMPQ DX, $%d", j+1)
			f.op("JEQ next")
			f.op("ADDQ R10, R13")
		}
	}
	f.op("JMP next")
}

// masks512 puts the rows m in AX into the masks K1 to K3.
func (f *file) masks512() {
	f.op("MOVQ AX, CX")
	f.op("MOVL $1, AX")
	f.op("SHLL CX, AX")
	f.op("DECL AX")
	f.op("KMOVW AX, K1")
	f.op("SHRL $8, AX")
	f.op("KMOVW AX, K2")
	f.op("SHRL $8, AX")
	f.op("KMOVW AX, K3")
}

// edgeVector updates the rows of vector v that exist.
func (f *file) edgeVector(v, acc, alpha int) {
	mem, r := fmt.Sprintf("%d(R13)", v*f.bytes()), f.v(acc)
	if f.lanes == 8 {
		f.op("VMOVUPD.Z %s, K%d, Z0", mem, v+1)
		f.op("VFMADD213PD Z0, %s, %s", f.v(alpha), r)
		f.op("VMOVUPD %s, K%d, %s", r, v+1, mem)
		return
	}
	f.op("VMOVUPD %d(R12), Y1", v*f.bytes())
	f.op("VMASKMOVPD %s, Y1, Y0", mem)
	f.op("VFMADD213PD Y0, %s, %s", f.v(alpha), r)
	f.op("VMASKMOVPD %s, Y1, %s", r, mem)
}

// trsmTile keeps the rows of y in registers 0 to mr-1. Its multipliers are
// broadcast from l by the multiplication itself where the set can do that.
func (f *file) trsmTile() {
	f.fn("trsmTile", "(k int, l, x, y []float64)", 80)
	f.op("MOVQ k+0(FP), CX")
	f.op("MOVQ l_base+8(FP), SI")
	f.op("MOVQ x_base+32(FP), BX")
	f.op("MOVQ y_base+56(FP), DI")
	for i := range f.mr {
		f.op("VMOVUPD %d(DI), %s", i*f.bytes(), f.v(i))
	}
	f.op("TESTQ CX, CX")
	f.op("JEQ triangle")
	f.op("PCALIGN $64")
	f.label("loop")
	f.op("VMOVUPD (BX), %s", f.v(f.mr))
	for line := 0; line < 8*f.mr; line += 64 {
		f.op("PREFETCHT0 %d(SI)", 8*8*f.mr+line)
	}
	for i := range f.mr {
		f.subtract(8*i, f.mr, i)
	}
	f.op("ADDQ $%d, SI", 8*f.mr)
	f.op("ADDQ $%d, BX", f.bytes())
	f.op("DECQ CX")
	f.op("JNE loop")
	f.label("triangle")
	for p := range f.mr {
		if f.lanes == 8 {
			f.op("VMULPD.BCST %d(SI), %s, %s", 8*(p*f.mr+p), f.v(p), f.v(p))
		} else {
			f.op("VBROADCASTSD %d(SI), %s", 8*(p*f.mr+p), f.v(f.mr+1))
			f.op("VMULPD %s, %s, %s", f.v(f.mr+1), f.v(p), f.v(p))
		}
		f.op("VMOVUPD %s, %d(DI)", f.v(p), p*f.bytes())
		for i := p + 1; i < f.mr; i++ {
			f.subtract(8*(p*f.mr+i), p, i)
		}
	}
	f.end()
}

// subtract takes the element of l at offset, times register x, from register i.
func (f *file) subtract(offset, x, i int) {
	if f.lanes == 8 {
		f.op("VFNMADD231PD.BCST %d(SI), %s, %s", offset, f.v(x), f.v(i))
		return
	}
	b := f.mr + 1 + i%3
	f.op("VBROADCASTSD %d(SI), %s", offset, f.v(b))
	f.op("VFNMADD231PD %s, %s, %s", f.v(b), f.v(x), f.v(i))
}

// copyStrip copies columns of w elements to contiguous memory.
func (f *file) copyStrip(name string, w int) {
	f.fn(name, "(n int, dst, src []float64, ss int)", 64)
	f.op("MOVQ n+0(FP), CX")
	f.op("MOVQ dst_base+8(FP), DI")
	f.op("MOVQ src_base+32(FP), SI")
	f.op("MOVQ ss+56(FP), R8")
	f.op("SHLQ $3, R8")
	f.op("TESTQ CX, CX")
	f.op("JEQ done")
	f.label("loop")
	for v := range w / f.lanes {
		f.op("VMOVUPD %d(SI), %s", v*f.bytes(), f.v(v))
	}
	for line := 0; line < 8*w; line += 64 {
		f.op("PREFETCHT0 %d(SI)(R8*8)", line)
	}
	for v := range w / f.lanes {
		f.op("VMOVUPD %s, %d(DI)", f.v(v), v*f.bytes())
	}
	f.op("ADDQ R8, SI")
	f.op("ADDQ $%d, DI", 8*w)
	f.op("DECQ CX")
	f.op("JNE loop")
	f.label("done")
	f.end()
}

// transpose moves squares of lanes x lanes elements through registers.
func (f *file) transpose() {
	f.fn("transpose", "(n int, dst []float64, ds int, src []float64, ss int)", 72)
	f.op("MOVQ n+0(FP), DX")
	f.op("MOVQ dst_base+8(FP), DI")
	f.op("MOVQ ds+32(FP), R8")
	f.op("SHLQ $3, R8")
	f.op("MOVQ src_base+40(FP), SI")
	f.op("MOVQ ss+64(FP), R9")
	f.op("SHLQ $3, R9")
	f.op("SUBQ $%d, DX", f.lanes)
	f.op("JLT rest")
	f.label("loop")
	f.square(func(mem string, i int) { f.op("VMOVUPD %s, %s", mem, f.v(i)) })
	for p := range f.lanes {
		f.op("VMOVUPD %s, (DI)", f.v(p))
		f.op("ADDQ R8, DI")
	}
	f.op("ADDQ $%d, SI", f.bytes())
	f.op("SUBQ $%d, DX", f.lanes)
	f.op("JGE loop")
	f.label("rest")
	f.op("ADDQ $%d, DX", f.lanes)
	f.op("JEQ done")
	f.mask("DX")
	f.square(f.loadMasked)
	for p := range f.lanes - 1 {
		f.op("VMOVUPD %s, (DI)", f.v(p))
		f.op("CMPQ DX, $%d", p+1)
		f.op("JEQ done")
		f.op("ADDQ R8, DI")
	}
	f.label("done")
	f.end()
}

// square loads lanes vectors, R9 bytes apart, and leaves their transpose in
// registers 0 to lanes-1. It uses R10 and registers up to 2*lanes-1.
func (f *file) square(load func(mem string, i int)) {
	f.op("MOVQ SI, R10")
	n := f.lanes
	for i := range n {
		load("(R10)", i)
		if i < n-1 {
			f.op("ADDQ R9, R10")
		}
	}
	for i := 0; i < n; i += 2 { // pairs: even elements to n+i, odd ones to n+i+1
		f.op("VUNPCKLPD %s, %s, %s", f.v(i+1), f.v(i), f.v(n+i))
		f.op("VUNPCKHPD %s, %s, %s", f.v(i+1), f.v(i), f.v(n+i+1))
	}
	if n == 4 {
		for odd := range 2 {
			f.op("VPERM2F128 $0x20, %s, %s, %s", f.v(6+odd), f.v(4+odd), f.v(odd))
			f.op("VPERM2F128 $0x31, %s, %s, %s", f.v(6+odd), f.v(4+odd), f.v(2+odd))
		}
		return
	}
	shuffle := func(pick, a, b, to int) { f.op("VSHUFF64X2 $%#x, %s, %s, %s", pick, f.v(b), f.v(a), f.v(to)) }
	for odd := range 2 {
		t := n + odd
		shuffle(0x88, t, t+2, 16)
		shuffle(0xdd, t, t+2, 17)
		shuffle(0x88, t+4, t+6, 18)
		shuffle(0xdd, t+4, t+6, 19)
		shuffle(0x88, 16, 18, odd)
		shuffle(0xdd, 16, 18, 4+odd)
		shuffle(0x88, 17, 19, 2+odd)
		shuffle(0xdd, 17, 19, 6+odd)
	}
}

// unpack stores squares of a strip of B: their columns are R8 bytes apart.
func (f *file) unpack() {
	f.fn("unpack", "(n int, dst []float64, ds int, src []float64)", 64)
	f.op("MOVQ n+0(FP), DX")
	f.op("MOVQ dst_base+8(FP), DI")
	f.op("MOVQ ds+32(FP), R8")
	f.op("SHLQ $3, R8")
	f.op("MOVQ src_base+40(FP), SI")
	f.op("MOVQ $%d, R9", 8*f.nr)
	f.label("loop")
	f.op("MOVQ DI, R11")
	f.square(func(mem string, i int) { f.op("VMOVUPD %s, %s", mem, f.v(i)) })
	for j := range f.nr {
		f.op("VMOVUPD %s, (R11)", f.v(j))
		f.op("ADDQ R8, R11")
	}
	f.op("ADDQ $%d, SI", f.bytes()*f.nr)
	f.op("ADDQ $%d, DI", f.bytes())
	f.op("SUBQ $%d, DX", f.lanes)
	f.op("JGT loop")
	f.end()
}
