// You will see a fit by least squares, with nothing but gonum's package mat: the QR
// factorization of a tall matrix, the coefficients, the condition number and the residual,
// with the time of each. One call puts gonum's BLAS and LAPACK on weft; with -weft=false it is
// left out, and the rest is the same. The last line checks that the residual is orthogonal to
// the matrix.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/weft-hpc/weft/hpl/gonum"
)

// fit returns the coefficients x that make the norm of r = b - a x least.
func fit(a *mat.Dense, b *mat.VecDense) (x, r mat.VecDense, err error) {
	defer timed("all", time.Now())
	var qr mat.QR
	start := time.Now()
	qr.Factorize(a)
	timed("factors", start)
	start = time.Now()
	fmt.Printf("condition   %.1f\n", qr.Cond())
	timed("condition", start)
	start = time.Now()
	err = qr.SolveVecTo(&x, false, b)
	timed("solution", start)
	r.MulVec(a, &x)
	r.SubVec(b, &r)
	return x, r, err
}

func timed(what string, start time.Time) {
	fmt.Printf("%-11s %.4f s\n", what, time.Since(start).Seconds())
}

// run runs the program of the flags and reports whether the result is right.
func run(o options) (ok bool, err error) {
	if o.weft {
		defer gonum.Use()()
	}
	a, b := measurements(o.m, o.n)
	x, r, err := fit(a, b)
	if err != nil {
		return false, err
	}
	fmt.Printf("residual    %.4g of a right side of %.4g\n", mat.Norm(&r, 2), mat.Norm(b, 2))
	var slope mat.VecDense
	slope.MulVec(a.T(), &r)
	left := mat.Norm(&slope, 2) / (mat.Norm(a, 2) * mat.Norm(b, 2))
	if !(left < 1e-13) || x.Len() != o.n {
		fmt.Printf("FAILED: the residual is not orthogonal to the matrix: %.1e (limit 1e-13)\n", left)
		return false, nil
	}
	fmt.Printf("ok: %d coefficients, and the residual is orthogonal to the matrix (limit 1e-13)\n", o.n)
	return true, nil
}

// measurements returns a random matrix of m rows and a right side that n coefficients explain
// but for noise.
func measurements(m, n int) (*mat.Dense, *mat.VecDense) {
	r := rand.New(rand.NewPCG(1, 2))
	a, b := mat.NewDense(m, n, nil), mat.NewVecDense(m, nil)
	for i := range m {
		sum := 0.1 * r.NormFloat64()
		for j := range n {
			v := r.NormFloat64()
			a.Set(i, j, v)
			sum += v * float64(j%7)
		}
		b.SetVec(i, sum)
	}
	return a, b
}

func main() {
	ok, err := run(parse())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok {
		os.Exit(1)
	}
}
