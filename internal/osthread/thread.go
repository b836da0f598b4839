package osthread

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Threads, their ends and timers. The scheduler, the communication thread and the in-process
// engine make threads, wait for them and read the clock through this package alone, so that
// another machine can stand below them.

// Go runs f on a new goroutine. It costs about 0.3 us; f begins when a P is free.
func Go(f func()) {
	if m := here(); m != nil {
		m.start(f)
		return
	}
	go f()
}

// LockThread binds the calling goroutine to its thread until UnlockThread, as
// runtime.LockOSThread. A goroutine that ends locked ends its thread.
func LockThread() {
	if here() == nil {
		runtime.LockOSThread()
	}
}

// UnlockThread undoes LockThread.
func UnlockThread() {
	if here() == nil {
		runtime.UnlockOSThread()
	}
}

// Group waits for threads. The zero value is ready. It must not be copied after first use.
type Group struct {
	wait  sync.WaitGroup
	count atomic.Int64 // threads that have not ended, for a simulated machine
}

// Add adds n threads. It comes before Wait begins, or while the group is not empty.
func (g *Group) Add(n int) {
	g.count.Add(int64(n))
	g.wait.Add(n)
}

// Done counts a thread as ended.
func (g *Group) Done() {
	g.wait.Done()
	if m := simulated.Load(); g.count.Add(-1) == 0 && m != nil {
		m.wakeFrom(unsafe.Pointer(g))
	}
}

// Go runs f as a thread of the group.
func (g *Group) Go(f func()) {
	g.Add(1)
	Go(func() {
		defer g.Done()
		f()
		Settle()
	})
}

// Wait blocks until all threads of the group have ended.
func (g *Group) Wait() {
	m := here()
	if m == nil {
		g.wait.Wait()
		return
	}
	for g.count.Load() > 0 {
		m.sleep(unsafe.Pointer(g), -1)
	}
}

// WaitTimeout is Wait that gives up after d; it reports whether all have ended. After it has
// given up, another thread goes on waiting.
func (g *Group) WaitTimeout(d time.Duration) bool {
	ended := NewSignal()
	Go(func() {
		defer ended.Set()
		g.Wait()
	})
	return ended.WaitTimeout(d)
}

// Signal is an event that happens once and stays. Any goroutine may call its methods.
type Signal struct {
	once sync.Once
	set  chan struct{}
}

// NewSignal returns a signal that is not set.
func NewSignal() *Signal { return &Signal{set: make(chan struct{})} }

// Set makes all waits end, present and later ones.
func (s *Signal) Set() {
	s.once.Do(func() { close(s.set) })
	if m := simulated.Load(); m != nil {
		m.wakeFrom(unsafe.Pointer(s))
	}
}

// Wait blocks until the signal is set.
func (s *Signal) Wait() {
	m := here()
	if m == nil {
		<-s.set
		return
	}
	for !s.isSet() {
		m.sleep(unsafe.Pointer(s), -1)
	}
}

// WaitTimeout is Wait that gives up after d, on the real machine up to a millisecond later; it
// reports whether the signal is set.
func (s *Signal) WaitTimeout(d time.Duration) bool {
	if m := here(); m != nil {
		return s.isSet() || m.sleep(unsafe.Pointer(s), max(d, 0)) || s.isSet()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-s.set:
		return true
	case <-t.C:
	}
	return s.isSet() // perhaps at the same time
}

func (s *Signal) isSet() bool {
	select {
	case <-s.set:
		return true
	default:
		return false
	}
}

// Timer calls a function later. One goroutine at a time may call its methods.
type Timer struct {
	timer   *time.Timer // nil on a simulated machine
	f       func()
	machine *machine // simulated; nil otherwise
	round   int      // on a simulated machine: a thread of an earlier round does nothing
}

// AfterFunc calls f on a new goroutine after d, on the real machine up to a millisecond later.
func AfterFunc(d time.Duration, f func()) *Timer {
	t := &Timer{f: f}
	if t.machine = here(); t.machine != nil {
		t.arm(d)
	} else {
		t.timer = time.AfterFunc(d, f)
	}
	return t
}

// Stop takes the call back, if it has not begun.
func (t *Timer) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	} else {
		t.disarm()
	}
}

// Reset has the function called after d from now. On a simulated machine a thread of it calls
// Reset.
func (t *Timer) Reset(d time.Duration) {
	if t.timer != nil {
		t.timer.Reset(d)
		return
	}
	t.disarm()
	t.arm(d)
}

func (t *Timer) arm(d time.Duration) {
	m, round := t.machine, t.round
	m.start(func() {
		if t.round == round {
			m.sleep(unsafe.Pointer(t), max(d, 0))
		}
		if t.round == round {
			t.f()
		}
	}).timer = true
}

func (t *Timer) disarm() {
	t.round++
	t.machine.wakeFrom(unsafe.Pointer(t))
}
