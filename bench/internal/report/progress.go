package report

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Progress shows the state of a long run on a terminal: one line, rewritten from the third
// second on. A nil Progress, as returned without a terminal, does nothing.
type Progress struct {
	begin time.Time
	delay time.Duration
	w     io.Writer

	mu    sync.Mutex
	last  time.Time // guarded by mu
	shown bool      // guarded by mu: a line is on the screen
}

// The line appears after quiet and is rewritten at most every period.
const (
	quiet  = 2 * time.Second
	period = time.Second / 2
)

// NewProgress returns a progress on w, or nil if w is not a terminal.
func NewProgress(w io.Writer) *Progress {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return ProgressOn(w)
}

// ProgressOn returns a progress on w, a terminal or not.
func ProgressOn(w io.Writer) *Progress {
	return &Progress{begin: time.Now(), delay: quiet, w: w}
}

// Say announces the next step. It is called between measurements; it writes only when the
// run has lasted a while and the last line is old.
func (p *Progress) Say(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.begin) < p.delay || time.Since(p.last) < period {
		return
	}
	p.show(fmt.Sprintf(format, args...))
}

// Show rewrites the line at once.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(text)
}

func (p *Progress) show(text string) {
	p.last, p.shown = time.Now(), true
	fmt.Fprintf(p.w, "\r\x1b[K%.0f s, %s", time.Since(p.begin).Seconds(), text)
}

// Clear takes the line off the screen, before anything else is printed.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
