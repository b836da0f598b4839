package is

import "slices"

const mostBuckets = 1 << 10

// bucket counts the keys by bucket, and orders them by bucket.
func (s *Sort) bucket() {
	var at [mostBuckets]int32
	shift := s.shift & 31
	for _, k := range s.keys {
		at[uint32(k)>>shift&(mostBuckets-1)]++
	}
	copy(s.sizes, at[:s.class.Buckets])
	sum := int32(0)
	for b, n := range at {
		at[b] = sum
		sum += n
	}
	send := s.send
	for _, k := range s.keys {
		b := uint32(k) >> shift & (mostBuckets - 1)
		i := at[b]
		send[i] = k
		at[b] = i + 1
	}
}

// begin clears the counts of this rank's values.
func (s *Sort) begin() {
	n := s.last - s.first
	s.ranks = slices.Grow(s.ranks[:0], n)[:n]
	clear(s.ranks)
}

// count counts received keys by value. Keys of one bucket follow each other, so that the
// counts in use stay in the cache.
func (s *Sort) count(keys []int32) {
	ranks, first := s.ranks, int32(s.first)
	for _, k := range keys {
		ranks[k-first]++
	}
}

// sum makes ranks of the counts.
func (s *Sort) sum() {
	sum := int32(0)
	for i, n := range s.ranks {
		sum += n
		s.ranks[i] = sum
	}
}
