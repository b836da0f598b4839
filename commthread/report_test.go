package commthread_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// stalling runs a program that gets stuck, and returns the reports of its ranks. The
// body returns how many things its communication thread is going to wait for: no
// rank waits, and so none reports a stall, before all threads have come so far.
func stalling(t *testing.T, n int, ct []commthread.Option, body func(r rank) (pending int)) []string {
	s := setup{rts: []dataflow.Option{dataflow.Stall(50*time.Millisecond, true)}, cts: ct}
	reports := make([]string, n)
	run(t, n, s, func(r rank) error {
		other, err := r.apart()
		if err != nil {
			return err
		}
		pending := body(r)
		assert.Eventually(t, func() bool { return commthread.UnderWay(r.ct) == pending }, hangGuard, time.Millisecond, "%d calls under way", pending)
		if err := other.Barrier(); err != nil { // behind them on each thread
			return err
		}
		err = r.rt.Wait()
		var stall *dataflow.StallError
		if errors.As(err, &stall) {
			reports[r.Rank()] = stall.Report
		}
		if e := other.Barrier(); e != nil { // all have their reports
			return e
		}
		return err // revokes the communicator
	})
	return reports
}

// hangGuard is far longer than any step of a test takes on the slowest machine.
const hangGuard = 30 * time.Second

// A receive that nobody sends is named: peer, tag, communicator, bytes, line.
func TestReport_names_what_is_pending(t *testing.T) {
	x := make([]int, 3)
	text := stalling(t, 1, nil, func(r rank) int {
		r.ct.Recv(r.rt, r.Comm, mpi.Of(x), 0, 42, tasks.Label("halo"))
		r.rt.Spawn("consumer", func(*tasks.Context) error { return nil }, tasks.Reads(x))
		return 1
	})[0]
	for _, want := range []string{"rank 0: task 1 \"halo\"", "report_test.go:", "recv on world from rank 0, tag 42, 24 bytes", `"consumer"`, "waits for"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "wait for each other")
}

// The report also names calls in bodies, calls of other goroutines, operations that wait for
// their turn, and operations that found the window full.
func TestReport_names_calls_and_turns(t *testing.T) {
	var x, y, z, gone int
	text := stalling(t, 1, []commthread.Option{commthread.Window(1)}, func(r rank) int {
		r.rt.Spawn("body", func(*tasks.Context) error {
			_, err := r.Recv(mpi.One(&x), 0, 1)
			return err
		}, tasks.OnComm)
		r.ct.Send(r.rt, r.Comm, mpi.One(&y), 0, 2, tasks.Label("behind"))
		r.rt.Spawn("sleeps", func(ctx *tasks.Context) error {
			return ctx.WaitOn(&gone)
		}, tasks.OnComm, tasks.Independent)
		go func() { _, _ = r.Recv(mpi.One(&z), 0, 3) }()
		return 3
	})[0]
	for _, want := range []string{`"body"`, "a body on the communication thread, waits for recv on world from rank 0, tag 1, 8 bytes",
		`"behind"`, "is ready and waits for its turn behind task 1", "a call at ", "report_test.go:", "tag 3"} {
		assert.Contains(t, text, want)
	}
}

// Ranks that wait for each other are named in a circle; the others are not in it.
func TestReport_circle(t *testing.T) {
	x := 0
	for _, text := range stalling(t, 3, nil, func(r rank) int {
		x := 0
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), (r.Rank()+1)%3, 7)
		return 1
	}) {
		assert.Contains(t, text, "the ranks wait for each other: ")
		for _, want := range []string{"rank 0 waits for rank 1", "rank 1 waits for rank 2", "rank 2 waits for rank 0"} {
			assert.Contains(t, text, want)
		}
	}
	for i, text := range stalling(t, 2, nil, func(r rank) int {
		if r.Rank() == 1 {
			return 0
		}
		r.ct.Recv(r.rt, r.Comm, mpi.One(&x), 1, 7)
		return 1
	}) {
		assert.Equal(t, i == 0, strings.Contains(text, "tag 7"), "%d: %s", i, text)
		assert.NotContains(t, text, "wait for each other")
	}
}
