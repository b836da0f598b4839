// Package mg has the benchmark MG of the NAS Parallel Benchmarks: V-cycles of multigrid for a
// Poisson problem with periodic boundaries, on a cube of points that is divided among the
// ranks of a communicator. It makes blocking calls of package mpi ([Solver.Run]), or tasks
// ([Solver.RunTasks], in tasks.go).
//
// # Method (NPB 3.4, mg.f90)
//
// Level k has 2^k points along each axis. A cycle restricts the residual to ever coarser
// levels, solves on the coarsest, and on the way up interpolates the correction, subtracts
// what it explains, and smooths. All operators take the 27 points around a point, weighted by
// the number of coordinates that differ.
//
// # Distribution
//
// The ranks form a box whose sides are powers of two; axes are halved in the order z, y, x.
// The grid of a rank has a border of one point, which an exchange of faces fills after every
// operator: first across x, then y, then z, with the borders filled so far, so that edges and
// corners travel along. Planes of constant z are contiguous and travel as they are; faces of
// the other axes are packed.
//
// Tasks on four ranks have them along z only ([NewColumn]).
//
// A level with fewer points along an axis than the box has ranks there leaves ranks without
// points. The others keep one point along the axis, and before the interpolation they give
// the grid to the ranks that left, which need it there.
package mg
