package dds

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// kindOfMessage is what the tool takes for equal messages: the same direction, peer and tag, and the same
// length to a factor of two.
type kindOfMessage struct {
	send, get bool
	peer, tag int
	length    int // in bits
}

func (t *Transfer) kind() kindOfMessage {
	return kindOfMessage{t.send, t.get, t.peer, t.tag, bits.Len(uint(t.head.size))}
}

// Gain is what early returns have brought: hidden is the time from the return of the
// operations to the end of the transfers, without the program's other calls in between, and cost
// the time of arming, faults and retiring, by the calibrated constants.
type Gain struct {
	Messages     int // that returned early
	Hidden, Cost time.Duration
}

// String formats the gain in words.
func (g Gain) String() string {
	return fmt.Sprintf("%d messages returned early, which hid %v and cost %v", g.Messages, g.Hidden.Round(time.Microsecond), g.Cost.Round(time.Microsecond))
}

func (g *Gain) add(h Gain) {
	g.Messages += h.Messages
	g.Hidden += h.Hidden
	g.Cost += h.Cost
}

// loses reports whether at least n messages have cost more than they hid.
func (g *Gain) loses(n int) bool { return g.Messages >= n && g.Cost > g.Hidden }

// account has the gains of a wrapped communicator. The goroutine of the tool uses it.
type account struct {
	adaptive bool
	kinds    map[kindOfMessage]*Gain
	all      Gain
	off      bool

	entered int64         // Nanotime at the beginning of the program's call of the engine; 0 between calls
	blocked time.Duration // length of the calls before
}

// enter marks the beginning of a call of the engine by the program. The returned function
// marks its end. Calls inside calls count once.
func (a *account) enter() (leave func()) {
	if a.entered != 0 {
		return func() {}
	}
	a.entered = osthread.Nanotime()
	return func() {
		a.blocked += time.Duration(osthread.Nanotime() - a.entered)
		a.entered = 0
	}
}

// inCalls returns the time that the program has spent in calls so far.
func (a *account) inCalls() time.Duration {
	if a.entered == 0 {
		return a.blocked
	}
	return a.blocked + time.Duration(osthread.Nanotime()-a.entered)
}

// returns marks the early return of the transfer's operation.
func (a *account) returns(t *Transfer) {
	t.returned, t.inCalls = osthread.Nanotime(), a.inCalls()
}

// With Adaptive, a kind of message is judged after enoughOfKind messages, and the whole mode
// after enoughOfAll.
const (
	enoughOfKind = 4
	enoughOfAll  = 24
)

// pays reports whether messages of a kind may return early.
func (a *account) pays(k kindOfMessage) bool {
	if !a.adaptive {
		return true
	}
	g := a.kinds[k]
	return !a.off && (g == nil || !g.loses(enoughOfKind))
}

// note adds a transfer that has ended, after its operation returned early.
func (a *account) note(t *Transfer) {
	g := t.gain(a.inCalls() - t.inCalls)
	k := t.kind()
	if a.kinds[k] == nil {
		a.kinds[k] = &Gain{}
	}
	a.kinds[k].add(g)
	a.all.add(g)
	a.off = a.off || a.adaptive && a.all.loses(enoughOfAll)
}

// lost returns the number of kinds of messages, and of those that are switched off.
func (a *account) lost() (off, all int) {
	for k := range a.kinds {
		if !a.pays(k) {
			off++
		}
	}
	return off, len(a.kinds)
}

// gain judges a transfer that has ended. waited is the time that the program has spent in
// calls of the engine since the return: nothing is hidden meanwhile.
func (t *Transfer) gain(waited time.Duration) Gain {
	k, g := &t.e.consts, Gain{Messages: 1}
	for _, s := range t.reports {
		if !s.Armed {
			continue
		}
		g.Cost += k.Arm + k.Retire + time.Duration((s.To-s.From)/pages.Size())*(k.ArmPage+k.RetPage)
		if s.Stall > 0 {
			g.Cost += k.Fault
			g.Hidden -= s.Stall
		}
	}
	way := k.RTT + time.Duration(float64(t.head.size)*k.Gap) // landings may be noticed late
	if t.lastLanded > t.returned {
		g.Hidden += min(time.Duration(t.lastLanded-t.returned), way)
	}
	g.Hidden = max(g.Hidden-waited, 0)
	return g
}

// setKind gives a transfer the peer and the tag of its kind.
func (t *Transfer) setKind(peer, tag int) { t.peer, t.tag = peer, tag }

// Adaptive has a [Wrapped] communicator weigh what early returns hide against what they
// cost: kinds of messages (peer, tag and length) that lose no longer return early, and if
// all together lose, none does. A trial decides whether an Alltoall is made of messages.
func Adaptive() Hint { return func(h *hints) { h.adaptive = true } }

// Gain returns what early returns have brought so far, and the numbers of kinds of messages
// (peer, tag and length) and of those that [Adaptive] has switched off. It belongs to the
// goroutine that may communicate, also after Close.
func (w *Wrapped) Gain() (g Gain, off, kinds int) {
	off, kinds = w.tool.account.lost()
	return w.tool.account.all, off, kinds
}

// autoMargin is how much longer a message must be in flight than its early return costs, for
// memory of arenas to pay in a program that knows nothing of it: all of its pages are small,
// and the program's own accesses miss the TLB. With a margin of 4, IS of class W took 1.25 and
// 1.69 of its time on 10 Gbit/s (2 and 4 ranks), and 1.03 and 0.87 on 1 Gbit/s. With 20, a machine with
// faster faults (2.7 us) returned early on 10 Gbit/s again, and IS took 1.02 to 1.10. There long messages have a ratio of
// up to 22, and on 1 Gbit/s of up to 220; 40 tells the two apart.
const autoMargin = 40

// worth is Constants.worth, with the margin of [Constants.Pays] under Adaptive.
func (a *account) worth(c Constants, n int, get bool) bool {
	if a.adaptive {
		return c.flight(n, get) > autoMargin*c.cost(n)
	}
	return c.worth(n, get)
}

// Pays returns the length of the shortest message, a power of two, from which on early
// returns pay in an unchanged program; false if none of up to 64 MiB does, or readers cannot be
// made to wait.
func (c Constants) Pays() (bytes int, ok bool) {
	for n := pages.Size(); n <= 64<<20 && c.Fault > 0; n *= 2 {
		if c.flight(n, false) > autoMargin*c.cost(n) {
			return n, true
		}
	}
	return 0, false
}
