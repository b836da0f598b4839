package osthread

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGroup(t *testing.T) {
	var g Group
	require.True(t, g.WaitTimeout(time.Minute), "an empty group has ended")
	held := NewSignal()
	var ended atomic.Int32
	for range 3 {
		g.Go(func() { held.Wait(); ended.Add(1) })
	}
	g.Add(1)
	Go(func() { defer g.Done(); held.Wait(); ended.Add(1) })
	require.False(t, g.WaitTimeout(time.Millisecond))
	assert.Zero(t, ended.Load())
	held.Set()
	g.Wait()
	assert.EqualValues(t, 4, ended.Load())
	require.True(t, g.WaitTimeout(time.Minute))
}

func TestSignal(t *testing.T) {
	s := NewSignal()
	require.False(t, s.WaitTimeout(time.Millisecond))
	Go(s.Set)
	s.Wait()
	s.Set() // again: nothing
	require.True(t, s.WaitTimeout(0))
}

func TestAfterFunc(t *testing.T) {
	var calls atomic.Int32
	again := make(chan struct{}, 2)
	f := AfterFunc(time.Hour, func() { calls.Add(1); again <- struct{}{} })
	f.Reset(time.Millisecond)
	<-again
	f.Reset(time.Millisecond)
	<-again
	f.Reset(time.Hour)
	f.Stop()
	assert.EqualValues(t, 2, calls.Load())
}

// A goroutine that ends locked takes its thread with it; if it unlocks, the thread returns.
func TestLockThread(t *testing.T) {
	var g Group
	g.Go(func() {
		LockThread()
		before := ThreadID()
		Sleep(time.Millisecond)
		assert.Equal(t, before, ThreadID())
		UnlockThread()
	})
	g.Wait()
}
