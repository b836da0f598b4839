package hpl

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// team is the workers of a rank in the drivers without tasks: the goroutine that drives,
// and size-1 helpers that do their share of what it forks and then wait for more,
// spinning for a while and sleeping after that, as the threads of a threaded BLAS do.
// Only the driver calls its methods.
type team struct {
	size    int
	spin    time.Duration
	claim   *osthread.Claim // says whether there is a core for each; nothing is pinned
	restore func()          // GOMAXPROCS

	body    func(worker int) // of the present work; nil tells the helpers to return
	number  atomic.Uint32    // of the present work: body belongs to the driver between
	left    atomic.Int32     // helpers that have not finished it
	driver  osthread.Parker
	helpers []helper
	ended   sync.WaitGroup
}

type helper struct {
	parker osthread.Parker
	panic  any // what its share panicked with; the driver's when left is 0
	_      [64]byte
}

// newTeam starts the helpers.
func newTeam(size int) *team {
	t := &team{size: size, spin: 200 * time.Microsecond, helpers: make([]helper, size-1)}
	t.claim = osthread.ClaimCores(size)
	if t.claim.Oversubscribed() {
		t.spin = 5 * time.Microsecond // somebody else needs the core
	}
	t.restore = osthread.RaiseProcs(size)
	for i := range t.helpers {
		t.ended.Go(func() { t.help(i) })
	}
	return t
}

// close ends the helpers, which have nothing to do.
func (t *team) close() {
	t.fork(nil)
	t.ended.Wait()
	t.restore()
	t.claim.Release()
}

// run calls body(0), ..., body(size-1), the first of them here, and returns when all have
// returned. A panic of one is a panic of run.
func (t *team) run(body func(worker int)) {
	if t.size == 1 {
		body(0)
		return
	}
	t.fork(body)
	defer t.join()
	body(0)
}

// parts calls body for at most size parts of n that begin at multiples of grain, about
// equally long and in any order; all of them have returned when it does. Without a team
// there is one part.
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

// join waits for the helpers, and passes a panic on.
func (t *team) join() {
	await(t.spin, &t.driver, func() bool { return t.left.Load() == 0 })
	for i := range t.helpers {
		if p := t.helpers[i].panic; p != nil {
			t.helpers[i].panic = nil
			panic(p)
		}
	}
}

// help is the life of a helper.
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
}

// await returns when ready says so. It spins for a while, and then sleeps between looks: who
// makes it ready unparks p afterwards. A token left over makes it look once more.
func await(spin time.Duration, p *osthread.Parker, ready func() bool) {
	for end := osthread.Nanotime() + int64(spin); osthread.Nanotime() < end; osthread.Relax() {
		if ready() {
			return
		}
	}
	for !ready() {
		p.Park()
	}
}
