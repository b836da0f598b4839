//go:build !linux || nofutex

package osthread

import (
	"sync"
	"sync/atomic"
	"time"
)

// bed is a channel with room for one wake-up. An old wake-up may still be in it, and wakes
// the next sleeper for nothing: the sleeper checks the word and sleeps again. A wake-up that
// finds the channel full can be dropped, because the one in the channel wakes the sleeper.
type bed struct {
	made sync.Once
	bell chan struct{} // immutable after made
}

func (b *bed) ring() chan struct{} {
	b.made.Do(func() { b.bell = make(chan struct{}, 1) })
	return b.bell
}

// sleep is step P2: it returns when it is woken, or when d is over (d < 0:
// never). Comparing and sleeping are one step in effect: a word that leaves
// PARKED after the comparison is followed by a wake, which the channel keeps.
func (b *bed) sleep(word *atomic.Int32, d time.Duration) {
	if word.Load() != parked {
		return
	}
	if d < 0 {
		<-b.ring()
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-b.ring():
	case <-timer.C:
	}
}

// wake is step U2.
func (b *bed) wake(*atomic.Int32) {
	select {
	case b.ring() <- struct{}{}:
	default:
	}
}
