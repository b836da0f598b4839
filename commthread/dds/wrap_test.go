package dds_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// duo runs two wrapped ranks on a network, each with an arena.
func duo(t *testing.T, net string, hints []dds.Hint, body func(c *mpi.Comm, w *dds.Wrapped, a *dds.Arena)) {
	t.Helper()
	n, err := local.ParseNet(net)
	require.NoError(t, err)
	soon(t, "the ranks", func() {
		assert.NoError(t, local.Run(2, func(c *mpi.Comm) error {
			a, err := dds.NewArena(8 << 20)
			if err != nil {
				return err
			}
			w, err := dds.Wrap(c, hints...)
			if err != nil {
				return err
			}
			body(c, w, a)
			return errors.Join(w.Close(), w.Close(), a.Close())
		}, local.Network(n)))
	})
}

const slow = "bw=200Mbit,L=20us"

// Recv, Sendrecv and Get return while bytes are missing: a reader that bypasses the pages
// does not wait for them, one that uses the pages does.
func TestWrap_returns_early(t *testing.T) {
	needUffd(t)
	const n = 1 << 16
	duo(t, slow, []dds.Hint{dds.Strips(4), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x, y := make64(t, a, n), make64(t, a, n)
		stamp(x, uint64(w.Rank()))
		peer := 1 - w.Rank()
		win, err := w.NewWin(mpi.Of(x))
		require.NoError(t, err)
		for i, receive := range []func() error{
			func() error {
				if w.Rank() == 0 {
					return w.Send(mpi.Of(x), 1, 0)
				}
				_, err := w.Recv(mpi.Of(y), 0, 0)
				return err
			},
			func() error {
				_, err := w.Sendrecv(mpi.Of(x), peer, 0, mpi.Of(y), peer, 0)
				return err
			},
			func() error { return win.Get(mpi.Of(y), peer, 0) },
		} {
			for early := int64(0); early == 0; { // on a busy machine it may be late
				clear(y)
				require.NoError(t, w.Barrier())
				require.NoError(t, receive())
				_ = wrong(dds.CommView(y), uint64(peer)) // a shaped network has the bytes in place before they are due
				if w.Missing() > 0 {
					early = 1 // the reader that does not wait is noticed
				}
				if i == 0 && w.Rank() == 0 {
					x[n/2]++ // waits until it has been sent
					x[n/2]--
				} else {
					assert.Equal(t, -1, wrong(y, uint64(peer)), "the reader that waits")
					assert.Zero(t, w.Missing())
				}
				require.NoError(t, w.Flush())
				assert.Zero(t, w.Outstanding())
				require.NoError(t, w.Allreduce(mpi.InPlace, mpi.One(&early), mpi.Max))
			}
		}
		assert.Positive(t, a.Counts().Strips)
		stalls := int64(a.Counts().Stalls) // of one rank at least: on a busy machine all readers may be late
		require.NoError(t, w.Allreduce(mpi.InPlace, mpi.One(&stalls), mpi.Max))
		assert.Positive(t, stalls)
		require.NoError(t, win.Free())
	})
}

// A message waits for transfers into a window's memory, because its receiver could read
// there; after the window has been freed it does not.
func TestWrap_freed_window(t *testing.T) {
	needUffd(t)
	duo(t, slow, []dds.Hint{dds.Strips(4), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x, token := make64(t, a, 1<<16), []byte{1}
		win, err := w.NewWin(mpi.Of(x))
		require.NoError(t, err)
		under := func() (left int64) {
			if w.Rank() == 0 {
				require.NoError(t, w.Send(mpi.Of(x), 1, 0))
				_, err = w.Recv(mpi.Of(token), 1, 1)
				require.NoError(t, err)
			} else {
				_, err = w.Recv(mpi.Of(x), 0, 0)
				require.NoError(t, err)
				require.NoError(t, w.Send(mpi.Of(token), 0, 1))
				left = int64(w.Outstanding())
			}
			require.NoError(t, w.Bcast(mpi.One(&left), 1))
			return left
		}
		assert.Zero(t, under())
		require.NoError(t, win.Free())
		left := int64(0)
		for try := 0; left == 0 && try < 20; try++ { // on a busy machine it may have arrived
			left = under()
		}
		assert.Positive(t, left)
	})
}

