package local

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// manualWorld is a world whose clock the test advances. The test makes the calls of all ranks
// itself, so that none waits.
type manualWorld struct {
	*World
	t   *testing.T
	now int64
}

func newManualWorld(t *testing.T, ranks int, n Net, opts ...Option) *manualWorld {
	s := &manualWorld{t: t, now: 1_000_000}
	w, err := New(ranks, append([]Option{Network(n)}, opts...)...)
	require.NoError(t, err)
	w.clock = func() int64 { return s.now }
	s.World = w
	t.Cleanup(func() { _ = w.Close() })
	return s
}

// poll lets a rank look at time at (in us after the start), and reports whether the
// request has completed.
func (s *manualWorld) poll(rank int, at float64, r *mpi.Request) bool {
	s.now = 1_000_000 + int64(at*1000)
	s.ends[rank].Poll()
	done, _, err := r.Test()
	require.NoError(s.t, err)
	return done
}

// doneAt checks that a request of the rank completes at that time, and not before.
func (s *manualWorld) doneAt(rank int, at float64, r *mpi.Request, what string) {
	s.t.Helper()
	assert.False(s.t, s.poll(rank, at-0.01, r), "%s: %v us is too early", what, at-0.01)
	assert.True(s.t, s.poll(rank, at, r), "%s: %v us", what, at)
}

// gigabyte is a network with easy numbers: 1 ns per byte.
var gigabyte = Net{Latency: 20 * time.Microsecond, Overhead: 2 * time.Microsecond, Gap: 3 * time.Microsecond, Bandwidth: 1e9}

func TestShaper_eager(t *testing.T) {
	for _, n := range []Net{gigabyte, nicOf(gigabyte)} {
		s := newManualWorld(t, 3, n)
		a, b, c := s.Comm(0), s.Comm(1), s.Comm(2)
		x := make([]byte, 10_000)
		first := b.Irecv(mpi.Of(make([]byte, 10_000)), 0, 0)
		require.True(t, s.poll(0, 0, a.Isend(mpi.Of(x), 1, 0)), "an eager send is over at once")
		require.NoError(t, a.Send(mpi.Of(x[:100]), 1, 1)) // leaves behind it
		require.NoError(t, a.Send(mpi.Of(x[:100]), 2, 1)) // and one gap later
		second := b.Irecv(mpi.Of(make([]byte, 100)), 0, 1)
		third := c.Irecv(mpi.Of(make([]byte, 100)), 0, 1)
		s.doneAt(1, 2+20+10+2, first, "o+L+nG+o")
		s.doneAt(1, 2+10+20+0.1+2, second, "behind the first")
		s.doneAt(2, 2+10+3+20+0.1+2, third, "a gap behind the second")
	}
}

// Two senders to one receiver share its ingress.
func TestShaper_ingress(t *testing.T) {
	s := newManualWorld(t, 3, gigabyte)
	x := make([]byte, 10_000)
	one := s.Comm(2).Irecv(mpi.Of(make([]byte, 10_000)), 0, 0)
	two := s.Comm(2).Irecv(mpi.Of(make([]byte, 10_000)), 1, 0)
	require.NoError(t, s.Comm(0).Send(mpi.Of(x), 2, 0))
	require.NoError(t, s.Comm(1).Send(mpi.Of(x), 2, 0))
	s.doneAt(2, 34, one, "first")
	s.doneAt(2, 44, two, "second")
}

func TestShaper_unexpected_message_is_invisible_before_its_time(t *testing.T) {
	s := newManualWorld(t, 2, gigabyte)
	require.NoError(t, s.Comm(0).Send(mpi.Of(make([]byte, 1000)), 1, 5))
	s.now += 24_999
	_, found, err := s.Comm(1).Iprobe(mpi.AnySource, mpi.AnyTag)
	require.NoError(t, err)
	assert.False(t, found)
	s.now++
	st, found, err := s.Comm(1).Iprobe(mpi.AnySource, mpi.AnyTag)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, mpi.Status{Source: 0, Tag: 5, Bytes: 1000}, st)
	_, err = s.Comm(1).Recv(mpi.Of(make([]byte, 1000)), 0, 5)
	require.NoError(t, err)
}

// The network's own processor does it all: announcement 2+20+2, answer 20, bytes.
func TestShaper_nic_rendezvous(t *testing.T) {
	for _, late := range []float64{0, 10, 100} {
		s := newManualWorld(t, 2, nicOf(gigabyte))
		x := make([]byte, 500_000)
		out := s.Comm(0).Isend(mpi.Of(x), 1, 0)
		s.now += int64(late * 1000)
		in := s.Comm(1).Irecv(mpi.Of(make([]byte, 500_000)), 0, 0)
		match := max(24, late)
		s.doneAt(0, match+20+500, out, "the sender: the last byte has left")
		s.doneAt(1, match+20+500+20+2, in, "the receiver, which never looked before")
	}
}

