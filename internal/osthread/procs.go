package osthread

import (
	"fmt"
	"runtime"
	"sync"
)

// procs is the GOMAXPROCS ledger of the process.
var procs procsLedger

type procsLedger struct {
	mu      sync.Mutex // guards all fields; held while the world is stopped to change the number
	holders int        // live holders
	need    int        // sum of what they need
	found   int        // GOMAXPROCS at the first of them
	set     int        // what this ledger last set it to, 0 if it did not
	changes int        // how often this ledger has changed it since the process started
}

// RaiseProcs keeps GOMAXPROCS at least at the sum of need over all live holders,
// plus one for the rest of the program, whatever the environment says. It is
// never lowered while there is a holder, and the last restore brings back what the
// first holder found, unless the program has set another number meanwhile: then
// that one stays. Restoring twice does nothing. After an explicit change the Go
// runtime no longer follows the container's CPU limit by itself.
//
// Any goroutine. A change stops the world, so it waits until every running
// goroutine can be interrupted; without a change nothing stops. need >= 0.
func RaiseProcs(need int) (restore func()) { return RaiseProcsFunc(need, nil) }

// RaiseProcsFunc is [RaiseProcs] and tells the caller: if this very call had to
// change GOMAXPROCS, changed is called once with the number before and after,
// on the calling goroutine, before RaiseProcsFunc returns and outside any lock.
func RaiseProcsFunc(need int, changed func(from, to int)) (restore func()) {
	if need < 0 {
		panic(fmt.Sprintf("osthread: RaiseProcs of %d", need))
	}
	from, to := procs.raise(need)
	if from != to && changed != nil {
		changed(from, to)
	}
	return sync.OnceFunc(func() { procs.restore(need) })
}

// ProcsChanges returns how often this package has changed GOMAXPROCS since the
// process started, restoring included. Any goroutine; waits for a change under
// way.
func ProcsChanges() int {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	return procs.changes
}

func (l *procsLedger) raise(need int) (from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := runtime.GOMAXPROCS(0)
	if l.holders == 0 {
		l.found = now
	}
	l.holders++
	l.need += need
	if now > l.need {
		return now, now
	}
	l.set = l.change(l.need + 1)
	return now, l.set
}

func (l *procsLedger) restore(need int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holders--
	l.need -= need
	if l.holders > 0 {
		return
	}
	if l.set != 0 && runtime.GOMAXPROCS(0) == l.set {
		l.change(l.found)
	}
	l.set = 0
}

func (l *procsLedger) change(n int) int {
	runtime.GOMAXPROCS(n)
	l.changes++
	return runtime.GOMAXPROCS(0)
}
