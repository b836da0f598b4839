package osthread

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// MaxCPUs is the number of cores a [CPUSet] can name: 0 to MaxCPUs-1.
const MaxCPUs = 1024

// CPUSet is a set of cores. It is a value: it can be copied and compared with
// ==, and its zero value is the empty set. Its methods do not change it. Any goroutine; they
// do not block.
type CPUSet struct {
	words [MaxCPUs / 64]uint64
}

// CPUSetOf returns the set of the given cores. It panics on a number outside
// 0..MaxCPUs-1.
func CPUSetOf(cpus ...int) CPUSet {
	var s CPUSet
	for _, c := range cpus {
		s.add(c)
	}
	return s
}

// ParseCPUSet reads the form that [CPUSet.String] writes and the Linux kernel
// uses: numbers and inclusive ranges with commas between them, "0-3,8". The
// empty string is the empty set.
func ParseCPUSet(text string) (CPUSet, error) {
	var s CPUSet
	text = strings.TrimSpace(text)
	if text == "" {
		return s, nil
	}
	for field := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(field, "-")
		if !isRange {
			last = first
		}
		lo, errLo := strconv.Atoi(first)
		hi, errHi := strconv.Atoi(last)
		if errLo != nil || errHi != nil || lo < 0 || hi < lo || hi >= MaxCPUs {
			return CPUSet{}, fmt.Errorf("osthread: %q in the core list %q is no core and no range of cores", field, text)
		}
		for c := lo; c <= hi; c++ {
			s.add(c)
		}
	}
	return s, nil
}

func (s *CPUSet) add(cpu int) {
	if cpu < 0 || cpu >= MaxCPUs {
		panic(fmt.Sprintf("osthread: core %d is outside 0..%d", cpu, MaxCPUs-1))
	}
	s.words[cpu/64] |= 1 << (cpu % 64)
}

// Has reports whether cpu is in the set; false for a number no set can hold.
func (s CPUSet) Has(cpu int) bool {
	return cpu >= 0 && cpu < MaxCPUs && s.words[cpu/64]&(1<<(cpu%64)) != 0
}

// Count returns the number of cores in the set.
func (s CPUSet) Count() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// And returns the cores that are in both sets.
func (s CPUSet) And(t CPUSet) CPUSet {
	for i := range s.words {
		s.words[i] &= t.words[i]
	}
	return s
}

// Or returns the cores that are in either set.
func (s CPUSet) Or(t CPUSet) CPUSet {
	for i := range s.words {
		s.words[i] |= t.words[i]
	}
	return s
}

// Minus returns the cores of s that are not in t.
func (s CPUSet) Minus(t CPUSet) CPUSet {
	for i := range s.words {
		s.words[i] &^= t.words[i]
	}
	return s
}

// List returns the cores in ascending order, in a new slice; nil for the empty
// set.
func (s CPUSet) List() []int {
	n := s.Count()
	if n == 0 {
		return nil
	}
	list := make([]int, 0, n)
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			list = append(list, i*64+bits.TrailingZeros64(w))
		}
	}
	return list
}

// String returns the set as the Linux kernel prints it: "0-3,8".
func (s CPUSet) String() string {
	var b strings.Builder
	for c := 0; c < MaxCPUs; c++ {
		if !s.Has(c) {
			continue
		}
		first := c
		for s.Has(c + 1) {
			c++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(first))
		if c > first {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(c))
		}
	}
	return b.String()
}
