package deps

import (
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"testing"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/invariant"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the first random round; 0 means 1, or the clock if WEFT_LONG is set")

// raceFactor is the slowdown of these tests under the race detector; samples shrink by it.
var raceFactor = map[bool]int{false: 1, true: 10}[invariant.Race]

// long reports whether the run may take minutes.
func long() bool { return os.Getenv("WEFT_LONG") == "1" }

func firstSeed() uint64 {
	switch {
	case *seedFlag != 0:
		return *seedFlag
	case long():
		return uint64(time.Now().UnixNano())
	}
	return 1
}

// rounds calls f n times (ten times as often in a long run, fewer times under
// the race detector), each time with another seed. A round that fails prints
// the flag that makes it the first round.
func rounds(t *testing.T, n int, f func(rng *rand.Rand)) {
	t.Helper()
	n = max(1, n/raceFactor)
	if long() {
		n *= 10
	}
	first := firstSeed()
	for seed := first; seed < first+uint64(n); seed++ {
		round(t, seed, f)
	}
}

func round(t *testing.T, seed uint64, f func(rng *rand.Rand)) {
	t.Helper()
	done := false
	defer func() {
		if !done || t.Failed() {
			t.Logf("to repeat: go test ./deps -run '^%s$' -seed=%d", t.Name(), seed)
		}
	}()
	f(rand.New(rand.NewPCG(seed, 0)))
	done = true
}

// arena is the memory of the test regions. A set of its bytes fits a word.
var arena [64]byte

// A shape is a region together with its bytes, found without the code under test.
type shape struct {
	Region
	bytes uint64
	name  string
}

// span is the interval of n bytes at offset from of the arena.
func span(from, n int) shape {
	s := shape{name: fmt.Sprintf("[%d,%d)", from, from+n)}
	if n == 0 {
		return s
	}
	s.Region = Bytes(unsafe.Pointer(&arena[from]), uintptr(n))
	for i := range n {
		s.bytes |= 1 << (from + i)
	}
	return s
}

// block is the tile of rows x cols bytes at offset from of the arena.
func block(from, rows, cols, ld int) shape {
	r, err := Tile(unsafe.Pointer(&arena[from]), rows, cols, ld, 1)
	if err != nil {
		panic(err)
	}
	s := shape{Region: r, name: fmt.Sprintf("tile(%d+%dx%d/%d)", from, rows, cols, ld)}
	for c := range cols {
		for i := range rows {
			s.bytes |= 1 << (from + c*ld + i)
		}
	}
	return s
}

func handle(id uintptr) shape {
	return shape{Region: Handle(id), name: fmt.Sprintf("handle(%d)", id)}
}

func (s shape) String() string { return s.name }

// meets reports whether s and o overlap, by their bytes.
func (s shape) meets(o shape) bool {
	if s.IsHandle() || o.IsHandle() {
		return s.Region == o.Region
	}
	return s.bytes&o.bytes != 0
}

// covers reports whether s has every byte of o.
func (s shape) covers(o shape) bool {
	if s.IsHandle() || o.IsHandle() {
		return s.Region == o.Region || o.Empty()
	}
	return o.bytes&^s.bytes == 0
}

// randomShape draws a shape of any kind. Numbers are small, so that regions often coincide,
// touch and overlap.
func randomShape(rng *rand.Rand) shape {
	switch rng.IntN(8) {
	case 0:
		return handle(uintptr(rng.IntN(3)))
	case 1, 2, 3:
		from := rng.IntN(64)
		return span(from, 1+rng.IntN(min(64-from, 24)))
	}
	for {
		ld := []int{4, 7, 8, 8, 8, 16}[rng.IntN(6)]
		rows, cols := 1+rng.IntN(ld), 1+rng.IntN(4)
		if extent := (cols-1)*ld + rows; extent <= 64 {
			return block(rng.IntN(65-extent), rows, cols, ld)
		}
	}
}

// A set is a set of small numbers.
type set [4]uint64

const setSize = 256

func (s *set) add(i int)      { s[i>>6] |= 1 << (i & 63) }
func (s *set) has(i int) bool { return s[i>>6]>>(i&63)&1 != 0 }

func (s *set) union(o *set) {
	for i := range s {
		s[i] |= o[i]
	}
}

// minus returns the members of s that o lacks.
func (s *set) minus(o *set) (d set) {
	for i := range s {
		d[i] = s[i] &^ o[i]
	}
	return d
}

func (s *set) empty() bool { return *s == set{} }

// first returns the lowest member.
func (s *set) first() int {
	for i, w := range s {
		if w != 0 {
			return 64*i + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// closure completes a relation, given as one set of predecessors per number.
func closure(preds []set) []set {
	c := make([]set, len(preds))
	copy(c, preds)
	for k := range c {
		for i := range c {
			if c[i].has(k) {
				c[i].union(&c[k])
			}
		}
	}
	return c
}
