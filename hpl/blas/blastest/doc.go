// Package blastest is the conformance suite of package blas: it checks an implementation of
// Kernels against loops too plain to be wrong.
//
// Most cases fill their operands with small whole numbers, so that every order of
// summation gives the same bits, and compare bits; quotients are compared within
// rounding. Every operand ends at the last byte of a page, and the page behind it cannot be
// touched (on Linux). Gaps between columns hold NaN: a stray read carries it into the
// result, a stray write changes its bits. Sizes go from 0 to 70 in every dimension, past
// every edge of the kernels, and a few are large.
package blastest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/invariant"
)

// Reporter receives the findings of a case: a *testing.T, or a negative control.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Case is one property of kernels.
type Case struct {
	Name  string
	Check func(r Reporter, k blas.Kernels)
}

// Cases returns the suite. Any goroutine; the cases are independent.
func Cases() []Case {
	return []Case{
		{"dgemm", dgemm}, {"dgemm/large", dgemmLarge}, {"dgemm/special", dgemmSpecial},
		{"packed", packed}, {"packed/parts", packedParts},
		{"dtrsm", dtrsm}, {"dtrsm/large", dtrsmLarge}, {"solvepacked", solvePacked}, {"dtrsv", dtrsv},
		{"dgemv", dgemv}, {"dger", dger},
		{"idamax", idamax}, {"vectors", vectors}, {"long vectors", longVectors},
		{"dlaswp", dlaswp}, {"rows", rows}, {"copies", copies},
	}
}

// Run checks k with the whole suite, a subtest per case. Blocks until it is done:
// seconds.
func Run(t *testing.T, k blas.Kernels) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Check(t, k) })
	}
}

// size is the largest size that is tried exhaustively.
const size = 70

// stride is the step of the loops over sizes: 1, and more under the race detector.
func stride() int {
	if invariant.Race {
		return 7
	}
	return 1
}

// pairs are the pairs of sizes of products, with all numbers on both sides: those of even sum, and
// all of them with WEFT_LONG=1.
func pairs(yield func(x, y int) bool) {
	for x := 0; x <= size; x += stride() {
		for y := 0; y <= size; y += stride() {
			if ((x+y)%2 == 0 || os.Getenv("WEFT_LONG") == "1") && !yield(x, y) {
				return
			}
		}
	}
}

// source returns the random numbers of one case.
func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2026)) }

// whole returns a whole number from -4 to 3.
func whole(r *rand.Rand) float64 { return float64(r.Uint64()>>61) - 4 }

// shape returns the name of a size in messages.
func shape(dims ...int) string { return fmt.Sprint(dims) }
