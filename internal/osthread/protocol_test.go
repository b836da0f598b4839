package osthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The protocol of the package doc as a model: one owner that parks once, with or without a
// timeout, two wakers that unpark once each, and a kernel that compares and sleeps as one
// step and may wake for no reason. Every interleaving of the steps is visited. Verified: no
// interleaving ends with the owner asleep. The second owner's panic is never reached. A
// plain Park returns only with a token. A token left before the end is taken or still there.
// Not verified: the kernel, the compiler, more than two wakers.
type model struct {
	word    int32
	owner   string // step the owner is about to take
	asleep  bool
	wakers  [2]string
	unparks int // U1 steps taken
	taken   int // tokens the owner has taken
}

func (m model) next(timeout bool) []model {
	var all []model
	step := func(f func(*model)) {
		n := m
		f(&n)
		all = append(all, n)
	}
	take := func(n *model) { n.word, n.taken, n.owner = empty, n.taken+1, "took" }
	switch m.owner {
	case "P1":
		step(func(n *model) {
			if n.word--; n.word == empty {
				take(n)
				return
			}
			n.owner = "P2"
		})
	case "P2":
		if m.asleep { // only a waker, a timeout or the kernel's whim gets it on
			step(func(n *model) { n.asleep, n.owner = false, "P3" })
			break
		}
		step(func(n *model) {
			if n.asleep = n.word == parked; !n.asleep {
				n.owner = "P3"
			}
		})
	case "P3":
		step(func(n *model) {
			if n.owner = "P2"; n.word == notified {
				take(n)
			}
		})
		if timeout {
			step(func(n *model) { // the last exchange of a ParkTimeout
				if n.owner = "gave up"; n.word == notified {
					take(n)
				}
				n.word = empty
			})
		}
	}
	for i, at := range m.wakers {
		switch at {
		case "U1":
			step(func(n *model) {
				if n.wakers[i] = "done"; n.word == parked {
					n.wakers[i] = "U2"
				}
				n.word = notified
				n.unparks++
			})
		case "U2":
			step(func(n *model) {
				n.wakers[i] = "done"
				if n.asleep {
					n.asleep, n.owner = false, "P3"
				}
			})
		}
	}
	return all
}

func TestParker_protocol_exhaustively(t *testing.T) {
	for _, timeout := range []bool{false, true} {
		start := model{word: empty, owner: "P1", wakers: [2]string{"U1", "U1"}}
		seen := map[model]bool{start: true}
		for todo := []model{start}; len(todo) > 0; {
			m := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			require.Contains(t, []int32{empty, notified, parked}, m.word)
			if m.wakers == [2]string{"done", "done"} {
				assert.False(t, m.asleep && m.word == notified, "asleep beside a token: %+v", m)
				assert.False(t, m.asleep && m.unparks > 0 && m.taken == 0, "a lost wake-up: %+v", m)
				if m.owner == "gave up" {
					assert.Equal(t, notified, m.word, "the token of an unpark after the timeout stays: %+v", m)
				}
			}
			assert.LessOrEqual(t, m.taken, m.unparks)
			for _, n := range m.next(timeout) {
				if !seen[n] {
					seen[n] = true
					todo = append(todo, n)
				}
			}
		}
		t.Logf("timeout=%v: %d states", timeout, len(seen))
	}
}
