// Package nas is the benchmark FT of the NAS Parallel Benchmarks: its classes, its random
// numbers, its differential equation, its checksums, and a run of all this on the ranks of
// a communicator.
//
//	class, err := nas.Named("A")
//	solver, err := nas.New(c, class, distributed.Config{Form: distributed.Tasks})
//	seconds, err := solver.Warm()    // once before, not timed
//	result, err := solver.Run()      // the timed part; result.Verdict is nil if it is right
//
// # The problem
//
// u_t = alpha laplace u on a periodic grid of NX x NY x NZ points, with random complex
// initial values. Its transform is multiplied by exp(-4 alpha pi^2 k^2 t), and transformed
// back, for every time step t. The checksum of a step adds up 1024 points:
//
//	u0      random numbers, x fastest                                  initial
//	U       forward transform of u0                                    distributed.Plan.Forward
//	x_t     inverse transform of U times the factors of t              distributed.Plan.Inverse
//	sum_t   1/(NX NY NZ) sum of x_t[j mod NX, 3j mod NY, 5j mod NZ]     PartialSum
//
// (Bailey and others, "The NAS Parallel Benchmarks", RNR-94-007, and the source of version
// 3.4, which has all constants. Signs of the transform are free: the factors are
// symmetric.) Sums agree with the reference to 1e-12, for all classes.
//
// # What is where
//
//	class.go       Class: sizes, operations    reference.go   the checksums there must be
//	random.go      the generator, in parallel  checksum.go    sums, Verify
//	evolve.go      factors of a time step      variant.go     forms of the transform
//	solver.go      the run                     totals.go      the costs on all ranks
//	memory.go      the memory needed
//
// # Two arrays
//
// The reference keeps three complex arrays and one of factors. Here there are U, which no
// step changes, and x: initial values come into being row by row as the first pass of the
// forward transform asks for them, and the factors are multiplied to rows as the first pass
// of an inverse transform reads them (the hooks of package distributed). Factors are products of
// one per axis, exp(-a i^2) exp(-a j^2) exp(-a k^2), so NX + NY + NZ exponentials stand for
// all. On several ranks, planes that wait for their transfer come on top
// (distributed.Config.Stage).
//
// # Concurrency
//
// A [Class] and an [Evolution] are values that nobody changes. A [Solver] belongs to one
// goroutine; its hooks run on the workers of the plan, and only read what Run has set
// before the transform.
//
// # Not guaranteed
//
// The same bits on other numbers of ranks: the sum of the ranks' parts has another order.
// All variants on the same ranks give the same bits.
package nas
