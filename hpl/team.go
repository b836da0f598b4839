package hpl

import (
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// helpers share a loop of the goroutine that calls them: a team, or idle workers of a runtime.
type helpers interface {
	// parts splits [0, n) into parts that begin at multiples of grain, calls body for each, in
	// any order, and returns when all have returned. worker numbers the helpers of a team.
	parts(n, grain int, body func(worker, first, last int))
}

// team is the workers of a rank in the drivers without tasks: the goroutine of the driver
// and size-1 helpers. A helper does its share of each forked body and then waits for the
// next, spinning for a while and then sleeping, like the threads of a threaded BLAS. Each has a core, if
// there are enough: where the system chooses, LINPACK of N = 1000 takes 5 % longer. Only
// the driver calls the methods, all on the goroutine that has made the team.
type team struct {
	size    int
	spin    time.Duration
	claim   *osthread.Claim
	pin     *osthread.Pin // of the driver; nil if the threads are not pinned
	restore func()        // GOMAXPROCS

	body    func(worker int) // the present work; nil tells the helpers to return
	number  atomic.Uint32    // number of the present work; between two works the driver owns body
	left    atomic.Int32     // helpers that have not finished
	driver  osthread.Parker
	helpers []helper
	ended   osthread.Group
}

type helper struct {
	parker osthread.Parker
	panic  any // panic of its share; the driver reads it when left is 0
	_      [64]byte
}

// newTeam starts the helpers.
func newTeam(size int) *team {
	t := &team{size: size, spin: 200 * time.Microsecond, helpers: make([]helper, size-1)}
	t.claim = osthread.ClaimCores(size)
	if t.claim.Oversubscribed() {
		t.spin = 5 * time.Microsecond // others need the core
	}
	t.restore = osthread.RaiseProcs(size)
	osthread.CalmMonitor() // a driver that waits for messages keeps it busy, too
	if size > 1 && !t.claim.Oversubscribed() {
		t.pinDriver()
	}
	for i := range t.helpers {
		t.ended.Go(func() {
			if t.pin != nil {
				osthread.LockThread()                                             // and the thread ends with the goroutine
				_ = osthread.SetAffinity(osthread.CPUSetOf(t.claim.Cores()[i+1])) // elsewhere the system chooses
			}
			t.help(i)
		})
	}
	return t
}

// pinDriver confines the driver to the first core of the team, until close. Where threads cannot be pinned,
// none is.
func (t *team) pinDriver() {
	osthread.LockThread()
	if t.pin, _ = osthread.PinTo(t.claim.Cores()[0]); t.pin == nil {
		osthread.UnlockThread()
	}
}

// close ends the helpers. They must be idle.
func (t *team) close() {
	t.fork(nil)
	t.ended.Wait()
	if t.pin != nil {
		_ = t.pin.Release()
		osthread.UnlockThread()
	}
	t.restore()
	t.claim.Release()
}

// run calls body(0), ..., body(size-1), the first on this goroutine, and returns when all
// have returned. It passes on a panic.
func (t *team) run(body func(worker int)) {
	if t.size == 1 {
		body(0)
		return
	}
	t.fork(body)
	defer t.join()
	body(0)
}

// parts splits [0, n) into at most size parts of about equal length that begin at multiples
// of grain, calls body for each, in any order, and returns when all have returned. Without
// a team there is one part.
func (t *team) parts(n, grain int, body func(worker, first, last int)) {
	grains := (n + grain - 1) / grain
	if t == nil || t.size == 1 || grains <= 1 {
		body(0, 0, n)
		return
	}
	pieces := min(t.size, grains)
	t.run(func(w int) {
		if w < pieces {
			body(w, w*grains/pieces*grain, min(n, (w+1)*grains/pieces*grain))
		}
	})
}

func (t *team) fork(body func(worker int)) {
	t.body = body
	t.left.Store(int32(len(t.helpers)))
	t.number.Add(1)
	for i := range t.helpers {
		t.helpers[i].parker.Unpark()
	}
}

// join waits for the helpers and passes on a panic.
func (t *team) join() {
	await(t.spin, &t.driver, func() bool { return t.left.Load() == 0 })
	for i := range t.helpers {
		if p := t.helpers[i].panic; p != nil {
			t.helpers[i].panic = nil
			panic(p)
		}
	}
}

// help is the loop of a helper.
func (t *team) help(i int) {
	h := &t.helpers[i]
	for n := uint32(1); ; n++ {
		await(t.spin, &h.parker, func() bool { return t.number.Load() == n })
		if t.body == nil {
			return
		}
		h.work(t.body, i+1)
		if t.left.Add(-1) == 0 {
			t.driver.Unpark()
		}
	}
}

func (h *helper) work(body func(worker int), number int) {
	defer func() { h.panic = recover() }()
	body(number)
	osthread.Settle()
}

// polls is the number of checks between two that let another thread have the core.
const polls = 16

// await returns when ready reports true. It spins for a while and then sleeps between
// checks; the goroutine that makes ready true unparks p afterwards. A leftover token only
// causes one more check.
func await(spin time.Duration, p *osthread.Parker, ready func() bool) {
	for end := osthread.Nanotime() + int64(osthread.SpinBudget(spin)); osthread.Nanotime() < end; osthread.Yield() {
		for range polls {
			if ready() {
				return
			}
			osthread.Relax()
		}
	}
	for !ready() {
		p.Park()
	}
}
