// Package codelet has the kernels of package fft: butterflies of complex128, that
// is, small discrete Fourier transforms applied to many legs of data at once.
//
// # Vocabulary
//
//	pencil     one sequence that is transformed
//	radix      the length of a butterfly; [Radices] lists those there are
//	leg        one of the radix inputs or outputs of a butterfly
//	lane       one of the complex numbers that a vector instruction treats
//	run        neighbours in memory whose butterflies differ in nothing but data
//	pass       a butterfly applied all over an array, and multiplied by twiddle
//	           factors afterwards (decimation in frequency)
//	set        the kernels of one instruction set
//
// # Passes
//
// A transform of length n = r m is a pass of radix r and m transforms of length m.
// In the autosorting form of Stockham, pass after pass reads
//
//	x[q + s (p + m k)]      k = 0 .. r-1, the legs
//
// and writes
//
//	y[q + s (r p + k)] = w^(p k) times butterfly k, w = exp(-2 pi i / n)
//
// for p = 0 .. m-1 and q = 0 .. s-1, where s is the product of the radices before, times the
// number of interleaved pencils. The run is q: contiguous, with one twiddle factor for all
// of it. [Set.Rows] does this along one pencil (once s has grown) and across interleaved
// pencils (from the start), without rearrangement in registers. Only the first pass along a
// single pencil has s = 1: there the lanes are neighbouring p, and the output is transposed
// in registers ([Set.Turn]).
//
// # Numbers stay as they are in memory
//
// Vectors hold (re, im) pairs. A multiplication by i is an exchange within pairs and a sign;
// the next addition does both. a + i b is one fused multiplication of the exchanged b with
// (-1, +1). So a butterfly of radix 16 needs 16 registers for its data, half of the 32 of
// AVX-512. A multiplication by a root of unity inside a butterfly is cos (1 + i tan): one
// fused operation, with the cosine left to the next addition. The constants decide the
// direction, so one kernel serves both.
//
// # Instruction sets
//
// [Sets] lists the sets of this machine: AVX-512 (4 lanes), AVX2 with FMA (2 lanes),
// portable Go (1 lane). They are found once, when the program starts. Results of different
// sets differ in the last bits. Results of one set do not depend on the index of a pencil,
// the number of pencils, or the division of a pass into calls. Under the race detector,
// which cannot see assembly, and with the tag purego, only the portable set exists.
//
// The assembly is generated (go generate; the generator is in _gen). It
// cannot be interrupted by the scheduler, so passes are cut into calls of at
// most 65536 points: below a tenth of a millisecond in cache, and a few
// tenths from memory.
//
// # Not guaranteed
//
// Nothing here checks for NaN or overflow, scales, or allocates. A [Pass] belongs to one
// goroutine at a time; sets are immutable and may be used by all.
package codelet
