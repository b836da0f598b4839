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
// operations to the end of the transfers, without waits of the program in between, and cost
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
	g := t.gain()
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

// gain judges a transfer that has ended.
func (t *Transfer) gain() Gain {
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
	g.Hidden = max(g.Hidden, 0)
	return g
}

// setKind gives a transfer the peer and the tag of its kind.
func (t *Transfer) setKind(peer, tag int) { t.peer, t.tag = peer, tag }

// returns marks the return of the transfer's operation.
func (t *Transfer) returns() { t.returned = osthread.Nanotime() }

// Adaptive has a [Wrapped] communicator weigh what early returns hide against what they
// cost: kinds of messages (peer, tag and length) that lose no longer return early, and if
// all together lose, none does.
func Adaptive() Hint { return func(h *hints) { h.adaptive = true } }

// Gain returns what early returns have brought so far, and the numbers of kinds of messages
// (peer, tag and length) and of those that [Adaptive] has switched off. It belongs to the
// goroutine that may communicate, also after Close.
func (w *Wrapped) Gain() (g Gain, off, kinds int) {
	off, kinds = w.tool.account.lost()
	return w.tool.account.all, off, kinds
}

// Pays returns the length of the shortest message, a power of two, whose early return hides
// more than it costs; false if none of up to 64 MiB does, or readers cannot be made to wait.
func (c Constants) Pays() (bytes int, ok bool) {
	for n := pages.Size(); n <= 64<<20 && c.Fault > 0; n *= 2 {
		if c.worth(n, false) {
			return n, true
		}
	}
	return 0, false
}
