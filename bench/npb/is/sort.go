package is

import (
	"fmt"
	"math/bits"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/mpi"
)

// seed of the generator, as in all NAS benchmarks.
const seed = 314159265

// The most keys a rank receives at first, as a multiple room/roomOf of its share; with more,
// its memory grows.
const room, roomOf = 5, 4

// Sort is the benchmark on one rank. One goroutine uses it.
type Sort struct {
	class Class
	form  Form
	comm  *mpi.Comm
	shift int // key >> shift is its bucket

	keys   []int32 // of this rank, in the order of the sequence
	send   []int32 // the same, by bucket
	recv   []int32 // of the buckets of this rank, by sender
	sizes  []int32 // keys of this rank by bucket; then the test keys
	totals []int32 // of all ranks

	scounts, sdispls, rcounts, rdispls []int // keys to and from each rank
	exchanged                          []int64

	first, last int     // keys of this rank after the exchange: first <= key < last
	smaller     int     // keys of all ranks below first
	own         int     // keys received
	ranks       []int32 // by key - first: number of keys of this rank up to it

	passed int // verified test keys
	failed []error
}

// New makes room for the keys of this rank. Ranks must be a power of two, and no more than
// buckets.
func New(c *mpi.Comm, class Class, form Form) (*Sort, error) {
	p := c.Size()
	if bits.OnesCount(uint(p)) != 1 || p > class.Buckets {
		return nil, fmt.Errorf("IS class %s on %d ranks: it takes a power of two up to %d", class.Name, p, class.Buckets)
	}
	n := class.Keys / p
	s := &Sort{class: class, form: form, comm: c, shift: bits.Len(uint(class.Max)) - bits.Len(uint(class.Buckets))}
	s.keys, s.send, s.recv = make([]int32, n), mpi.Alloc[int32](n), mpi.Alloc[int32](n*room/roomOf)
	s.sizes, s.totals = make([]int32, class.Buckets+tests), make([]int32, class.Buckets+tests)
	s.scounts, s.sdispls, s.rcounts, s.rdispls = make([]int, p), make([]int, p), make([]int, p), make([]int, p)
	s.exchanged = make([]int64, 2*p)
	return s, nil
}

// fill makes the keys: four numbers of the generator each.
func (s *Sort) fill() {
	r := nas.Random(seed)
	r.Skip(4 * s.comm.Rank() * len(s.keys))
	quarter := float64(s.class.Max) / 4
	for i := range s.keys {
		x := r.Float64()
		x += r.Float64()
		x += r.Float64()
		x += r.Float64()
		s.keys[i] = int32(quarter * x)
	}
}

// Free frees the memory of messages.
func (s *Sort) Free() error {
	if err := mpi.Free(s.send); err != nil {
		return err
	}
	return mpi.Free(s.recv)
}

// Iterate ranks the keys once, as iteration t, and verifies the test keys. Collective.
func (s *Sort) Iterate(t int) error {
	s.plant(t)
	s.bucket()
	if err := s.comm.Allreduce(mpi.Of(s.sizes), mpi.Of(s.totals), mpi.Sum); err != nil {
		return err
	}
	s.deal()
	if err := s.exchangeCounts(); err != nil {
		return err
	}
	if err := s.form.exchange(s); err != nil {
		return err
	}
	s.sum()
	s.verify(t)
	return nil
}

// plant changes two keys of rank 0, and appends the test keys of this rank to the sizes.
func (s *Sort) plant(t int) {
	if s.comm.Rank() == 0 {
		s.keys[t] = int32(t)
		s.keys[t+Iterations] = int32(s.class.Max - t)
	}
	clear(s.sizes)
	n := len(s.keys)
	for i, at := range s.class.positions {
		if at/n == s.comm.Rank() {
			s.sizes[s.class.Buckets+i] = s.keys[at%n]
		}
	}
}

// deal divides the buckets among the ranks: each gets the next ones until its share of all
// keys is reached.
func (s *Sort) deal() {
	p, me := s.comm.Size(), s.comm.Rank()
	clear(s.scounts)
	s.first, s.last, s.smaller = 0, 0, 0
	total, mine, rank := 0, 0, 0
	for b, n := range s.totals[:s.class.Buckets] {
		if rank < me {
			s.smaller += int(n)
		}
		total, mine = total+int(n), mine+int(s.sizes[b])
		if rank == p || total < (rank+1)*len(s.keys) {
			continue
		}
		s.scounts[rank] = mine
		switch rank {
		case me - 1:
			s.first = (b + 1) << s.shift
			s.last = s.first
		case me:
			s.last = (b + 1) << s.shift
		}
		rank, mine = rank+1, 0
	}
}

// exchangeCounts tells every rank how many keys come, and makes room for them.
func (s *Sort) exchangeCounts() error {
	p := s.comm.Size()
	out, in := s.exchanged[:p], s.exchanged[p:]
	for i, n := range s.scounts {
		out[i] = int64(n)
	}
	if err := s.comm.Alltoall(mpi.Of(out), mpi.Of(in)); err != nil {
		return err
	}
	to, from := 0, 0
	for i, n := range in {
		s.rcounts[i] = int(n)
		s.sdispls[i], s.rdispls[i] = to, from
		to, from = to+s.scounts[i], from+int(n)
	}
	if s.own = from; from <= len(s.recv) {
		return nil
	}
	if err := mpi.Free(s.recv); err != nil {
		return err
	}
	s.recv = mpi.Alloc[int32](from * room / roomOf)
	return nil
}

// verify compares the ranks of the test keys that this rank owns.
func (s *Sort) verify(t int) {
	for i, k := range s.totals[s.class.Buckets:] {
		key := int(k)
		if key < s.first || key >= s.last {
			continue
		}
		rank := s.smaller
		if key > s.first {
			rank += int(s.ranks[key-1-s.first])
		}
		if want := s.class.want(i, t); rank != want {
			s.failed = append(s.failed, fmt.Errorf("iteration %d: key %d at position %d has rank %d instead of %d", t, key, s.class.positions[i], rank, want))
			continue
		}
		s.passed++
	}
}
