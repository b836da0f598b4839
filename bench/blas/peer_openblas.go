//go:build openblas && cgo

package main

import _ "github.com/weft-hpc/weft/hpl/blas/openblas" // registers itself
