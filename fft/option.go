package fft

import (
	"math"

	"github.com/weft-hpc/weft/internal/codelet"
)

// maxPoints bounds the points of a plan and the length of a layout, so that no index
// overflows.
const maxPoints = math.MaxInt >> 8

// Option changes how a plan is made.
type Option func(*options)

type options struct {
	set    *codelet.Set
	stream *bool
}

// Kernels makes a plan use the given kernels instead of the fastest of this
// machine ([codelet.Sets]). Plans with modelled kernels ([codelet.Modelled]) take time, and do not
// compute.
func Kernels(set *codelet.Set) Option { return func(o *options) { o.set = set } }

// Stream says whether the output bypasses the caches on its way to memory: that pays if the
// output is not read soon. By default it bypasses them if it is larger than two third-level caches.
func Stream(on bool) Option { return func(o *options) { o.stream = &on } }

func collect(list []Option) options {
	o := options{set: codelet.Best()}
	for _, f := range list {
		f(&o)
	}
	return o
}
