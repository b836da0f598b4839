package osthread

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// holdLimit is how long a thread may hold a simulated machine before the host reports it, and
// complaints is where. Tests change them.
var (
	holdLimit            = 10 * time.Second
	complaints io.Writer = os.Stderr
)

// watchHost reports a thread that holds the machine, once each time, until stop is called: it
// computes for long, or waits for a channel, a mutex or a goroutine outside, for which no other
// thread can go on.
func (m *machine) watchHost() (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(holdLimit)
		defer ticks.Stop()
		for last, told := uint64(0), uint64(0); ; {
			select {
			case <-over:
				return
			case <-ticks.C:
			}
			now := m.beats.Load()
			if now == last && now != told {
				told = now
				fmt.Fprintf(complaints, "weft: a thread of the simulated machine has not let another one go on for %v: it computes, or waits for a channel, a mutex or time.Sleep, which stop the whole machine:\n%s\n", holdLimit, runningStack())
			}
			last = now
		}
	}()
	return func() { close(over); <-ended }
}

const mostStacks = 256 << 20 // bytes, of all goroutines

// runningStack returns the stacks of the threads of a simulated machine that are not suspended.
func runningStack() string {
	text := make([]byte, 1<<20)
	n := runtime.Stack(text, true)
	for n == len(text) && n < mostStacks { // it is cut
		text = make([]byte, 4*n)
		n = runtime.Stack(text, true)
	}
	text = text[:n]
	var found []string
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		inside := strings.Contains(stack, "osthread.(*machine).start.") || strings.Contains(stack, "osthread.Pull.")
		if inside && !strings.Contains(head, "[coroutine") {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
