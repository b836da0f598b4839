package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// progress shows on a terminal how far a long run has come: one line on stderr,
// rewritten twice a second from the third second on, by its own goroutine, because a
// submitter that helps or waits cannot. A nil progress, as returned without a terminal,
// does nothing and costs nothing.
type progress struct {
	line  *report.Progress
	what  atomic.Pointer[string] // the current phase
	done  atomic.Int64           // timesteps submitted
	total atomic.Int64
	stop  chan struct{}
	ended chan struct{}
}

// newProgress starts a progress on w, or returns nil if w is not a terminal. End it
// with close.
func newProgress(w io.Writer) *progress {
	line := report.NewProgress(w)
	if line == nil {
		return nil
	}
	return startProgress(line, 2*time.Second, time.Second/2)
}

// startProgress starts a progress that waits for delay and then writes every period.
func startProgress(line *report.Progress, delay, period time.Duration) *progress {
	p := &progress{line: line, stop: make(chan struct{}), ended: make(chan struct{})}
	p.phase("starting", 0)
	go p.loop(delay, period)
	return p
}

// loop rewrites the line until close.
func (p *progress) loop(delay, period time.Duration) {
	defer close(p.ended)
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-timer.C:
			p.write()
			timer.Reset(period)
		}
	}
}

// write shows the state once.
func (p *progress) write() {
	text := *p.what.Load()
	if total := p.total.Load(); total > 0 {
		text += fmt.Sprintf(": %d of %d timesteps submitted", p.done.Load(), total)
	}
	p.line.Show(text)
}

// phase says what begins now and how many timesteps it has, 0 if that says nothing.
func (p *progress) phase(what string, total int) {
	if p == nil {
		return
	}
	p.what.Store(&what)
	p.done.Store(0)
	p.total.Store(int64(total))
}

// step reports that done timesteps have been submitted. Submitter only: about 5 ns, 0
// if p is nil.
func (p *progress) step(done int) {
	if p != nil {
		p.done.Store(int64(done))
	}
}

// clear takes the line off the screen, before anything else is printed.
func (p *progress) clear() {
	if p != nil {
		p.line.Clear()
	}
}

// close ends the goroutine and takes the line off the screen.
func (p *progress) close() {
	if p == nil {
		return
	}
	close(p.stop)
	<-p.ended
	p.clear()
}
