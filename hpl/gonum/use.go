package gonum

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	gonumlapack "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/lapack/lapack64"

	kernels "github.com/weft-hpc/weft/hpl/blas"
)

var (
	mu        sync.Mutex
	installed lapack.Float64 = gonumlapack.Implementation{} // guarded by mu: lapack64 does not tell
)

// Use installs BLAS and LAPACK in gonum's packages blas64 and lapack64, which mat and all
// others call. The returned function installs again what was there before (for lapack64,
// which does not tell: what the last Use installed, or gonum's own). While either runs, no
// other goroutine may compute with gonum.
func Use() (undo func()) {
	mu.Lock()
	defer mu.Unlock()
	b, l := blas64.Implementation(), installed
	set(BLAS(), LAPACK())
	return func() {
		mu.Lock()
		defer mu.Unlock()
		set(b, l)
	}
}

func set(b blas.Float64, l lapack.Float64) {
	blas64.Use(b)
	lapack64.Use(l)
	installed = l
}

// BLAS returns the implementation of gonum's BLAS, for blas64.Use, with the fastest kernels
// of this processor. Any goroutine.
func BLAS() blas.Float64 { return BLASWith(kernels.Default()) }

// LAPACK returns the implementation of gonum's LAPACK, for lapack64.Use. Any goroutine. What
// is gonum's own in it calls the BLAS that blas64 has.
func LAPACK() lapack.Float64 { return LAPACKWith(kernels.Default()) }

// BLASWith and LAPACKWith are BLAS and LAPACK with other kernels.
func BLASWith(k kernels.Kernels) blas.Float64     { return blasWith(k) }
func LAPACKWith(k kernels.Kernels) lapack.Float64 { return lapackWith(k) }
