//go:build gc && !purego

package main

import "github.com/klauspost/cpuid/v2"

// peakOf returns the peak that the kernels of that name are compared with.
func peakOf(name string) *peak {
	switch {
	case name != "avx2" && cpuid.CPU.Supports(cpuid.AVX512F):
		return &peak{turn: 24 * 8 * 2, loop: peakAVX512, turns: 20_000}
	case cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3):
		return &peak{turn: 12 * 4 * 2, loop: peakAVX2, turns: 40_000}
	}
	return nil
}

// peakAVX512 does turns times 24 multiply-adds of 8 lanes.
func peakAVX512(turns int)

// peakAVX2 does turns times 12 multiply-adds of 4 lanes.
func peakAVX2(turns int)
