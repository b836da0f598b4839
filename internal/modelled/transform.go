package modelled

import (
	"errors"
	"math"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/reserved"
)

// Transforms returns kernels of Fourier transforms with the rates of a core. All threads of a
// simulated machine may share them. Error: the machine has no rate of transforms.
func Transforms(rates cluster.Kernels) (*codelet.Set, error) {
	if rates.FFT == 0 {
		return nil, errors.New(`the machine has no rate of Fourier transforms: add "fft" to its "kernels"`)
	}
	return codelet.Modelled(&transforms{rates.Complete()}), nil
}

type transforms struct{ rates cluster.Kernels }

// Transform implements codelet.Model. A transform of length n counts 5 n log2 n operations.
func (t *transforms) Transform(n, count int) {
	operations := 5 * float64(n) * math.Log2(float64(n)) * float64(count)
	charge(operations/t.rates.FFT + 1000*t.rates.Call)
}

// Transfer implements codelet.Model. Of an array larger than the cache, as much stays there as fits.
func (t *transforms) Transfer(bytes, size int) {
	if outside := float64(size) - 1e6*t.rates.FFTCache; outside > 0 {
		charge(float64(bytes) * outside / float64(size) / t.rates.FFTMemory)
	}
}

// Compute implements codelet.Model, with the rate of transforms.
func (t *transforms) Compute(operations int) { charge(float64(operations) / t.rates.FFT) }

// Reserve implements codelet.Model.
func (t *transforms) Reserve(n int) ([]complex128, error) {
	b, err := reserved.Map(16*n, false)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

func charge(ns float64) { osthread.Charge(time.Duration(ns)) }
