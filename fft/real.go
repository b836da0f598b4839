package fft

import (
	"fmt"
	"unsafe"

	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/freelist"
)

// Real transforms sequences of real numbers. Their transforms have X[n-k] =
// conj(X[k]), so only the first n/2+1 are kept, as FFTW and gonum do. A Real is
// immutable: any number of goroutines may use one at the same time, each with
// destinations of its own.
//
// An even length costs a complex transform of half of it; an odd one costs as much
// as a complex transform of the same length.
type Real struct {
	n       int
	plan    *Plan                       // of length n/2 if n is even, else n
	roots   []complex128                // exp(-2 pi i k / n) for k up to n/4
	scratch freelist.List[[]complex128] // of the plan's length
}

// NewReal plans transforms of n real numbers. Error: n < 1.
func NewReal(n int, opts ...Option) (*Real, error) {
	length := n
	if n > 1 && n%2 == 0 {
		length = n / 2
	}
	plan, err := New(length, opts...)
	if err != nil {
		return nil, err
	}
	r := &Real{n: n, plan: plan}
	if length < n {
		r.roots = make([]complex128, n/4+1)
		for k := range r.roots {
			r.roots[k] = codelet.Root(k, n)
		}
	}
	return r, nil
}

// workspace returns scratch memory, which goes back to r.scratch.
func (r *Real) workspace() *[]complex128 {
	if ws := r.scratch.Get(); ws != nil {
		return ws
	}
	ws := codelet.Aligned(r.plan.Len())
	return &ws
}

// Len returns the length of the real sequence.
func (r *Real) Len() int { return r.n }

// Forward computes dst[k] = sum over j of src[j] exp(-2 pi i j k / n) for k from 0 to
// n/2. dst has n/2+1 numbers, src n, and they must not share memory; src is not
// changed.
//
// Any goroutine; does not block; allocates nothing once the pool of scratch is
// warm. Error: a slice of another length.
func (r *Real) Forward(dst []complex128, src []float64) error {
	if err := r.check(len(src), len(dst), "input", "output"); err != nil {
		return err
	}
	if r.roots == nil {
		return r.forwardOdd(dst, src)
	}
	h := r.n / 2
	pairs := unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(src))), h)
	if err := r.plan.Forward(dst[:h], pairs); err != nil {
		return err
	}
	// Z = E + i O, the transforms of the even and the odd elements, becomes
	// X[k] = E[k] + w^k O[k].
	z := dst[0]
	dst[0], dst[h] = complex(real(z)+imag(z), 0), complex(real(z)-imag(z), 0)
	for k := 1; k <= h/2; k++ {
		a, b := dst[k], dst[h-k]
		even := complex(real(a)+real(b), imag(a)-imag(b)) / 2
		odd := complex(imag(a)+imag(b), real(b)-real(a)) / 2
		odd *= r.roots[k]
		dst[k] = even + odd
		dst[h-k] = complex(real(even)-real(odd), imag(odd)-imag(even))
	}
	return nil
}

func (r *Real) forwardOdd(dst []complex128, src []float64) error {
	ws := r.workspace()
	defer r.scratch.Put(ws)
	z := *ws
	for i, v := range src {
		z[i] = complex(v, 0)
	}
	if err := r.plan.Forward(z, z); err != nil {
		return err
	}
	copy(dst, z)
	return nil
}

// Inverse computes dst[j] = sum over all n of X[k] exp(+2 pi i j k / n): n times the input of
// Forward. src has the first n/2+1 of X; the others are their conjugates. The imaginary
// parts of src[0], and of src[n/2] for an even n, count as zero. src is not changed. All
// else is as in Forward.
func (r *Real) Inverse(dst []float64, src []complex128) error {
	if err := r.check(len(dst), len(src), "output", "input"); err != nil {
		return err
	}
	ws := r.workspace()
	defer r.scratch.Put(ws)
	z := *ws
	if r.roots == nil {
		return r.inverseOdd(dst, src, z)
	}
	h := r.n / 2
	first, last := real(src[0]), real(src[h])
	z[0] = complex(first+last, first-last)
	for k := 1; k <= h/2; k++ {
		a, b := src[k], src[h-k]
		even := complex(real(a)+real(b), imag(a)-imag(b))
		odd := complex(real(a)-real(b), imag(a)+imag(b))
		w := r.roots[k]
		odd *= complex(real(w), -imag(w))
		z[k] = complex(real(even)-imag(odd), imag(even)+real(odd))
		z[h-k] = complex(real(even)+imag(odd), real(odd)-imag(even))
	}
	return r.plan.Inverse(unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(dst))), h), z)
}

func (r *Real) inverseOdd(dst []float64, src, z []complex128) error {
	z[0] = complex(real(src[0]), 0)
	for k := 1; k < len(src); k++ {
		v := src[k]
		z[k], z[r.n-k] = v, complex(real(v), -imag(v))
	}
	if err := r.plan.Inverse(z, z); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = real(z[i])
	}
	return nil
}

// check reports slices of other lengths than n and n/2+1.
func (r *Real) check(reals, complexes int, nameReals, nameComplexes string) error {
	if reals != r.n {
		return fmt.Errorf("fft: the %s has %d real numbers: the plan is for %d", nameReals, reals, r.n)
	}
	if complexes != r.n/2+1 {
		return fmt.Errorf("fft: the %s has %d complex numbers: for %d real ones it needs %d", nameComplexes, complexes, r.n, r.n/2+1)
	}
	return nil
}
