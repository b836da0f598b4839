//go:build !amd64 || !gc || purego || race

package nas

func multiply(dst, src []complex128, f []float64, scale float64) {
	multiplyPortable(dst, src, f, scale)
}
