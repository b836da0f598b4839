// Package is has the benchmark IS of the NAS Parallel Benchmarks: integer keys are ranked by
// a bucket sort over the ranks of a communicator, ten times.
//
// # Method (NPB 3.4, is.c)
//
// Each rank has an equal part of a sequence of keys. In an iteration it counts its keys by
// bucket, a range of values, and orders them by bucket; an Allreduce adds the sizes of the
// buckets; consecutive buckets are dealt to the ranks, so that each gets about its share of
// the keys; an Alltoall exchanges the numbers of keys, an Alltoallv the keys; each rank counts
// the keys of every value that it owns, and sums the counts: the rank of a key is the number
// of smaller ones.
//
// Five keys at fixed places have known ranks in every iteration. At the end the keys are
// sorted, and compared with their neighbours.
//
// # Forms
//
// [Blocking] uses blocking calls only. [Nonblocking] replaces the Alltoallv by messages that
// are under way together, and counts the keys of each rank as they come: the IS-nb of HUNT
// (section 6.2).
package is
