package dds

import (
	"fmt"
	"time"

	"github.com/weft-hpc/weft/internal/pages"
)

// Constants are the inputs of the thresholds: rank 0 measures them at the start, and all
// ranks of an endpoint have the same. Names as in HUNT, Table 1 and section 5.1.
type Constants struct {
	Overhead time.Duration // o: of the host, for one message
	Gap      float64       // G: ns per byte
	RTT      time.Duration // of a message of 8 bytes
	Fault    time.Duration // I: from the touch of an armed page to the reader running again
	Arm      time.Duration // M: of one page
	ArmPage  time.Duration // of each further page
	Retire   time.Duration // of one page, and its first touch after that
	RetPage  time.Duration // of each further page
}

// Fixed gives Open these constants instead of a calibration. All ranks must give the same.
func Fixed(c Constants) Hint { return func(h *hints) { h.fixed = &c } }

// first returns the length of the first strip in bytes: the shortest of 64 KiB, 128 KiB and
// so on up to 64 MiB whose transfer takes five times as long as arming it, a fault and
// retiring it. That leaves a margin over the condition of HUNT, section 5.1, that the
// transfer covers the cost of decomposition: o + M(size) + I/2 + M(N1) < RTT + G N1.
func (c Constants) first() int {
	extra := float64(c.Fault + c.Arm + c.Retire)
	n := cutUnit
	for float64(n)*c.Gap < 5*extra && n < 64<<20 {
		n *= 2
	}
	return n
}

// smallest returns the size of the smallest decomposed message: two first strips.
func (c Constants) smallest() int { return 2 * c.first() }

// cutFor returns the cut of a message of n bytes without hints: equal strips, few enough
// that each costs a small share of the time that it hides.
func (c Constants) cutFor(n int) cut {
	first := c.first()
	if c.Gap == 0 || n < 2*first {
		return cut{Count: 1, Grow: 1}
	}
	return cut{Count: min(n/first, 8+n>>20, 16), Grow: 1}
}

// inFlight returns how many strips of n bytes fill the link. A library with more of them in
// flight shares the link among them, and the first lands with the last. One is enough if
// its transfer takes long compared with the pause between two strips, a handshake between ranks that
// poll. With one strip of 128 KB in flight, 1.05 ms at 1 Gbit/s, NAS IS of class W takes 148 to 156 ms between two hosts
// under Open MPI, and with two 126 to 130; under MPICH, which needs no handshake there, 119 and 122 to 124.
func (c Constants) inFlight(n int) int {
	const polls = 2 * time.Millisecond
	if way := time.Duration(float64(n) * c.Gap); way >= polls && way >= 10*c.RTT {
		return 1
	}
	return 2
}

// worth reports whether a message of n bytes in one strip, or the answer to a get, is in
// flight for much longer than arming, a fault and retiring take.
func (c Constants) worth(n int, get bool) bool { return c.flight(n, get) > 4*c.cost(n) }

// flight returns how long such a message is in flight, in ns.
func (c Constants) flight(n int, get bool) float64 {
	way := float64(n) * c.Gap
	if get {
		way += float64(c.RTT)
	}
	return way
}

// cost returns what its early return costs at most, in ns.
func (c Constants) cost(n int) float64 {
	further := time.Duration(n / pages.Size())
	return float64(c.Fault + c.Arm + c.Retire + further*(c.ArmPage+c.RetPage))
}

// String formats the constants in the columns of HUNT's Table 1.
func (c Constants) String() string {
	return fmt.Sprintf("o %v, G %.3f us/KiB, RTT %v, I %v, protect %v + %v/page, retire %v + %v/page; strips from %d bytes on, the first of %d",
		c.Overhead, c.Gap*1024/1e3, c.RTT, c.Fault, c.Arm, c.ArmPage, c.Retire, c.RetPage, c.smallest(), c.first())
}

// decide cuts a message of n bytes while others are outstanding: not at all then, because
// messages hide each other (HUNT, section 5.3).
func (e *Endpoint) decide(n, outstanding int, h *hints) cut {
	c := e.consts.cutFor(n)
	switch {
	case h.strips > 0:
		c.Count = h.strips
	case outstanding > 0:
		c.Count = 1
	}
	if h.grow > 1 {
		c.Grow = h.grow
	}
	return c
}

// Report returns the constants of the named network as two lines with the columns of HUNT's
// Table 1.
func (c Constants) Report(network string) string {
	us := func(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/1e3) }
	return fmt.Sprintf("%-16s %8s %10s %9s %9s %12s\n%-16s %8s %10.3f %9s %9s %12s\n",
		"Network", "o (us)", "G (us/KB)", "RTT (us)", "I (us)", "protect (us)", network, us(c.Overhead), c.Gap*1024/1e3, us(c.RTT), us(c.Fault), us(c.Arm))
}
