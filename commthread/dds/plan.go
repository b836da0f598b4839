package dds

import "math"

// Cut is the division of a message into strips. It is a pure function of the size of the
// message, of constants that are equal on all ranks of an [Endpoint], and of the sender's
// hints, and travels in the header of the message: both sides cut alike whatever their
// local state. Local knowledge of a rank changes what it arms, never the cut.
//
// A message that starts while others are in flight is not decomposed: they hide each other
// (HUNT, section 5.3). [PiggybackAfter] leaves the tail of a train unarmed. A message of
// one strip is lazy if its transfer takes much longer than a fault.
type cut struct {
	Count int     // strips, at least 1
	Grow  float64 // ratio of the lengths of successive strips; 1: equal
}

// cutUnit is the unit of strip lengths, except the last: a strip is never so short that a
// page belongs to three.
const cutUnit = 64 << 10

// maxStrips is the largest number of strips of a message: more would cost the sender time
// in which the first could arrive.
const maxStrips = 64

// bounds cuts n bytes: strip i is [b[i], b[i+1]). There are fewer strips than Count if they
// would be shorter than unit bytes.
func (c cut) bounds(n, unit int) []int {
	if c.Count <= 1 || n < 2*unit {
		return []int{0, n}
	}
	grow := c.Grow
	if !(grow >= 1) { // NaN, too
		grow = 1
	}
	count := min(c.Count, maxStrips, n/unit)
	total, size := 0.0, 1.0
	for range count {
		total += size
		size *= grow
	}
	b := make([]int, 1, count+1)
	at, size := 0.0, float64(n)/total
	for range count - 1 {
		at += size
		size *= grow
		end := int(math.Round(at/float64(unit))) * unit
		if end >= b[len(b)-1]+unit && end <= n-unit {
			b = append(b, end)
		}
	}
	return append(b, n)
}

// Direction is the order of addresses in which the reader of a message accesses it.
type Direction int8

// Orders of access. A declared order is a promise: with Up or Down only one page of a strip
// is armed, and a reader that skips it reads stale bytes.
const (
	AnyOrder Direction = iota // every page of a strip is armed
	Up                        // by increasing addresses
	Down                      // by decreasing ones; the last strip is sent first
)

// Hint changes the cut and the retiring of one transfer, or of all transfers of an endpoint
// (HUNT, section 5.5).
type Hint func(*hints)

type hints struct {
	strips    int
	grow      float64
	order     Direction
	piggyback int // -1: never
	force     bool
	adaptive  bool
	fixed     *Constants
}

// Strips asks the sender for n strips, regardless of thresholds; 1 switches decomposition
// off (HUNT: set_decomp).
func Strips(n int) Hint { return func(h *hints) { h.strips = min(max(n, 1), maxStrips) } }

// Growing asks the sender for strips that grow by a factor, at least 1.
func Growing(factor float64) Hint { return func(h *hints) { h.grow = factor } }

// Order declares that the receiver's program accesses the message in one direction (HUNT:
// set_order): one page per strip is armed instead of all. For a sender, it sets the order
// of the strips on the wire.
func Order(d Direction) Hint { return func(h *hints) { h.order = d } }

// PiggybackAfter declares that the program accesses messages completely and in the order in
// which they were received: while n are outstanding, further ones are not armed, but
// retired with the last strip of the last armed one (HUNT: start_piggyback_thresh). A
// program with other accesses reads stale bytes.
func PiggybackAfter(n int) Hint { return func(h *hints) { h.piggyback = max(n, 1) } }

// Force arms every strip in flight, even where that costs more than it hides.
func Force() Hint { return func(h *hints) { h.force = true } }