// With progress host nothing happens while the ranks compute: each step waits until
// the rank whose turn it is looks.
func TestShaper_host_rendezvous(t *testing.T) {
	s := newManualWorld(t, 2, gigabyte)
	in := s.Comm(1).Irecv(mpi.Of(make([]byte, 500_000)), 0, 0)
	out := s.Comm(0).Isend(mpi.Of(make([]byte, 500_000)), 1, 0)
	require.False(t, s.poll(1, 23.9, in), "the announcement is not there yet")
	require.False(t, s.poll(0, 90, out), "no answer")
	require.False(t, s.poll(1, 100, in), "now it is answered")
	require.False(t, s.poll(0, 119.9, out), "the answer is under way")
	require.False(t, s.poll(1, 5000, in), "the sender computes")
	require.False(t, s.poll(0, 6000, out), "now the bytes go")
	s.doneAt(0, 6000+2+500, out, "the sender")
	s.doneAt(1, 6000+2+500+20+2, in, "the receiver")
}

// Of a long message, only the window leaves while the receiver computes.
func TestShaper_host_window(t *testing.T) {
	const n = 4 << 20
	s := newManualWorld(t, 2, gigabyte)
	x := s.Comm(1)
	in := x.Irecv(mpi.Of(make([]byte, n)), 0, 0)
	out := s.Comm(0).Isend(mpi.Of(make([]byte, n)), 1, 0)
	s.poll(1, 30, in)
	s.poll(0, 60, out)
	moved := func() int64 { return s.ends[0].pending[0].Private.(*transfer).injected }
	require.EqualValues(t, creditBytes, moved())
	s.poll(0, 50_000, out)
	require.EqualValues(t, creditBytes, moved(), "no credit: the receiver has not looked")
	s.poll(1, 60_000, in)
	s.poll(0, 60_010, out)
	require.EqualValues(t, creditBytes, moved(), "credit takes its time")
	s.poll(0, 60_020, out)
	require.EqualValues(t, 2*creditBytes, moved())
	for at := 61_000.0; !s.poll(1, at, in); at += 200 {
		s.poll(0, at, out)
		require.Less(t, at, 70_000.0)
	}
}

// When both look all the time, the link is busy all the time.
func TestShaper_host_keeps_the_link_busy(t *testing.T) {
	const n = 8 << 20
	s := newManualWorld(t, 2, gigabyte)
	in := s.Comm(1).Irecv(mpi.Of(make([]byte, n)), 0, 0)
	out := s.Comm(0).Isend(mpi.Of(make([]byte, n)), 1, 0)
	at := 0.0
	for ; !s.poll(1, at, in); at += 5 {
		s.poll(0, at, out)
	}
	ideal := 24 + 20 + 2 + n/1000.0 + 22
	assert.InDelta(t, ideal, at, 60)
}

func TestShaper_timers_wake_the_sleeper(t *testing.T) {
	for _, n := range []Net{fast, nicOf(fast), presets["gige"]} {
		err := guarded(t, func() error {
			return Run(2, func(c *mpi.Comm) error {
				x := make([]byte, 300_000)
				for i := range 3 {
					var r *mpi.Request
					if c.Rank() == 0 {
						r = c.Isend(mpi.Of(x), 1, i)
					} else {
						r = c.Irecv(mpi.Of(x), 0, i)
					}
					for {
						if done, _, err := r.Test(); done || err != nil {
							if err != nil {
								return err
							}
							break
						}
						(*engine.Comm)(c).Engine().Sleep(time.Hour)
					}
				}
				return nil
			}, Network(n))
		})
		require.NoError(t, err)
	}
}

func TestTimingError(t *testing.T) {
	w, err := New(2, Network(presets["gige"]))
	require.NoError(t, err)
	defer w.Close()
	n, mean, worst := w.TimingError()
	require.Zero(t, n+int(mean+worst))
	done := make(chan error)
	go func() {
		_, err := w.Comm(1).Recv(mpi.Of(make([]byte, 100)), 0, 0)
		done <- err
	}()
	require.NoError(t, w.Comm(0).Send(mpi.Of(make([]byte, 100)), 1, 0))
	require.NoError(t, <-done)
	require.NoError(t, w.Comm(1).Send(mpi.Of(make([]byte, 100)), 1, 0))
	_, err = w.Comm(1).Recv(mpi.Of(make([]byte, 100)), 1, 0)
	require.NoError(t, err)
	n, mean, worst = w.TimingError()
	assert.LessOrEqual(t, n, 1)
	assert.LessOrEqual(t, mean, worst)
	assert.GreaterOrEqual(t, mean, time.Duration(0))
}

