package osthread

import (
	"sync"
	"sync/atomic"
)

// cores is the core ledger of the process. The mask is read during package initialization,
// which runs on the main thread before any goroutine of the program can have pinned it.
var (
	inherited = startMask() // immutable
	cores     = coreLedger{usable: inherited, siblings: siblings}
)

type coreLedger struct {
	mu       sync.Mutex
	usable   CPUSet               // guarded by mu: of the process; only Confine changes it
	claimed  CPUSet               // guarded by mu: cores that live claims hold; a subset of usable
	threads  map[int]CPUSet       // guarded by mu: answers of siblings, which do not change
	siblings func(cpu int) CPUSet // immutable: hardware threads of the physical core of cpu
	crowd    atomic.Int32         // live claims that got no core, plus calls of Share
}

// Crowded reports whether threads of a holder may run on cores of another claim: a live
// claim is Oversubscribed, or other processes share the cores ([Share]). Then no thread
// should spin while it waits. Any goroutine; one atomic load; the answer changes with the
// claims.
func Crowded() bool {
	if simulated.Load() != nil {
		return ledgerHere().crowd.Load() > 0
	}
	return cores.crowd.Load() > 0
}

// Share says that other processes use the same cores as this one, for good.
func Share() { cores.crowd.Add(1) }

// Claim is a number of cores that the ledger has given to one holder, until
// [Claim.Release]. Its methods may be called by any goroutine and do not block
// beyond a short mutex.
type Claim struct {
	ledger *coreLedger
	want   int
	cores  []int // immutable
	once   sync.Once
}

// ClaimCores claims n usable cores for the caller: all n, which no other claim holds, or
// none. With none the claim is Oversubscribed, and its threads must not be pinned. Idle
// physical cores are given before second hardware threads of claimed ones, and lower numbers
// before higher. n <= 0 claims nothing and is not oversubscribed. Any goroutine; does not
// block beyond a short mutex; the first claims read a small file per core. The ledger pins
// nothing: the holder's threads call [SetAffinity].
func ClaimCores(n int) *Claim { return ledgerHere().claim(Usable(), n) }

// ClaimCoresIn is [ClaimCores] among the usable cores in set: the share of one of several
// ranks in this process.
func ClaimCoresIn(set CPUSet, n int) *Claim { return ledgerHere().claim(Usable().And(set), n) }

// FreeCores returns the number of usable cores that no claim holds now. Any goroutine; does
// not block beyond a short mutex.
func FreeCores() int { return ledgerHere().free(Usable()) }

func (l *coreLedger) free(from CPUSet) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return from.Minus(l.claimed).Count()
}

// Cores returns the claimed cores: as many as were asked for, or nil. The slice
// belongs to the claim; do not change it. It stays readable after Release, when the
// cores are no longer the holder's.
func (c *Claim) Cores() []int { return c.cores }

// Oversubscribed reports whether cores were asked for and fewer were free:
// nothing is pinned then, and nothing should spin for long.
func (c *Claim) Oversubscribed() bool { return c.want > 0 && c.cores == nil }

// Release gives the cores back. The threads of the holder must have left them,
// or will share them with the next holder. Further calls do nothing.
func (c *Claim) Release() {
	c.once.Do(func() {
		c.ledger.mu.Lock()
		defer c.ledger.mu.Unlock()
		c.ledger.claimed = c.ledger.claimed.Minus(CPUSetOf(c.cores...))
		if c.Oversubscribed() {
			c.ledger.crowd.Add(-1)
		}
	})
}

func (l *coreLedger) claim(from CPUSet, n int) *Claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Claim{ledger: l, want: n}
	if n <= 0 {
		return c
	}
	if from.Minus(l.claimed).Count() < n {
		l.crowd.Add(1)
		return c
	}
	for range n {
		cpu := l.leastLoaded(from.Minus(l.claimed).List())
		c.cores = append(c.cores, cpu)
		l.claimed.add(cpu)
	}
	return c
}

// leastLoaded returns the first of the free cores whose physical core has the
// fewest claimed hardware threads. The caller holds mu; free is not empty.
func (l *coreLedger) leastLoaded(free []int) int {
	best, bestLoad := -1, MaxCPUs+1
	for _, cpu := range free {
		if load := l.threadsOf(cpu).And(l.claimed).Count(); load < bestLoad {
			best, bestLoad = cpu, load
		}
	}
	return best
}

func (l *coreLedger) threadsOf(cpu int) CPUSet {
	set, known := l.threads[cpu]
	if !known {
		if l.threads == nil {
			l.threads = make(map[int]CPUSet)
		}
		set = l.siblings(cpu)
		l.threads[cpu] = set
	}
	return set
}
