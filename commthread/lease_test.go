package commthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A worker does not wait for a thread that has been woken and does not run yet: it takes the
// engine, and the thread finds it when the worker has put it back.
func TestLease_worker_before_a_woken_thread(t *testing.T) {
	woken := 0
	l := lease{wake: func() { woken++ }}
	require.True(t, l.layDown(after(time.Hour)))
	l.wakeRequested.Store(true)
	l.summon()
	l.summon()
	require.Equal(t, 1, woken, "wake-ups of the thread")
	require.True(t, l.take(), "a worker may have the engine before the thread")
	require.False(t, l.regain(), "the thread has the engine of the worker")
	l.wakeRequested.Store(false)
	l.putBack(after(time.Hour))
	require.Equal(t, 1, woken, "wake-ups of the thread")
	require.True(t, l.regain())
	require.False(t, l.take(), "a worker has the engine of the thread")
}
