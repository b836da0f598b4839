// Package openblas is OpenBLAS as a peer of the kernels of package blas, in builds with cgo
// and the tag openblas. Importing it is enough:
//
//	go build -tags openblas ./bench/blas
//
// registers it with [github.com/weft-hpc/weft/hpl/blas.Register] under the name
// openblas, on one thread. In all other builds the package is empty.
//
// OpenBLAS has no routines for packed matrices of doubles. Here a packed A is a
// copy by rows and a packed B one by columns, strips of one line each, so that
// programs which pack run unchanged; it packs again inside.
package openblas