// lazyWire is a wire that moves nothing before it is told to.
type lazyWire struct{ copies []*Copy }

func (w *lazyWire) Move(c *Copy) { w.copies = append(w.copies, c) }

func TestOnWire(t *testing.T) {
	for _, n := range []Net{gigabyte, nicOf(gigabyte)} {
		w := &lazyWire{}
		s := newManualWorld(t, 2, n, OnWire(w))
		x, y := pattern(make([]byte, 600_000), 1), make([]byte, 600_000)
		in := s.Comm(1).Irecv(mpi.Of(y), 0, 0)
		out := s.Comm(0).Isend(mpi.Of(x), 1, 0)
		for at := 0.0; at < 5000; at += 10 {
			require.False(t, s.poll(1, at, in), "no byte is there")
			require.False(t, s.poll(0, at, out), "the bytes are needed still")
		}
		total := 0
		for _, c := range w.copies {
			assert.Positive(t, c.Due)
			engine.CopyPart(c.Dst, c.Src, c.At, c.Bytes)
			c.SetDone()
			total += c.Bytes
		}
		assert.Equal(t, 600_000, total)
		assert.True(t, s.poll(1, 6000, in))
		assert.True(t, s.poll(0, 6000, out))
		assert.Equal(t, x, y)
	}
}

// One-sided operations need nothing of the target, and take time.
func TestShaper_one_sided(t *testing.T) {
	s := newManualWorld(t, 2, gigabyte)
	mem := make([]byte, 100_000)
	wins := make(chan *mpi.Win, 2)
	s.World.clock = osthread.Nanotime
	for r := range 2 {
		go func() {
			w, err := s.Comm(r).NewWin(mpi.Of(mem))
			if err != nil {
				panic(fmt.Sprint(err))
			}
			wins <- w
		}()
	}
	w, other := <-wins, <-wins
	if w.Comm().Rank() != 0 {
		w, other = other, w
	}
	s.World.clock = func() int64 { return s.now }
	for _, e := range s.ends {
		e.link.egress, e.link.ingress = direction{}, direction{}
	}
	x := make([]byte, 100_000)
	put := w.Iput(mpi.Of(x), 1, 0)
	flush := w.Iflush(1)
	s.doneAt(0, 2+100, put, "the buffer can be used")
	s.doneAt(0, 2+20+100+2, flush, "the data is there")
	s.now = 2_000_000
	get := w.Iget(mpi.Of(x), 1, 0)
	s.doneAt(0, 1000+2+20+20+100+2, get, "get")
	s.now = 3_000_000
	note := other.IawaitNotify(3, 1)
	put = w.IputNotify(mpi.Of(x[:1000]), 1, 0, 3)
	s.doneAt(1, 2000+2+20+1+2, note, "notification")
	require.True(t, s.poll(0, 4000, put))
}

// A direction is reserved once at a time, in order but for its last gap.
func TestLane(t *testing.T) {
	var l direction
	assert.EqualValues(t, 10, l.reserve(10, 5))
	assert.EqualValues(t, 0, l.reserve(0, 5), "before it")
	assert.EqualValues(t, 100, l.reserve(100, 50))
	assert.EqualValues(t, 30, l.reserve(30, 20), "in the gap from 20 to 100")
	assert.EqualValues(t, 50, l.reserve(0, 0), "in the rest of the gap")
	assert.EqualValues(t, 150, l.reserve(60, 41), "does not fit into it")
	assert.EqualValues(t, 60, l.reserve(60, 40), "fits")
	assert.EqualValues(t, 191, l.reserve(60, 1))
}

// Announced messages that are sent together wait for one answer each, together.
func TestShaper_announcements_do_not_queue(t *testing.T) {
	const n, latency = 8, 5 * time.Millisecond
	net := Net{Latency: latency, Bandwidth: 1e9, NIC: true}
	require.NoError(t, Run(2, func(c *mpi.Comm) error {
		buf := make([]byte, n*100_000) // 0.1 ms of wire each
		var all []*mpi.Request
		e := (*engine.Comm)(c).Engine().(*endpoint)
		for i := range n {
			part := mpi.Of(buf[i*100_000 : (i+1)*100_000])
			if c.Rank() == 0 {
				all = append(all, c.Isend(part, 1, i))
			} else {
				all = append(all, c.Irecv(part, 0, i))
			}
		}
		begin := e.world.clock()
		if err := mpi.Waitall(all...); err != nil {
			return err
		}
		if c.Rank() == 0 { // reserved: no clock of the machine says otherwise
			assert.Less(t, e.link.egress.busyUntil-begin, int64(2*n*latency), "one after the other")
		}
		return c.Barrier()
	}, Network(net), Eager(1000)))
}
