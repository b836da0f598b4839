//go:build gc && !purego

package peak

import "github.com/klauspost/cpuid/v2"

// Of returns the loop that the kernels of that name are compared with, or nil.
func Of(name string) *Loop {
	switch {
	case name != "avx2" && cpuid.CPU.Supports(cpuid.AVX512F):
		return &Loop{turn: 24 * 8 * 2, loop: peakAVX512, turns: 20_000}
	case cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3):
		return &Loop{turn: 12 * 4 * 2, loop: peakAVX2, turns: 40_000}
	}
	return nil
}

// peakAVX512 does turns times 24 multiply-adds of 8 lanes.
func peakAVX512(turns int)

// peakAVX2 does turns times 12 multiply-adds of 4 lanes.
func peakAVX2(turns int)
