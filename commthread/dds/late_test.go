package dds_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// three is a transfer of three strips of 4.5 pages, so that they share pages, all armed.
func three(t *testing.T, order dds.Direction, opts ...dds.Option) (*dds.Arena, []byte, *dds.Pretend) {
	t.Helper()
	a, x := lazily(t, 16, opts...)
	p := dds.NewPretend(a, x, order, pages.Size(), 11*pages.Size()/2, 10*pages.Size(), 15*pages.Size())
	require.True(t, p.Arm())
	return a, x, p
}

// threads are the cores of the fault thread: one core, which it takes for the reader's, or
// all.
var threads = map[string]dds.Option{
	"one core": dds.Cores(osthread.CPUSetOf(osthread.Usable().List()[0])),
	"any core": dds.Cores(osthread.Usable()),
}

// Strips without a reader are opened nevertheless: the thread wakes up in time, without a
// fault, a call or a further move.
func TestStrips_nobody_waits(t *testing.T) {
	for name, where := range threads {
		for _, order := range []dds.Direction{dds.AnyOrder, dds.Up, dds.Down} {
			a, _, p := three(t, order, where)
			assert.False(t, p.Open(1))
			now := osthread.Nanotime()
			for i := range 3 {
				require.True(t, p.LandAt(i, now+int64(i+1)*int64(time.Millisecond)))
			}
			soon(t, "opening what nobody waits for", func() {
				for i := range 3 {
					for !p.Open(i) {
						runtime.Gosched()
					}
				}
			})
			assert.Zero(t, a.Counts().Faults+a.Counts().Stray, "%s, order %d", name, order)
			require.NoError(t, p.End())
		}
	}
}

// Touch opens landed strips itself: its reader never faults.
func TestTouch_helps(t *testing.T) {
	for _, order := range []dds.Direction{dds.AnyOrder, dds.Up, dds.Down} {
		a, x, p := three(t, order, threads["one core"])
		_ = x[0] + x[len(x)-1] // the bytes around the message
		before := a.Counts()
		due := osthread.Nanotime() + int64(100*time.Microsecond)
		for i := range 3 {
			require.True(t, p.LandAt(i, due))
		}
		for osthread.Nanotime() <= due+int64(50*time.Microsecond) {
			// the clocks of Go and C differ a little
			osthread.Relax()
		}
		dds.Touch(x)
		_ = sumOfBytes(x[pages.Size() : 15*pages.Size()])
		after := a.Counts()
		assert.Equal(t, before.Faults, after.Faults, "order %d", order)
		assert.Equal(t, before.Stray, after.Stray, "order %d", order)
		require.NoError(t, p.End())
	}
}

// A reader of a page that two strips share waits for both: the thread knows it in both.
func TestStrips_shared_page(t *testing.T) {
	for name, where := range threads {
		a, x, p := three(t, dds.AnyOrder, where)
		read := make(chan int64, 1)
		go func() {
			_ = sumOfBytes(x[5*pages.Size() : 6*pages.Size()])
			read <- osthread.Nanotime()
		}()
		soon(t, "a reader's fault", func() {
			for !p.Stalled(1) {
				runtime.Gosched()
			}
		})
		assert.True(t, p.Stalled(0))
		due := osthread.Nanotime() + int64(3*time.Millisecond)
		require.True(t, p.LandAt(0, due-int64(time.Millisecond)))
		require.True(t, p.LandAt(1, due))
		soon(t, "reading a page of two strips", func() { assert.GreaterOrEqual(t, <-read, due-int64(50*time.Microsecond), name) })
		require.True(t, p.LandAt(2, due))
		assert.False(t, p.Stalled(2))
		assert.Positive(t, a.Counts().Stalls)
		require.NoError(t, p.End())
	}
}

//go:noinline
func sumOfBytes(x []byte) (sum int) {
	for _, b := range x {
		sum += int(b)
	}
	return sum
}
