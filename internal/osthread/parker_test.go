package osthread

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onThread runs f on a new thread that ends with it; wait for done.
func onThread(f func()) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(done)
		f()
	}()
	return done
}

// finishes fails the test if done does not come; a lost wake-up is a hang.
func finishes(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		require.Fail(t, "a wake-up was lost: still asleep after 30 s")
	}
}

func TestParker_token(t *testing.T) {
	var p Parker
	p.Unpark()
	p.Unpark()
	p.Park() // does not sleep: the token was there
	assert.False(t, p.ParkTimeout(time.Millisecond), "tokens do not add up")
	assert.False(t, p.ParkTimeout(0))
	p.Unpark()
	assert.True(t, p.ParkTimeout(0))
	p.Unpark()
	assert.True(t, p.ParkTimeout(math.MaxInt64))
	assert.False(t, p.ParkTimeout(-1))
}

func TestParker_timeout_is_not_early(t *testing.T) {
	var p Parker
	start := time.Now()
	assert.False(t, p.ParkTimeout(3*time.Millisecond))
	assert.GreaterOrEqual(t, time.Since(start), 3*time.Millisecond)
	assert.False(t, p.Asleep())
}

func TestParker_asleep(t *testing.T) {
	var p Parker
	assert.False(t, p.Asleep())
	done := onThread(p.Park)
	for !p.Asleep() {
		runtime.Gosched()
	}
	assert.Panics(t, p.Park, "a second owner")
	p.word.Store(parked) // the second owner changed it
	p.Unpark()
	finishes(t, done)
	assert.False(t, p.Asleep())
}

// Two threads hand a plain variable back and forth, so that under the race
// detector the word itself must order their accesses. Every turn sleeps, or races
// with going to sleep.
func TestParker_ping_pong(t *testing.T) {
	const rounds = 1000
	var ping, pong Parker
	value := 0
	there := onThread(func() {
		for range rounds {
			ping.Park()
			value++
			pong.Unpark()
		}
	})
	here := onThread(func() {
		for i := range rounds {
			assert.Equal(t, i, value)
			ping.Unpark()
			pong.Park()
		}
	})
	finishes(t, here)
	finishes(t, there)
	assert.Equal(t, rounds, value)
}

// One producer, one consumer that gives up at times of the order of the
// producer's own: each token is taken exactly once, whichever comes first.
func TestParker_timeouts_racing_with_unparks(t *testing.T) {
	const rounds = 1000
	var p Parker
	var taken atomic.Int64
	value, missed := 0, 0
	consumer := onThread(func() {
		r := rand.New(rand.NewPCG(1, 2))
		for i := 1; i <= rounds; i++ {
			for !p.ParkTimeout(time.Duration(1 + r.IntN(60_000))) {
				missed++
			}
			assert.Equal(t, i, value)
			taken.Store(int64(i))
		}
	})
	producer := onThread(func() {
		r := rand.New(rand.NewPCG(3, 4))
		for i := 1; i <= rounds; i++ {
			for taken.Load() != int64(i-1) {
				runtime.Gosched()
			}
			for until := Nanotime() + int64(r.IntN(60_000)); Nanotime() < until; {
				Relax()
			}
			value = i
			p.Unpark()
		}
	})
	finishes(t, consumer)
	finishes(t, producer)
	assert.False(t, p.ParkTimeout(0), "no token is left over")
	t.Logf("%d timeouts in %d rounds", missed, rounds)
}

// Several wakers, one sleeper, tokens that fall together: the sleeper must still
// see the last of them.
func TestParker_many_wakers(t *testing.T) {
	const wakers, each = 4, 500
	var p Parker
	var posted atomic.Int64
	done := onThread(func() {
		for posted.Load() < wakers*each {
			p.Park()
		}
	})
	var wg sync.WaitGroup
	for range wakers {
		wg.Go(func() {
			for range each {
				posted.Add(1)
				p.Unpark()
			}
		})
	}
	wg.Wait()
	finishes(t, done)
}

func TestParker_does_not_allocate(t *testing.T) {
	var p Parker
	p.ParkTimeout(time.Microsecond) // the portable bed makes its channel here
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		p.Unpark()
		p.Park()
	}))
}
