package dds_test

import (
	"bytes"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// patience bounds the wait of a test.
const patience = 30 * time.Second

// lazily makes an arena with an allocation of n pages, all ones.
func lazily(t *testing.T, n int, opts ...dds.Option) (*dds.Arena, []byte) {
	t.Helper()
	needUffd(t)
	a, err := dds.NewArena((n+16)*pages.Size(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	x, err := dds.Make[byte](a, n*pages.Size())
	require.NoError(t, err)
	return a, x
}

// soon fails a test whose f does not return.
func soon(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		stacks := make([]byte, 1<<20)
		t.Fatalf("never ends: %s\n%s", what, stacks[:runtime.Stack(stacks, true)])
	}
}

// accesses are the ways to touch x[at:at+8], whose bytes must be 9.
var accesses = map[string]func(x []byte) bool{
	"load": func(x []byte) bool { return x[0] == 9 },
	"loop": func(x []byte) bool {
		sum := 0
		for _, b := range x {
			sum += int(b)
		}
		return sum == 9*len(x)
	},
	"store": func(x []byte) bool {
		x[0] = 7
		return x[1] == 9 && x[0] == 7
	},
	"copy": func(x []byte) bool {
		y := make([]byte, len(x))
		copy(y, x)
		return y[0] == 9 && y[len(y)-1] == 9
	},
	"copy into": func(x []byte) bool {
		copy(x, []byte{1, 2, 3})
		return x[2] == 3 && x[3] == 9
	},
	"assembly": func(x []byte) bool { return bytes.IndexByte(x, 9) == 0 && bytes.Count(x, []byte{9}) == len(x) },
}

// A reader of any kind waits for its strip, sees its bytes, and neither it nor the
// collector hangs; the other strip stays closed.
func TestFault_accesses(t *testing.T) {
	size := pages.Size()
	for name, access := range accesses {
		a, x := lazily(t, 8)
		p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
		require.True(t, p.Arm())
		var right atomic.Bool
		var done atomic.Bool
		reader := make(chan struct{})
		go func() {
			defer close(reader)
			right.Store(access(x[4*size : 7*size]))
			done.Store(true)
		}()
		require.Eventually(t, func() bool { return p.Stalled(1) }, patience, time.Millisecond, name)
		require.False(t, done.Load(), "%s went through a closed page", name)
		for i := range dds.CommView(x)[4*size : 7*size] {
			dds.CommView(x)[4*size+i] = 9
		}
		require.True(t, p.LandAt(1, osthread.Nanotime()+int64(20*time.Millisecond)))
		soon(t, "a collection, "+name, runtime.GC)
		soon(t, name, func() { <-reader })
		assert.True(t, right.Load(), name)
		r := p.Strips()
		assert.Positive(t, r[1].Stall, name)
		assert.Zero(t, r[0].Faults, name)
		p.Land(0)
		require.NoError(t, p.End())
		assert.Zero(t, x[size], "open now")
	}
}

// The negative control: a reader of a strip retired too early reads the old content, and
// the checks of these tests notice.
func TestFault_early_retirement_is_noticed(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
	require.True(t, p.Arm())
	p.Land(1)
	for name, access := range accesses {
		assert.False(t, access(x[4*size:7*size]), name)
	}
	p.Land(0)
	require.NoError(t, p.End())
}

// A system call waits on an armed page if the kernel may wait, and otherwise fails with an
// error: it never gets wrong bytes.
func TestFault_system_call(t *testing.T) {
	size := pages.Size()
	for _, full := range []bool{true, false} {
		a, x := lazily(t, 8, dds.ForbidWays(!full, !full, false))
		p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
		require.True(t, p.Arm())
		r, w, err := os.Pipe()
		require.NoError(t, err)
		dds.CommView(x)[5*size] = 9
		require.True(t, p.LandAt(1, osthread.Nanotime()+int64(20*time.Millisecond)))
		p.Land(0)
		n, err := w.Write(x[5*size : 5*size+1])
		_, reason := a.Backend()
		if err != nil {
			assert.Contains(t, reason, "user code only")
			assert.Zero(t, n)
		} else {
			got := make([]byte, 1)
			_, err = r.Read(got)
			require.NoError(t, err)
			assert.Equal(t, byte(9), got[0])
		}
		dds.Touch(x)
		require.NoError(t, p.End())
		require.NoError(t, r.Close())
		require.NoError(t, w.Close())
	}
}

// Touch waits for the strips of its range, in any order, and no later access faults.
func TestTouch_waits(t *testing.T) {
	size := pages.Size()
	for _, order := range []dds.Direction{dds.AnyOrder, dds.Up, dds.Down} {
		a, x := lazily(t, 16)
		p := dds.NewPretend(a, x, order, size, 4*size, 8*size, 12*size, 15*size)
		require.True(t, p.Arm())
		for i := range dds.CommView(x) {
			dds.CommView(x)[i] = 9
		}
		for i := range 4 {
			at := i
			if order == dds.Down {
				at = 3 - i
			}
			require.True(t, p.LandAt(at, osthread.Nanotime()+int64(i+1)*int64(5*time.Millisecond)))
		}
		middle := x[5*size : 11*size]
		soon(t, "Touch", func() { dds.Touch(middle) })
		for i, s := range p.Strips() {
			if i == 1 || i == 2 {
				assert.NotZero(t, s.Stall+s.Slack, "order %d, strip %d", order, i)
			}
		}
		before := a.Counts().Faults
		assert.True(t, accesses["loop"](middle))
		assert.Equal(t, before, a.Counts().Faults)
		soon(t, "Touch of all", func() { dds.Touch(x) })
		require.NoError(t, p.End())
	}
}

// Two readers of one strip both wait for it, and both go on.
func TestFault_two_readers(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
	require.True(t, p.Arm())
	for i := range dds.CommView(x) {
		dds.CommView(x)[i] = 9
	}
	var readers sync.WaitGroup
	var right atomic.Int32
	for _, at := range []int{4, 4, 5, 6} {
		readers.Go(func() {
			if x[at*size] == 9 {
				right.Add(1)
			}
		})
	}
	require.Eventually(t, func() bool { return a.Counts().Faults >= 4 }, patience, time.Millisecond)
	p.Land(1)
	soon(t, "readers", readers.Wait)
	assert.EqualValues(t, 4, right.Load())
	p.Land(0)
	require.NoError(t, p.End())
}

// A lost strip is opened filled with ones.
func TestFault_doomed(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 7*size)
	require.True(t, p.Arm())
	p.Land(0)
	got := make(chan byte)
	go func() {
		b := x[5*size] // "got <- x[5*size]" would load it in the runtime, when another goroutine receives
		got <- b
	}()
	require.Eventually(t, func() bool { return p.Stalled(1) }, patience, time.Millisecond)
	p.Abandon()
	soon(t, "the reader", func() { assert.Equal(t, byte(0xff), <-got) })
	assert.Zero(t, x[size])
	require.NoError(t, p.End())
	assert.True(t, p.Strips()[1].Failed)
	assert.False(t, p.Strips()[0].Failed)
}

// With the trace, pages are recorded in the order of their touches, and strips have their
// slack.
func TestTracePages(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 10, lazypages.Trace().(dds.Option))
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 4*size, 9*size)
	require.True(t, p.Arm())
	for i := range dds.CommView(x) {
		dds.CommView(x)[i] = 9
	}
	p.Land(0)
	order := []int{7, 5, 1, 3, 8}
	early := make(chan byte, 1)
	go func() { early <- x[order[0]*size+5] + 1 }()
	require.Eventually(t, func() bool { return p.Stalled(1) }, patience, time.Millisecond)
	p.Land(1)
	soon(t, "the early touch", func() { assert.Equal(t, byte(10), <-early) })
	for _, i := range order[1:] {
		soon(t, "a touch", func() { assert.Equal(t, byte(9), x[i*size+5]) })
	}
	var seen []int
	all := lazypages.Of(a).Pages()
	for i, s := range all {
		seen = append(seen, s.Page)
		if i > 0 {
			assert.LessOrEqual(t, all[i-1].At, s.At)
		}
	}
	assert.Equal(t, order, seen)
	assert.Empty(t, lazypages.Of(a).Pages())
	r := p.Strips()
	assert.Positive(t, r[0].Slack)
	assert.Positive(t, r[1].Stall)
	require.NoError(t, p.End())
	assert.Equal(t, byte(9), x[2*size])
}

