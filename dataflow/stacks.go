package dataflow

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Stall reports read the stacks of all goroutines: only these show the line at which a body
// or the submitting goroutine waits, because a worker's task is private to it.

// stackBytes bounds the text of stacks in a report.
const stackBytes = 1 << 20

// waitingCalls are prefixes of the functions in which a body waits. A report names the line
// that called them.
var waitingCalls = []string{"runtime.", "sync.", "sync/", "time.", "internal/", "syscall.", "os.", "io.", "net.", "context."}

// bodySites returns the present line of each body that a worker of rt runs. It stops the
// world for the time of a trace of all stacks.
func (rt *Runtime) bodySites() (lines []string) {
	callers := map[string]bool{}
	for _, w := range *rt.workers.Load() {
		callers[fmt.Sprintf("%p", w)] = true
	}
	for _, stack := range allStacks() {
		above, worker := cutAtCall(stack, "dataflow.(*worker).execute(")
		if callers[worker] && !strings.Contains(above, "dataflow.(*worker).run(") { // no body waits on top of this one
			lines = append(lines, "  a body is at "+site(stack, above))
		}
	}
	return lines
}

// submitterSite returns the present line of the submitting goroutine; "" if it is not
// inside Run, or was not found.
func (rt *Runtime) submitterSite() string {
	for _, stack := range allStacks() {
		above, caller := cutAtCall(stack, "dataflow.(*Runtime).call(")
		if caller == fmt.Sprintf("%p", rt) {
			return "at " + site(stack, above)
		}
	}
	return ""
}

// call runs the body of Run. submitterSite finds the goroutine of rt by this frame; rt is
// in use after the call and is therefore printed right.
//
//go:noinline
func (rt *Runtime) call(body func(*Runtime) error) error {
	err := body(rt)
	runtime.KeepAlive(rt)
	return err
}

func allStacks() []string {
	text := make([]byte, stackBytes)
	return strings.Split(string(text[:runtime.Stack(text, true)]), "\n\n")
}

// cutAtCall returns the frames of stack above the innermost call of a function, and the
// first argument of that call; "" if there is none.
func cutAtCall(stack, function string) (above, argument string) {
	above, below, found := strings.Cut(stack, function)
	if !found {
		return "", ""
	}
	argument = below[:strings.IndexAny(below, ",)")]
	return above, strings.TrimSuffix(argument, "?")
}

// site returns the place of stack and the state of its goroutine, as in "solve.go:50
// (main.solve, chan receive)": the innermost frame above that is not the standard
// library's.
func site(stack, above string) string {
	_, state, _ := strings.Cut(stack, "[")
	state = state[:strings.IndexAny(state, ",]")]
	frames := strings.Split(above, "\n")[1:]
	for i := 0; i+1 < len(frames); i += 2 {
		call, place := frames[i], strings.TrimSpace(frames[i+1])
		if !slices.ContainsFunc(waitingCalls, func(p string) bool { return strings.HasPrefix(call, p) }) {
			place, _, _ = strings.Cut(place, " +0x")
			return fmt.Sprintf("%s (%s, %s)", place, call[:strings.LastIndex(call, "(")], state)
		}
	}
	return "an unknown place (" + state + ")"
}
