package mpitest

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/weft-hpc/weft/mpi"
)

// word returns element i of the data of a seed (splitmix64).
func word(seed, i int) uint64 {
	x := uint64(seed) + uint64(i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seedOf returns a seed for the data that xs identify.
func seedOf(xs ...int) int {
	s := len(xs)
	for _, x := range xs {
		s = int(word(s, x))
	}
	return s
}

// words returns the first n elements of the data of a seed.
func words(seed, n int) []int64 { return wordsFrom(seed, 0, n) }

// wordsFrom returns n elements from element at on.
func wordsFrom(seed, at, n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(word(seed, at+i))
	}
	return x
}

// octets returns the first n bytes of the data of a seed.
func octets(seed, n int) []byte {
	x := make([]byte, 0, n+7)
	for i := 0; 8*i < n; i++ {
		x = binary.LittleEndian.AppendUint64(x, word(seed, i))
	}
	return x[:n]
}

// untouched is the value of memory to which no message may write.
const untouched = -0x5a5a5a5a5a5a5a5b

// blank returns n untouched elements.
func blank(n int) []int64 { return slices.Repeat([]int64{untouched}, n) }

// same ends the case if got is not want, and names the first difference.
func same[T comparable](r *rank, what string, got, want []T) {
	if len(got) != len(want) {
		r.failf("%s: %d elements, and not %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			r.failf("%s: element %d of %d is %v, and not %v", what, i, len(got), got[i], want[i])
		}
	}
}

// guardedBuffer is a buffer of n bytes between guards of 8 bytes.
type guardedBuffer struct{ whole []byte }

const guardByte = 0xa5

func newMailbox(n int) guardedBuffer { return guardedBuffer{slices.Repeat([]byte{guardByte}, n+16)} }

func (m guardedBuffer) bytes() []byte      { return m.whole[8 : len(m.whole)-8] }
func (m guardedBuffer) buffer() mpi.Buffer { return mpi.Of(m.bytes()) }

// check checks that the first bytes equal want, and that no other byte was written.
func (m guardedBuffer) check(r *rank, what string, want []byte) {
	if got := m.bytes()[:len(want)]; !bytes.Equal(got, want) {
		same(r, what, got, want)
	}
	for i := range m.whole[:8] {
		m.untouched(r, what, i, len(want))
	}
	for i := 8 + len(want); i < len(m.whole); i++ {
		m.untouched(r, what, i, len(want))
	}
}

// untouched checks that byte i of the buffer and its guards, outside the message of n bytes, was not written.
func (m guardedBuffer) untouched(r *rank, what string, i, n int) {
	if m.whole[i] != guardByte {
		r.failf("%s: byte %d, outside the message of %d, was written to", what, i-8, n)
	}
}

// sizes returns lengths of messages in bytes: small, around the eager limit, large.
func (r *rank) sizes() []int {
	all := []int{0, 1, 7, 100_000, 1<<20 + 5}
	eager := r.inner().Engine().Limits().Eager
	for _, n := range []int{eager - 1, eager, eager + 1} {
		if n >= 0 && n <= 4<<20 {
			all = append(all, n)
		}
	}
	if r.long {
		all = append(all, 64, 4096, 65536, 300_001, 8<<20)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// lengths returns numbers of elements of 8 bytes, a multiple of four each: small,
// around the eager limit, large.
func (r *rank) lengths() []int {
	all := []int{0, 4, 28, 16_384}
	if eager := r.inner().Engine().Limits().Eager / 32 * 4; eager > 0 && eager <= 1<<17 {
		all = append(all, eager, eager+4)
	}
	if r.long {
		all = append(all, 1024, 1<<17)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
