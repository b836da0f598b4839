//go:build !amd64 || !gc || purego

package blas

func vectorized() []*primitives { return nil }
