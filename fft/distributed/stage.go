package distributed

import "sync"

// stage is the staging buffer: slots for finished planes that are not sent yet, one plane
// each, or a batch of planes (outbox). The slot freed last is used next, because it may still be in a
// cache. With Exchange the stage holds the packed pieces of all planes instead.
type stage struct {
	mem  []complex128
	slot int // elements

	mu   sync.Mutex
	free []int // guarded by mu
}

// stageSize is the size of a stage: slots of slot elements each, or packed elements.
type stageSize struct{ slots, slot, packed int }

// atLeast makes room for so many slots of this length.
func (n *stageSize) atLeast(slots, slot int) {
	n.slots, n.slot = max(n.slots, slots), max(n.slot, slot)
}

func newStage(n stageSize, alloc func(n int) ([]complex128, error)) (s *stage, err error) {
	const line = 4 // elements in a cache line
	s = &stage{slot: (n.slot + line - 1) / line * line}
	if length := max(n.packed, n.slots*s.slot); length > 0 {
		if s.mem, err = alloc(length); err != nil {
			return nil, err
		}
	}
	for i := range n.slots {
		s.free = append(s.free, n.slots-1-i)
	}
	return s, nil
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
