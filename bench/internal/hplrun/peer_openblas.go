//go:build openblas && cgo

package hplrun

import _ "github.com/weft-hpc/weft/hpl/blas/openblas" // registers itself
