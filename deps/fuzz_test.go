package deps

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// tape turns the bytes of a fuzzer into decisions; at its end all are 0.
type tape []byte

func (t *tape) below(n int) int {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return int(b) % n
}

func (t *tape) shape() shape {
	switch t.below(4) {
	case 0:
		return handle(uintptr(t.below(3)))
	case 1, 2:
		from := t.below(64)
		return span(from, 1+t.below(64-from))
	}
	ld := 2 + t.below(14)
	rows := 1 + t.below(ld)
	cols := 1 + t.below((64-rows)/ld+1)
	return block(t.below(64-(cols-1)*ld-rows+1), rows, cols, ld)
}

// FuzzTracker reads a program from bytes: regions, then tasks with accesses, ends of tasks,
// failures, combinations, forgiveness and fresh starts in any order. After every step
// exactly the right nodes are ready and poisoned; at the end everything has run, and the
// edges equal the oracle's.
func FuzzTracker(f *testing.F) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 16<<(seed%5))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := tape(data)
		l := newLab(in.below(2) == 1)
		l.reuse = in.below(2) == 1
		palette := make([]shape, 1+in.below(8))
		for i := range palette {
			palette[i] = in.shape()
		}
		var p program
		for len(in) > 0 && len(l.oracle.preds) < setSize-16 && l.err == nil {
			p = fuzzStep(l, &in, palette, p)
		}
		l.tracker.CloseReductions(Region{})
		l.drain(nil)
		if l.edges != nil {
			l.compare(l.told())
		}
		require.NoError(t, l.err, "%v", p)
	})
}

func fuzzStep(l *lab, in *tape, palette []shape, p program) program {
	switch op := in.below(32); {
	case op < 10:
		if len(l.ready) > 0 {
			l.release(in.below(len(l.ready)), op == 0)
		}
	case op == 10:
		var r Region
		if in.below(4) != 0 {
			r = palette[in.below(len(palette))].Region
		}
		l.tracker.CloseReductions(r)
	case op == 11:
		if in.below(8) == 0 { // end all tasks
			l.tracker.CloseReductions(Region{})
			l.drain(nil)
			l.forgive()
			if in.below(2) == 0 && l.edges == nil {
				l.forget()
				return nil
			}
		}
	default:
		var task []access
		for range in.below(5) {
			task = append(task, access{palette[in.below(len(palette))], Mode(in.below(int(Reduction) + 1)), in.below(2)})
		}
		p = append(p, task)
		l.submit(task)
	}
	return p
}

// FuzzOverlap compares two regions of any size run by run.
func FuzzOverlap(f *testing.F) {
	f.Add(uint16(0), uint8(4), uint8(3), uint8(4), uint16(4), uint8(4), uint8(3), uint8(4))
	f.Add(uint16(10), uint8(1), uint8(20), uint8(99), uint16(0), uint8(30), uint8(2), uint8(0))
	f.Add(uint16(500), uint8(255), uint8(255), uint8(255), uint16(0), uint8(7), uint8(255), uint8(13))
	f.Add(uint16(3), uint8(10), uint8(30), uint8(1), uint16(14), uint8(9), uint8(30), uint8(1))
	var memory [1 << 18]byte
	make1 := func(from uint16, rows, cols, gap uint8) Region {
		r, err := Tile(unsafe.Pointer(&memory[from]), int(rows), int(cols), int(rows)+int(gap), 1)
		if err != nil {
			panic(err)
		}
		return r
	}
	f.Fuzz(func(t *testing.T, from1 uint16, rows1, cols1, gap1 uint8, from2 uint16, rows2, cols2, gap2 uint8) {
		r, s := make1(from1, rows1, cols1, gap1), make1(from2, rows2, cols2, gap2)
		meet, within := byRuns(r, s)
		require.Equal(t, meet, r.Overlaps(s), "%v overlaps %v", r, s)
		require.Equal(t, meet, s.Overlaps(r), "%v overlaps %v", s, r)
		mayMiss := r.cols > 1 && s.cols > 1 && r.ld != s.ld
		if got := r.Contains(s); got || !mayMiss {
			require.Equal(t, within, got, "%v contains %v", r, s)
		}
		require.Equal(t, !r.Empty(), r.Overlaps(r))
		require.True(t, r.Contains(r))
	})
}

// byRuns compares every run of bytes of r with every run of s. It reports whether any two
// overlap, and whether each run of s lies within one of r.
func byRuns(r, s Region) (meet, within bool) {
	within = true
	for k := range s.cols {
		lo, inside := s.base+k*s.ld, false
		for i := range r.cols {
			from := r.base + i*r.ld
			if from < lo+s.rows && lo < from+r.rows {
				meet = true
			}
			inside = inside || from <= lo && lo+s.rows <= from+r.rows
		}
		within = within && inside
	}
	return meet, within
}
