package schedule

import "math/bits"

// All ranks must choose the same algorithm. So the choices compare estimates that depend
// only on the number of ranks and the length. The unit is the cost of one byte on the wire
// (G in the LogGP model).

// startup is the cost of one round without its bytes: o + L + o with the handshake. 2 us at
// 8 GB/s make 16 KiB: about right for ranks on one machine and for 100 Gbit/s networks of
// 1.5 us. If it is wrong by a factor of two, so is the length at which the algorithm
// changes; there both cost nearly the same.
const startup int64 = 16 << 10

// minSegment is the shortest segment of a pipeline: below it, rounds dominate the cost.
const minSegment int64 = 4 << 10

// inFlight is the number of independent messages that a rank posts at once in each
// direction. It hides the latency of each, and keeps the lists of engines and the buffers of
// network adapters short.
const inFlight = 16

// rounds returns the number of doublings that reach p ranks.
func rounds(p int) int { return bits.Len(uint(p - 1)) }

// treeCost returns the cost of a broadcast along a binomial tree.
func treeCost(p, n int) int64 { return int64(rounds(p)) * (startup + int64(n)) }

// pipeline returns the number of segments, and the cost, of a broadcast along a chain:
// segments + p - 2 rounds of one segment each. The square of the best segment is
// n startup / (p-2).
func pipeline(p, n int) (segments int, cost int64) {
	square := int64(n) / int64(max(p-2, 1)) * startup
	size := minSegment
	for size*size < square {
		size *= 2
	}
	count := max((int64(n)+size-1)/size, 1)
	return int(count), (count + int64(p) - 2) * (startup + (int64(n)+count-1)/count)
}

// doubling reports whether a reduction of n bytes to one or all of p ranks exchanges whole
// vectors, which costs rounds * (startup + n, and n to combine). The alternative exchanges
// halves and then collects them: 2 * rounds, with n sent twice and combined once.
func doubling(p, n int) bool {
	l, bytes, ranks := int64(rounds(p)), int64(n), int64(p)
	return l*(startup+2*bytes) <= 2*l*startup+3*bytes*(ranks-1)/ranks
}

// bruck reports whether an allgather of n bytes in total uses doubling distances, with two
// more copies of all bytes, rather than the ring.
func bruck(p, n int) bool { return int64(rounds(p))*startup+2*int64(n) < int64(p-1)*startup }
