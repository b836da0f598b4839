package distributed

import "sync"

// stage is the staging buffer: slots for finished planes that are not sent yet, one plane
// each. The slot freed last is used next, because it may still be in a cache. With
// Exchange the stage holds the packed pieces of all planes instead.
type stage struct {
	mem  []complex128
	slot int // elements

	mu   sync.Mutex
	free []int // guarded by mu
}

func newStage(slots, slot, length int, alloc func(n int) ([]complex128, error)) (s *stage, err error) {
	const line = 4 // elements in a cache line
	slot = (slot + line - 1) / line * line
	s = &stage{slot: slot}
	if length = max(length, slots*slot); length > 0 {
		if s.mem, err = alloc(length); err != nil {
			return nil, err
		}
	}
	for i := range slots {
		s.free = append(s.free, slots-1-i)
	}
	return s, nil
}

func (s *stage) slots() int {
	if s.slot == 0 {
		return 0
	}
	return len(s.mem) / s.slot
}

// acquire returns a free slot, -1 if there is none.
func (s *stage) acquire() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) == 0 {
		return -1
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return i
}

func (s *stage) release(i int) {
	s.mu.Lock()
	s.free = append(s.free, i)
	s.mu.Unlock()
}

// plane returns the first n elements of a slot.
func (s *stage) plane(i, n int) []complex128 { return s.mem[i*s.slot : i*s.slot+n : i*s.slot+n] }
