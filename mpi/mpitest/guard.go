package mpitest

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// guard watches one rank: it reports a case that takes too long, with its stage, and ends
// the program.
type guard struct {
	rank   int
	after  time.Duration
	out    io.Writer
	onHang func(report string)
	stop   chan struct{}
	done   sync.WaitGroup

	now atomic.Pointer[watch] // nil between cases
}

// watch is one case under way.
type watch struct {
	name  string
	state *state
	due   time.Time
}

func (w *watch) String() string {
	if s := w.state.stage.Load(); s != nil {
		return fmt.Sprintf("case %q, stage %q", w.name, *s)
	}
	return fmt.Sprintf("case %q", w.name)
}

func (g *guard) start() {
	g.stop = make(chan struct{})
	g.done.Go(func() {
		tick := time.NewTicker(min(g.after/4, time.Second))
		defer tick.Stop()
		for {
			select {
			case <-g.stop:
				return
			case now := <-tick.C:
				if w := g.now.Load(); w != nil && now.After(w.due) {
					g.report(w)
					return
				}
			}
		}
	})
}

// close ends the guard. Call it between cases.
func (g *guard) close() {
	close(g.stop)
	g.done.Wait()
}

func (g *guard) enter(name string, s *state) {
	g.now.Store(&watch{name: name, state: s, due: time.Now().Add(g.after)})
}

func (g *guard) leave() { g.now.Store(nil) }

// report prints the case and stage of the rank, gives the other ranks time to do the same,
// and ends the program, unless the case has ended meanwhile.
func (g *guard) report(w *watch) {
	text := fmt.Sprintf("mpitest: rank %d hangs in %v since %v", g.rank, w, g.after)
	fmt.Fprintln(g.out, text)
	select {
	case <-g.stop:
		return
	case <-time.After(min(2*time.Second, g.after)):
	}
	if g.now.Load() != w {
		return
	}
	if g.rank == 0 {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(g.out, "%s\n", stacks[:runtime.Stack(stacks, true)])
	}
	g.onHang(text)
}
