//go:build gc && !purego && !race

package codelet

import "github.com/klauspost/cpuid/v2"

// native returns the sets in assembly that the processor and the system can run.
func native() (list []*Set) {
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512VL, cpuid.AVX2, cpuid.FMA3) {
		list = append(list, &Set{name: "avx512", lanes: 4, table: avx512Kernels})
	}
	if cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3) {
		list = append(list, &Set{name: "avx2", lanes: 2, table: avx2Kernels})
	}
	return list
}