// Barriers, waits and collective operations retire all transfers, and so does a Send after
// a Get.
func TestWrap_retires(t *testing.T) {
	needUffd(t)
	const n = 1 << 16
	duo(t, slow, []dds.Hint{dds.Strips(4), dds.Force()}, func(c *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x, y := make64(t, a, n), make64(t, a, n)
		stamp(x, 1)
		win, err := w.NewWin(mpi.Of(x))
		require.NoError(t, err)
		token := []byte{1}
		for i, sync := range []func() error{
			w.Barrier, c.Barrier, w.Flush,
			func() error { return win.Flush(1) },
			func() error { return w.Allreduce(mpi.InPlace, mpi.Of(token), mpi.Max) },
			func() error {
				_, err := w.Isend(mpi.Of(token), mpi.ProcNull, 0).Wait()
				return errors.Join(err, w.Flush())
			},
			func() error {
				_, err := w.Sendrecv(mpi.Of(token), 1-w.Rank(), 0, mpi.Of(token), 1-w.Rank(), 0)
				return err
			},
		} {
			for early := int64(0); early == 0; {
				clear(y)
				require.NoError(t, w.Barrier())
				require.NoError(t, win.Get(mpi.Of(y), 1-w.Rank(), 0))
				early = int64(w.Outstanding())
				require.NoError(t, sync())
				assert.Zero(t, w.Outstanding(), "synchronization %d", i)
				assert.Equal(t, -1, wrong(dds.CommView(y), 1))
				require.NoError(t, w.Allreduce(mpi.InPlace, mpi.One(&early), mpi.Min))
			}
		}
		require.NoError(t, win.Free())
	})
}

// A posted receive into bytes that are still arriving waits for them, and so does the start of
// a collective operation.
func TestWrap_posted_after_a_transfer(t *testing.T) {
	needUffd(t)
	const n = 1 << 16
	duo(t, slow, []dds.Hint{dds.Strips(4), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x, token := make64(t, a, n), []byte{1}
		for _, collective := range []bool{false, true} {
			for early := int64(0); early == 0; { // on a busy machine all may have arrived
				if w.Rank() == 0 {
					require.NoError(t, w.Send(mpi.Of(x), 1, 0))
				} else {
					_, err := w.Recv(mpi.Of(x), 0, 0)
					require.NoError(t, err)
					early = int64(w.Missing())
				}
				var r *mpi.Request
				switch {
				case collective:
					r = w.Iallreduce(mpi.InPlace, mpi.Of(token), mpi.Max)
				case w.Rank() == 0:
					r = w.Isend(mpi.Of([]uint64{7}), 1, 1)
				default:
					r = w.Irecv(mpi.Of(x[n-1:]), 0, 1)
				}
				assert.Zero(t, w.Missing(), "collective: %t", collective)
				_, err := r.Wait()
				require.NoError(t, err)
				if w.Rank() == 1 && !collective {
					assert.EqualValues(t, 7, x[n-1])
				}
				require.NoError(t, w.Allreduce(mpi.InPlace, mpi.One(&early), mpi.Max))
			}
		}
	})
}

// Truncation is exact, for cut messages and for plain ones of any length.
func TestWrap_truncation(t *testing.T) {
	duo(t, "10gige", []dds.Hint{dds.Strips(3), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x, err := dds.Make[byte](a, 1<<20)
		require.NoError(t, err)
		for _, n := range []int{100, w.Envelope(), w.Envelope() + 1, 1 << 20} {
			for _, later := range []bool{false, true} {
				if w.Rank() == 0 {
					require.NoError(t, w.Send(mpi.Of(x[:n]), 1, 3))
					continue
				}
				y := make([]byte, n)
				y[n-1] = 7
				if later {
					_, err = w.Irecv(mpi.Of(y[:n-1]), 0, 3).Wait()
				} else {
					_, err = w.Recv(mpi.Of(y[:n-1]), 0, 3)
				}
				require.ErrorIs(t, err, mpi.ErrTruncate, "%d bytes", n)
				var e *mpi.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, []any{"recv", n - 1, 0, 3}, []any{e.Kind, e.Want, e.Peer, e.Tag})
				assert.Equal(t, byte(7), y[n-1])
			}
		}
		require.NoError(t, w.Barrier())
	})
}

// The next operation returns the error of a transfer, and is made all the same.
func TestWrap_late_error(t *testing.T) {
	needUffd(t)
	broken := errors.New("the cable was cut")
	duo(t, slow, []dds.Hint{dds.Strips(4), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x := make64(t, a, 1<<16)
		for _, next := range []func() error{
			func() error { return w.Send(mpi.Of([]byte{1}), 0, 1) },
			func() error { return errors.Join(w.Flush(), w.Send(mpi.Of([]byte{1}), 0, 1)) },
			func() error {
				_, err := w.Irecv(mpi.Of([]byte{1}), 0, 2).Wait()
				return errors.Join(err, w.Send(mpi.Of([]byte{1}), 0, 1))
			},
		} {
			for failed := int64(0); failed == 0; { // on a busy machine the transfer may have ended
				if w.Rank() == 0 {
					require.NoError(t, w.Send(mpi.Of(x), 1, 0))
					r := w.Isend(mpi.Of([]byte{1}), 1, 2)
					_, err := w.Recv(mpi.Of([]byte{1}), 1, 1)
					require.NoError(t, err, "it has been made")
					_, err = r.Wait()
					require.NoError(t, err)
				} else {
					_, err := w.Recv(mpi.Of(x), 0, 0)
					require.NoError(t, err)
					if w.FailFlight(broken) {
						failed = 1
					}
					for !w.Ended() {
						(*engine.Comm)(w.Comm).Engine().Poll()
					}
					assert.Equal(t, failed == 1, errors.Is(next(), broken))
					assert.Zero(t, w.Outstanding())
				}
				require.NoError(t, w.Allreduce(mpi.InPlace, mpi.One(&failed), mpi.Max))
			}
		}
		for w.Rank() == 1 {
			if _, found, err := w.Iprobe(0, 2); err != nil || !found {
				break
			}
			_, err := w.Recv(mpi.Of([]byte{1}), 0, 2)
			require.NoError(t, err)
		}
		require.NoError(t, w.Barrier())
	})
}

