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
	sum     Procs      // of their needs
	found   int        // GOMAXPROCS at the first of them
	set     int        // the value that this ledger last set, 0 if it did not
	changes int        // how often this ledger has changed it since the process started
}

// Procs is the need of a holder of the GOMAXPROCS ledger.
type Procs struct {
	// Compute counts goroutines that take turns on the cores. All holders together get at
	// most two Ps per usable core for them: one for a goroutine that computes, one for a
	// goroutine that sleeps and keeps its P.
	Compute int
	// Sleep counts goroutines that may sleep and keep their P, beyond those: comm
	// threads, and bodies that block. Each gets a P.
	Sleep int
}

// total is the number of Ps for p on a number of cores.
func (p Procs) total(cores int) int { return min(p.Compute, 2*cores) + p.Sleep }

func (p Procs) plus(q Procs) Procs { return Procs{p.Compute + q.Compute, p.Sleep + q.Sleep} }

// RaiseProcs raises GOMAXPROCS to the sum of the needs of all live holders, plus one for the
// rest of the program, even over the environment. need counts goroutines that may sleep and
// keep their P. GOMAXPROCS is not lowered while there is a holder. The last restore sets it
// to its value before the first holder, unless the program has set another number meanwhile:
// then that number stays. Restoring twice does nothing. After an explicit change the Go
// runtime no longer follows the container's CPU limit by itself.
//
// Any goroutine. A change stops the world, so it waits until every running
// goroutine can be interrupted; without a change nothing stops. need >= 0.
func RaiseProcs(need int) (restore func()) { return RaiseProcsFunc(Procs{Sleep: need}, nil) }

// RaiseProcsFunc is [RaiseProcs] for needs of both kinds. If this call changes GOMAXPROCS, it
// calls changed once with the numbers before and after, on the calling goroutine, before it
// returns and outside any lock.
func RaiseProcsFunc(need Procs, changed func(from, to int)) (restore func()) {
	if need.Compute < 0 || need.Sleep < 0 {
		panic(fmt.Sprintf("osthread: RaiseProcs of %+v", need))
	}
	if here() != nil { // coroutines take turns on one P
		return func() {}
	}
	from, to := procs.raise(need, NumCores())
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

func (l *procsLedger) raise(need Procs, cores int) (from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := runtime.GOMAXPROCS(0)
	if l.holders == 0 {
		l.found = now
	}
	l.holders++
	l.sum = l.sum.plus(need)
	n := l.sum.total(cores)
	if now > n {
		return now, now
	}
	l.set = l.change(n + 1)
	return now, l.set
}

func (l *procsLedger) restore(need Procs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holders--
	l.sum = l.sum.plus(Procs{-need.Compute, -need.Sleep})
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
