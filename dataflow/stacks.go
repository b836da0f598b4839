package dataflow

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// This file reads the stacks of all goroutines for stall reports: they alone say where a
// body or the submitting goroutine waits, because a worker's task is the worker's own.

// stackBytes is how much text of stacks a report looks at.
const stackBytes = 1 << 20

// waitingCalls are the beginnings of the functions that a body waits in. A report names
// the line that called them.
var waitingCalls = []string{"runtime.", "sync.", "sync/", "time.", "internal/", "syscall.", "os.", "io.", "net.", "context."}

// bodySites says where the bodies that the workers of rt are in stand, a line each. It
// stops the world for as long as the trace of all stacks takes.
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

// submitterSite says where the submitting goroutine stands; "" if it is not inside Run, or
// was not found.
func (rt *Runtime) submitterSite() string {
	for _, stack := range allStacks() {
		above, caller := cutAtCall(stack, "dataflow.(*Runtime).call(")
		if caller == fmt.Sprintf("%p", rt) {
			return "at " + site(stack, above)
		}
	}
	return ""
}

// call runs the body of Run. It is a frame by which submitterSite finds the goroutine of rt,
// which is in use after the call and therefore printed right.
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

// site returns where stack stands, and what its goroutine does there, as in
// "solve.go:50 (main.solve, chan receive)": the innermost of the frames above that
// is not the standard library's.
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
