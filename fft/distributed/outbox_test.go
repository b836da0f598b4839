package distributed

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// use is a task that uses an outbox: a plane, which writes its places, or a send, which reads them.
type use struct {
	writes bool
	places []byte
	run    func()
}

// uses returns the tasks of all planes and sends of an outbox, in the order of their spawns.
func uses(o *outbox, tokens func(u, n int) []byte) (all []use) {
	for u := 0; u < o.planes(); u++ {
		all = append(all, use{true, tokens(u, 1), func() { o.computed(u, o.memory(u)) }})
		first, count := o.message(u)
		if u != first+count-1 {
			continue
		}
		for q := range o.x.size {
			if p := (&parcel{out: o, q: q, first: first, count: count}); q != o.x.me && p.bytes() > 0 {
				all = append(all, use{false, o.tokens(first, count), func() { p.Buffer(); p.Sent() }})
			}
		}
	}
	return all
}

// conflict reports whether two tasks are ordered.
func conflict(a, b use) bool {
	x, y := uintptr(unsafe.Pointer(&a.places[0])), uintptr(unsafe.Pointer(&b.places[0]))
	return (a.writes || b.writes) && x < y+uintptr(len(b.places)) && y < x+uintptr(len(a.places))
}

// inSomeOrder runs tasks in a random order that their places permit.
func inSomeOrder(all []use, dice *rand.Rand) {
	for len(all) > 0 {
		var ready []int
		for i := range all {
			free := true
			for j := 0; j < i && free; j++ {
				free = !conflict(all[i], all[j])
			}
			if free {
				ready = append(ready, i)
			}
		}
		i := ready[dice.IntN(len(ready))]
		if dice.IntN(4) > 0 { // mostly planes before sends, which then wait as long as they can
			for _, k := range ready {
				if all[k].writes {
					i = k
					break
				}
			}
		}
		all[i].run()
		all = append(all[:i:i], all[i+1:]...)
	}
}

func outboxOf(t *testing.T, size, planes, perMessage, most int) *outbox {
	x := &exchange{size: size, distributed: true, units: partition{size * planes, size}, rows: partition{6, size}, cols: partition{1, 1}, groups: 1}
	o := newOutbox(x, 1, perMessage, most)
	var n stageSize
	n.atLeast(o.batches(), perMessage*o.plane())
	s, err := newStage(n, func(n int) ([]complex128, error) { return make([]complex128, n), nil })
	require.NoError(t, err)
	if most > 0 {
		require.LessOrEqual(t, n.slots*perMessage, most, "planes of the stage")
	}
	o.use(s, nil)
	return o
}

// In any order that dependences permit every batch finds a slot, the stage has no more planes than it may have, and in the end all are free.
func TestOutbox_slots(t *testing.T) {
	for seed := range uint64(20) {
		dice := rand.New(rand.NewPCG(seed, 1))
		for _, perMessage := range []int{1, 2, 3, 4} {
			for _, most := range []int{0, perMessage, 2 * perMessage, 4 * perMessage} {
				for _, planes := range []int{1, 5, 24, 37} {
					o := outboxOf(t, 1+int(seed)%4, planes, perMessage, most)
					inSomeOrder(uses(o, o.tokens), dice)
					assert.Len(t, o.stage.free, o.batches(), "seed %d: %d planes, %d in a message, stage %d", seed, planes, perMessage, most)
				}
			}
		}
	}
}

// The negative control: if the first plane in the places of the first batch waits for its own place alone, some batch finds no slot.
func TestOutbox_slots_too_early(t *testing.T) {
	attempt := func(seed uint64) (failed bool) {
		defer func() { failed = recover() != nil }()
		o := outboxOf(t, 2, 37, 4, 8)
		inSomeOrder(uses(o, func(u, n int) []byte { return o.places[u%len(o.places):][:n] }), rand.New(rand.NewPCG(seed, 1)))
		return false
	}
	for seed := range uint64(100) {
		if attempt(seed) {
			return
		}
	}
	t.Error("every batch found a slot")
}

// The slot that was sent last is used next.
func TestOutbox_last_slot_first(t *testing.T) {
	o := outboxOf(t, 2, 40, 1, 8)
	for u := range 40 {
		plane := o.memory(u)
		o.computed(u, plane)
		p := &parcel{out: o, q: 1, first: u, count: 1}
		require.Equal(t, p.bytes(), p.Buffer().Bytes())
		p.Sent()
		require.Same(t, &o.stage.mem[0], &plane[0], "plane %d", u)
	}
}