// A follower is opened with the last strip of its leader, when both have arrived.
func TestFollow(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	y, err := dds.Make[byte](a, 8*size)
	require.NoError(t, err)
	p := dds.NewPretend(a, x, dds.Up, size, 4*size, 7*size)
	q := dds.NewPretend(a, y, dds.Up, size, 7*size)
	require.True(t, p.Arm())
	require.True(t, q.Follow(p))
	p.Land(0)
	p.Land(1)
	got := make(chan byte)
	go func() {
		b := x[4*size]
		got <- b
	}()
	require.Eventually(t, func() bool { return a.Counts().Faults > 0 }, patience, time.Millisecond)
	select {
	case <-got:
		t.Fatal("the last strip is open before its follower has arrived")
	default:
	}
	q.Land(0)
	soon(t, "the reader", func() { <-got })
	late, err := dds.Make[byte](a, 2*size)
	require.NoError(t, err)
	r := dds.NewPretend(a, late, dds.Up, 0, 2*size)
	require.False(t, r.Follow(p), "nothing is left to wait with")
	r.Abandon()
	for _, each := range []*dds.Pretend{p, q, r} {
		require.NoError(t, each.End())
	}
}

// If the leader ends first, its follower is armed.
func TestFollow_leader_ends(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	y, err := dds.Make[byte](a, 8*size)
	require.NoError(t, err)
	p := dds.NewPretend(a, x, dds.Up, size, 7*size)
	q := dds.NewPretend(a, y, dds.Up, size, 7*size)
	require.True(t, p.Arm())
	require.True(t, q.Follow(p))
	p.Land(0)
	require.NoError(t, p.End())
	got := make(chan byte)
	go func() {
		b := y[size]
		got <- b
	}()
	require.Eventually(t, func() bool { return q.Stalled(0) }, patience, time.Millisecond)
	q.Land(0)
	soon(t, "the reader", func() { <-got })
	require.NoError(t, q.End())
}

