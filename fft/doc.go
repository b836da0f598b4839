// Package fft computes discrete Fourier transforms of complex128 and float64: many
// one-dimensional transforms of any length at a time, and transforms of arrays of several
// dimensions, on one goroutine or as a graph of tasks.
//
//	p, err := fft.New(1000)                  // a plan: immutable, use it often and from anywhere
//	err = p.Forward(dst, src)                // dst may be src
//	err = p.Inverse(dst, dst)
//	fft.Scale(dst, 1./1000)                  // transforms do not scale
//
//	many, err := fft.NewMany(256, 16, fft.Interleaved(16), fft.Interleaved(16))
//	real, err := fft.NewReal(1000)           // 1000 float64 to 501 complex128
//	grid, err := fft.NewGrid([]int{256, 256, 128}) // NewRealGrid for float64
//	err = grid.SpawnForward(rt, dst, src)    // tasks; rt.Wait() waits for them
//
// Package fft/distributed transforms arrays that are distributed over ranks.
//
// # Conventions
//
// They are FFTW's: forward has exp(-2 pi i j k / n), inverse exp(+2 pi i j k / n), and
// neither scales. Arrays are row-major. A layout is a stride within and a distance between
// transforms. In gonum, Forward is called Coefficients and Inverse Sequence.
//
// # How
//
// A length n = r1 r2 ... is transformed in passes, one for each radix, by the kernels of
// package codelet. The first pass reads the input in place, the last pass writes the output,
// and the passes between use scratch memory that fits a cache. A pencil is the elements of
// one transform, contiguous or not.
//
//   - Interleaved pencils (element i of pencil b at i*count+b) fill the lanes of the
//     vectors as they are. They are transformed a few at a time, whole cache lines wide:
//     strides cost nothing until they are pages.
//   - A single contiguous pencil fills the lanes with its own elements; the first pass
//     transposes them in registers.
//   - Other layouts are gathered into scratch memory first, contiguous pencils of awkward
//     length by transposition in blocks.
//
// Radices are 2 to 16 and 25, so any product of primes up to 13 is quick, with
// the fewest passes. The other prime factors of a length become one pass, whose butterflies
// are convolutions of a smooth length at least twice as long (Bluestein). Long pencils are
// transformed in two sweeps of passes that stay in the cache (Bailey).
//
// Arrays of three dimensions and more cost one reading and one writing of memory for the
// last two together, and one for each of the others; see [Grid].
//
// # Concurrency
//
// Plans are immutable; tables are made once, on first use, under a sync.Once. Scratch
// memory comes from a pool of the plan, so plans are safe for concurrent use, and nothing
// is allocated in the steady state. Tables and scratch memory of 512 KiB and more take
// whole huge pages of 2 MiB, if the system has them. Nothing here starts a goroutine or blocks. The tasks of a
// [Grid] run on the workers of their runtime.
//
// # Accuracy
//
// Roots of unity are within an ulp. The error grows as the square root of the number of
// passes. The largest difference after a round trip is about 1e-15 of the root mean square
// for 1000 points, and 2e-15 for 8 million. Results of one plan do not depend on
// the index of a pencil in a batch, or on the number of workers. They differ in the last
// bits between layouts, instruction sets and machines.
//
// # Cost
//
// On one core of a 2.6 GHz EPYC (Zen 5, AVX-512), in cache and out of place, 16 interleaved
// pencils of 256 to 1024 points reach 52 to 64 GFLOP/s, contiguous pencils 61 to 67. That
// counts 5 n log2 n operations, and is 1.2 to 2.5 times FFTW 3.3.10 on the same core. An
// array of 256 x 256 x 128 in place takes 0.04 s there on one core, 0.02 s on two, and 1.2 to 1.8
// times as long with FFTW on three other machines with AVX-512 (bench/FIGURES.md).
//
// # Not guaranteed
//
// Infinite or NaN elements spoil their pencil and no other. Only the slices of one call are
// checked for overlap: two goroutines that write the same slice race.
package fft