// slowPuts is an engine whose puts happen at their wait.
type slowPuts struct {
	engine.Engine
	held []*engine.Call
}

func (e *slowPuts) Post(calls []*engine.Call) {
	for _, c := range calls {
		if c.Kind == engine.CallPut {
			e.held = append(e.held, c)
		} else {
			e.Engine.Post([]*engine.Call{c})
		}
	}
}

func (e *slowPuts) Await(any bool, calls []*engine.Call) {
	for _, c := range calls {
		for i, h := range e.held {
			if h == c {
				e.held = append(e.held[:i:i], e.held[i+1:]...)
				e.Engine.Post([]*engine.Call{c})
				break
			}
		}
	}
	e.Engine.Await(any, calls)
}

// When a message that announces a Put arrives, the Put is complete. Without the mode, a Put
// without a wait is late: the test would notice.
func TestWrap_puts_come_before_messages(t *testing.T) {
	for _, wrapped := range []bool{true, false} {
		require.NoError(t, local.Run(2, func(c *mpi.Comm) error {
			restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { return &slowPuts{Engine: next} })
			a, err := dds.NewArena(1 << 20)
			require.NoError(t, err)
			w, err := dds.Wrap(c, dds.Force())
			require.NoError(t, err)
			x, y := make64(t, a, 1000), make64(t, a, 1000)
			win, err := w.NewWin(mpi.Of(y))
			require.NoError(t, err)
			stamp(x, 1)
			if w.Rank() == 0 {
				var r *mpi.Request
				if wrapped {
					require.NoError(t, win.Put(mpi.Of(x), 1, 0))
					clear(x) // it has been copied
				} else {
					r = win.Iput(mpi.Of(x), 1, 0)
				}
				require.NoError(t, w.Send(mpi.Of([]byte{1}), 1, 0))
				_, err := w.Recv(mpi.Of([]byte{1}), 1, 0)
				require.NoError(t, err)
				_, err = r.Wait()
				require.NoError(t, err)
			} else {
				_, err := w.Recv(mpi.Of([]byte{1}), 0, 0)
				require.NoError(t, err)
				assert.Equal(t, wrapped, wrong(y, 1) == -1)
				require.NoError(t, w.Send(mpi.Of([]byte{1}), 0, 0))
			}
			require.NoError(t, win.Free())
			return errors.Join(w.Close(), a.Close(), restore())
		}))
	}
}

// A plain message that looks like a header is refused, a slightly different one is not.
func TestWrap_header_like(t *testing.T) {
	duo(t, "none", []dds.Hint{dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, _ *dds.Arena) {
		b := w.HeaderLike()
		if w.Rank() == 0 {
			require.ErrorIs(t, w.Send(mpi.Of(b), 1, 0), mpi.ErrBuffer)
			_, err := w.Isend(mpi.Of(b), 1, 0).Wait()
			require.ErrorIs(t, err, mpi.ErrBuffer)
			b[0]++
			require.NoError(t, w.Send(mpi.Of(b), 1, 0))
			return
		}
		y := make([]byte, len(b))
		_, err := w.Recv(mpi.Of(y), 0, 0)
		require.NoError(t, err)
		b[0]++
		assert.Equal(t, b, y)
	})
}

// Ssend is never lazy, a receive without a matching message can be cancelled, and a
// persistent one can be restarted, whatever arrives.
func TestWrap_other_requests(t *testing.T) {
	duo(t, "10gige", []dds.Hint{dds.Strips(3), dds.Force()}, func(_ *mpi.Comm, w *dds.Wrapped, a *dds.Arena) {
		x := make64(t, a, 1<<15)
		if w.Rank() == 0 {
			stamp(x, 4)
			require.NoError(t, w.Ssend(mpi.Of(x), 1, 0))
			assert.Zero(t, w.Outstanding())
			require.NoError(t, w.Send(mpi.Of(x), 1, 0))
			require.NoError(t, w.Send(mpi.Of(x[:10]), 1, 0))
			return
		}
		none := w.Irecv(mpi.Of(x[:1]), 0, 9)
		require.NoError(t, none.Cancel())
		_, err := none.Wait()
		require.ErrorIs(t, err, mpi.ErrCancelled)
		r := w.RecvInit(mpi.Of(x), 0, 0)
		for _, n := range []int{len(x), len(x), 10} {
			clear(x)
			require.NoError(t, r.Start())
			st, err := r.Wait()
			require.NoError(t, err)
			assert.Equal(t, 8*n, st.Bytes)
			assert.Equal(t, -1, wrong(x[:n], 4))
		}
	})
}