// A watcher gets the sleeping thread, and the arrival of its strip.
func TestWatch(t *testing.T) {
	size := pages.Size()
	a, x := lazily(t, 8)
	events := make(chan lazypages.Sleep, 100)
	stop, err := lazypages.Of(a).Watch(func(s lazypages.Sleep) {
		select {
		case events <- s:
		default:
		}
	})
	require.NoError(t, err)
	p := dds.NewPretend(a, x, dds.AnyOrder, size, 7*size)
	require.True(t, p.Arm())
	thread, read := make(chan int, 1), make(chan byte, 1)
	go func() {
		runtime.LockOSThread()
		thread <- osthread.ThreadID()
		read <- x[2*size] + 1
	}()
	soon(t, "the event", func() {
		e := <-events
		assert.Equal(t, <-thread, e.Thread)
		assert.False(t, e.Ended)
		assert.Equal(t, size, e.Strip)
	})
	p.Land(0)
	soon(t, "the end", func() {
		for !(<-events).Ended {
		}
	})
	soon(t, "the reader", func() { assert.Equal(t, byte(1), <-read) })
	stop()
	require.NoError(t, p.End())
	b, err := dds.NewArena(1, dds.Backend(dds.Explicit))
	require.NoError(t, err)
	_, err = lazypages.Of(b).Watch(nil)
	require.ErrorIs(t, err, lazypages.ErrNoFaults)
	require.NoError(t, b.Close())
}
