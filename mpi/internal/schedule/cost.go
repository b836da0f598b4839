package schedule

import "math/bits"

// The choices between algorithms compare estimates in units of one byte on the wire
// (G in the LogGP model). They depend on nothing but the number of ranks and the
// length, which are the same on all ranks.

// start is the price of one round: the bytes that move in the time in which a
// message is started, travels and is received (o + L + o, handshake included). 2 us at
// 8 GB/s make 16 KiB; that is about right for ranks on one machine, and for 100
// Gbit/s networks of 1.5 us. Where it is wrong by a factor of two, so is the length
// at which algorithms change, and there the two cost nearly the same.
const start int64 = 16 << 10

// smallest is the shortest segment of a pipeline: below it rounds cost all.
const smallest int64 = 4 << 10

// inFlight is the number of messages that a rank posts at once in each direction
// where all of them could be: enough to hide the latency of each, and few enough
// for the lists of engines and the buffers of network adapters.
const inFlight = 16

// rounds returns the number of doublings that reach p ranks.
func rounds(p int) int { return bits.Len(uint(p - 1)) }

// treeCost is that of a broadcast along a binomial tree.
func treeCost(p, n int) int64 { return int64(rounds(p)) * (start + int64(n)) }

// pipeline returns the number of segments, and the cost, of a broadcast along a
// chain: segments + p - 2 rounds of one segment each. The best segment is the one
// whose square is n start / (p-2).
func pipeline(p, n int) (segments int, cost int64) {
	square := int64(n) / int64(max(p-2, 1)) * start
	size := smallest
	for size*size < square {
		size *= 2
	}
	count := max((int64(n)+size-1)/size, 1)
	return int(count), (count + int64(p) - 2) * (start + (int64(n)+count-1)/count)
}

// doubling says whether a reduction of n bytes to one or all of p ranks takes whole
// vectors at each of its steps (rounds * (start + n, and n to combine)) rather than
// half of what is left, and then collects them (2 rounds; sent n twice, combined once).
func doubling(p, n int) bool {
	l, bytes, ranks := int64(rounds(p)), int64(n), int64(p)
	return l*(start+2*bytes) <= 2*l*start+3*bytes*(ranks-1)/ranks
}

// bruck says whether an allgather of n bytes in all goes along doubling distances,
// with two more copies of everything, rather than around the ring.
func bruck(p, n int) bool { return int64(rounds(p))*start+2*int64(n) < int64(p-1)*start }
