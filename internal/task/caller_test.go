package task_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/task"
)

// Callers at all depths, through functions that are inlined and others, are those that the Go
// runtime names; the second call from a place, too, and calls from other lines and functions.
func TestCaller(t *testing.T) {
	check := func(pc uintptr, want []uintptr, skip int) {
		t.Helper()
		assert.Equal(t, line(want[skip]), line(pc), "skip = %d", skip)
	}
	for range 2 {
		for skip := range 9 {
			pc, want := inlined(skip)
			check(pc, want, skip)
			pc, want = outlined(skip)
			check(pc, want, skip)
			pc, want = outlined(skip)
			check(pc, want, skip)
			func() { pc, want = nested(skip) }()
			check(pc, want, skip)
		}
	}
	assert.Zero(t, task.Caller(100))
	onlyOne := make(chan uintptr)
	go func() { onlyOne <- task.Caller(3) }() // the closure and goexit
	assert.Zero(t, <-onlyOne)
}

func inlined(skip int) (uintptr, []uintptr) { return lowest(skip) }

//go:noinline
func outlined(skip int) (uintptr, []uintptr) { return lowest(skip) }

//go:noinline
func nested(skip int) (uintptr, []uintptr) {
	if skip%2 == 0 {
		return inlined(skip)
	}
	return outlined(skip)
}

// lowest returns the caller skip levels above, and all of them as the Go runtime names them. Both
// calls stand on one line.
func lowest(skip int) (uintptr, []uintptr) {
	pcs := make([]uintptr, 20)
	pc, n := task.Caller(skip), runtime.Callers(1, pcs)
	return pc, append(pcs[:n], make([]uintptr, 10)...)
}

// line returns the function and line of a program counter.
func line(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprint(f.Function, " ", f.File, ":", f.Line)
}

func BenchmarkCaller(b *testing.B) {
	for b.Loop() {
		task.Caller(2)
	}
}
