package is

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
	"github.com/weft-hpc/weft/mpi"
)

// Result of a run, the same on all ranks.
type Result struct {
	Seconds float64 // of the slowest rank
	Passed  int     // verified ranks of test keys, and the order of all keys: at most Most
	Verdict error   // nil: verified
}

// Most is the Passed of a verified run.
const Most = tests*Iterations + 1

// Run makes the keys, an iteration that is not timed, the timed ones, and verifies the order of all
// keys. Each is called before every timed iteration; nil: not. Collective.
func (s *Sort) Run(each func(t int)) (*Result, error) {
	s.fill()
	if err := s.Iterate(1); err != nil {
		return nil, err
	}
	s.passed, s.failed = 0, nil
	pages.WarmHeap()
	if err := s.comm.Barrier(); err != nil {
		return nil, err
	}
	from := osthread.Nanotime()
	for t := 1; t <= Iterations; t++ {
		if each != nil {
			each(t)
		}
		if err := s.Iterate(t); err != nil {
			return nil, err
		}
	}
	r := &Result{Seconds: float64(osthread.Nanotime()-from) / 1e9}
	if err := s.comm.Allreduce(mpi.InPlace, mpi.One(&r.Seconds), mpi.Max); err != nil {
		return nil, err
	}
	return r, s.conclude(r)
}

// conclude verifies the order of all keys, and adds up what the ranks have verified.
func (s *Sort) conclude(r *Result) error {
	wrong, err := s.disorder()
	if err != nil {
		return err
	}
	counts := []int64{int64(wrong), int64(s.passed)}
	if err := s.comm.Allreduce(mpi.InPlace, mpi.Of(counts), mpi.Sum); err != nil {
		return err
	}
	r.Passed = int(counts[1])
	if counts[0] == 0 {
		r.Passed++
	} else {
		s.failed = append(s.failed, fmt.Errorf("%d keys are out of order", counts[0]))
	}
	if r.Passed != Most {
		r.Verdict = errors.Join(append(s.failed, fmt.Errorf("IS class %s: %d of %d checks passed", s.class.Name, r.Passed, Most))...)
	}
	return nil
}

// disorder sorts the keys of this rank by their ranks, and returns how many keys are not in
// order, in this rank or after the rank before.
func (s *Sort) disorder() (wrong int, err error) {
	sorted, wrong := s.sorted()
	least, most := int64(-1), int64(-1)
	if len(sorted) > 0 {
		least, most = int64(sorted[0]), int64(sorted[len(sorted)-1])
	}
	before := []int64{-1} // the largest key of the ranks before
	if err := s.comm.Exscan(mpi.Of([]int64{most}), mpi.Of(before), mpi.Max); err != nil {
		return 0, err
	}
	if s.comm.Rank() > 0 && least >= 0 && before[0] > least {
		wrong++
	}
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1] > sorted[i] {
			wrong++
		}
	}
	return wrong, nil
}

// sorted puts each received key at its rank, counted down, and returns how many have none.
func (s *Sort) sorted() (out []int32, lost int) {
	out = make([]int32, s.own)
	next := append([]int32(nil), s.ranks...)
	if s.form == Nonblocking { // the keys that stay have not moved
		me := s.comm.Rank()
		copy(s.part(me), s.send[s.sdispls[me]:][:s.scounts[me]])
	}
	for _, k := range s.recv[:s.own] {
		i := int(k) - s.first
		if i < 0 || i >= len(next) || next[i] < 1 || int(next[i]) > len(out) {
			lost++
			continue
		}
		next[i]--
		out[next[i]] = k
	}
	return out, lost
}
