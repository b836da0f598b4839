package advise

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// analysed runs a body on ranks of this process under the tool, and returns the tool's results.
func analysed(t *testing.T, ranks int, watch Watch, body func(*mpi.Comm) error) *Run {
	t.Helper()
	return analysedFor(t, ranks, watch, 50*time.Millisecond, body)
}

// analysedFor is analysed with another time for measurements.
func analysedFor(t *testing.T, ranks int, watch Watch, rehearse time.Duration, body func(*mpi.Comm) error) *Run {
	t.Helper()
	o := &Options{File: filepath.Join(t.TempDir(), "run.json"), Watch: watch, Rehearse: rehearse, apart: int64(time.Hour)}
	require.NoError(t, local.Run(ranks, Wrap(o, body)))
	r, err := ReadFile(o.File)
	require.NoError(t, err)
	return r
}

// neighbours of a ring.
func ring(c *mpi.Comm) (left, right int) {
	return (c.Rank() + c.Size() - 1) % c.Size(), (c.Rank() + 1) % c.Size()
}

const steps = 20

// Four exchanges of disjoint cells, rows and interleaved columns, are one chain; it ends
// when it begins again.
func TestChain_border_exchange(t *testing.T) {
	const n = 16
	r := analysed(t, 3, nil, func(c *mpi.Comm) error {
		u := make([]float64, n*n)
		left, right := ring(c)
		for range steps {
			_, e1 := c.Sendrecv(mpi.Of(u[n+1:2*n-1]), left, 0, mpi.Of(u[(n-1)*n+1:n*n-1]), right, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[(n-2)*n+1:(n-1)*n-1]), right, 1, mpi.Of(u[1:n-1]), left, 1)
			_, e3 := c.Sendrecv(mpi.Strided(u[n+1:], n-2, 1, n), left, 2, mpi.Strided(u[2*n-1:], n-2, 1, n), right, 2)
			_, e4 := c.Sendrecv(mpi.Strided(u[2*n-2:], n-2, 1, n), right, 3, mpi.Strided(u[n:], n-2, 1, n), left, 3)
			if err := errors.Join(e1, e2, e3, e4); err != nil {
				return err
			}
		}
		return nil
	})
	chains := r.Chains
	require.Len(t, chains, 1)
	c := chains[0]
	require.Len(t, c.Sites, 4)
	assert.Equal(t, []int{0, 1, 2}, c.Ranks)
	assert.Equal(t, steps, c.Count)
	assert.Equal(t, "the same call again", c.Ends[0].Reason)
	line := r.Sites[c.Sites[0]].Line
	for i, s := range c.Sites {
		site := r.Sites[s]
		assert.Equal(t, "Sendrecv", site.API)
		assert.Equal(t, line+i, site.Line)
		assert.Equal(t, "tracker_test.go", base(site.File))
		assert.Contains(t, site.Func, "TestChain_border_exchange")
		assert.NotEmpty(t, site.Callers)
		assert.LessOrEqual(t, len(site.Callers), callers)
	}
	for _, p := range c.Patterns {
		require.Len(t, p.Requests, 8)
		assert.True(t, p.Requests[0].Recv)
		assert.Equal(t, (n-2)*8, p.Requests[0].Bytes())
		assert.Equal(t, n-2, p.Requests[4].Blocks)
		assert.Equal(t, 8*n, p.Requests[4].Stride)
	}
	assert.Equal(t, 3*8*steps, r.Messages)
	assert.Equal(t, r.Messages, r.HeapBuffers)
	require.NotNil(t, c.Trial, c.NoTrial)
	assert.GreaterOrEqual(t, len(c.Trial.Written), fewestPairs)
	assert.Len(t, c.Trial.Fixed, len(c.Trial.Written))
	assert.Positive(t, slices.Min(c.Trial.Written))
	assert.Len(t, r.Network.Points, len(calibrated))
	assert.Positive(t, r.Network.Time(100))
	assert.Empty(t, r.Races)
}

// Computation between two calls makes them unrelated, if they are never seen closer together.
func TestChain_ends_at_computation(t *testing.T) {
	for apart, want := range map[int64]int{1: 1, int64(time.Hour): 2} {
		o := &Options{File: filepath.Join(t.TempDir(), "run.json"), Rehearse: -1, apart: apart}
		require.NoError(t, local.Run(1, Wrap(o, func(c *mpi.Comm) error {
			u := make([]byte, 40)
			for range steps {
				_, e1 := c.Sendrecv(mpi.Of(u[:10]), 0, 0, mpi.Of(u[10:20]), 0, 0)
				_, e2 := c.Sendrecv(mpi.Of(u[20:30]), 0, 0, mpi.Of(u[30:]), 0, 0)
				if err := errors.Join(e1, e2); err != nil {
					return err
				}
			}
			return nil
		})))
		r, err := ReadFile(o.File)
		require.NoError(t, err)
		for _, c := range r.Chains {
			assert.Len(t, c.Sites, want)
			assert.Nil(t, c.Trial)
		}
	}
}

// True dependences end a chain: nothing of them can be advised away.
func TestChain_ends_at_dependences(t *testing.T) {
	const n = 12
	type exchange func(c *mpi.Comm, u []float64, left, right int) error
	for name, x := range map[string]exchange{
		// Rows with their corners, then columns with theirs: the corners travel on.
		"overlapping halos": func(c *mpi.Comm, u []float64, left, right int) error {
			_, e1 := c.Sendrecv(mpi.Of(u[n:2*n]), left, 0, mpi.Of(u[(n-1)*n:n*n]), right, 0)
			_, e2 := c.Sendrecv(mpi.Strided(u[1:], n, 1, n), left, 2, mpi.Strided(u[n-1:], n, 1, n), right, 2)
			return errors.Join(e1, e2)
		},
		"ring shift": func(c *mpi.Comm, u []float64, left, right int) error {
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[n:2*n]), right, 1, mpi.Of(u[2*n:3*n]), left, 1)
			return errors.Join(e1, e2)
		},
		"reused buffer": func(c *mpi.Comm, u []float64, left, right int) error {
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[3*n:4*n]), right, 1, mpi.Of(u[n:2*n]), left, 1)
			return errors.Join(e1, e2)
		},
		"sent, then received into": func(c *mpi.Comm, u []float64, left, right int) error {
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[3*n:4*n]), right, 1, mpi.Of(u[n-1 : n+n-1][:1]), left, 1)
			return errors.Join(e1, e2)
		},
		"collective between": func(c *mpi.Comm, u []float64, left, right int) error {
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			e3 := c.Barrier()
			_, e2 := c.Sendrecv(mpi.Of(u[3*n:4*n]), right, 1, mpi.Of(u[4*n:5*n]), left, 1)
			return errors.Join(e1, e2, e3)
		},
		"none": func(c *mpi.Comm, u []float64, left, right int) error { // the control
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[3*n:4*n]), right, 1, mpi.Of(u[4*n:5*n]), left, 1)
			return errors.Join(e1, e2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := analysed(t, 2, nil, func(c *mpi.Comm) error {
				u := make([]float64, n*n)
				left, right := ring(c)
				for range steps {
					if e := x(c, u, left, right); e != nil && !errors.Is(e, mpi.ErrTruncate) {
						return e
					}
				}
				return nil
			})
			if name == "collective between" {
				require.NotEmpty(t, r.Collectives)
				assert.Equal(t, "Barrier", r.Sites[r.Collectives[0].Site].API)
				assert.Equal(t, 2*steps, r.Collectives[0].Count)
				assert.Positive(t, r.Collectives[0].Seconds)
			} else {
				assert.Empty(t, r.Collectives)
			}
			together := false // the second call of a step and the first of the next one may be
			for _, c := range r.Chains {
				for i := 1; i < len(c.Sites); i++ {
					together = together || r.Sites[c.Sites[i-1]].Line < r.Sites[c.Sites[i]].Line
				}
			}
			assert.Equal(t, name == "none", together)
		})
	}
}

// A call that shares no cell with the chain before could have been in it.
func TestMerges(t *testing.T) {
	const n = 1000
	r := analysed(t, 2, nil, func(c *mpi.Comm) error {
		u := make([]float64, 8*n)
		left, right := ring(c)
		for range steps {
			_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
			_, e2 := c.Sendrecv(mpi.Of(u[n:2*n]), right, 1, mpi.Of(u[2*n:3*n]), left, 1) // sends the received data on
			_, e3 := c.Sendrecv(mpi.Of(u[4*n:5*n]), right, 2, mpi.Of(u[5*n:6*n]), left, 2)
			if err := errors.Join(e1, e2, e3); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range r.Chains {
		r.Chains[i].Distance = 1
	}
	require.Empty(t, r.Merges(), "the control: a second of computation lies between")
	for i := range r.Chains {
		r.Chains[i].Distance = 0
	}
	all := r.Merges()
	require.Len(t, all, 1)
	m := all[0]
	require.Equal(t, []int{1}, m.Calls, "the third call, which is the second of its chain")
	second := r.Chains[m.Chain]
	assert.Equal(t, r.Sites[second.Sites[0]].Line+1, r.Sites[second.Sites[1]].Line)
	assert.Equal(t, r.Sites[second.Sites[0]].Line, r.Sites[m.Because].Line)
	assert.Len(t, r.Chains[m.Into].Sites, 1)
	for i := range r.Chains {
		r.Chains[i].Movable = make([]int, len(r.Chains[i].Sites))
	}
	assert.Empty(t, r.Merges(), "the control: nothing was ever free to move")
}

// A chain that ends because one of its messages is needed need not wait for the others.
func TestEnoughs(t *testing.T) {
	const n = 12
	run := func(first, count int) *Run { // what the third call sends: from which element, how many
		return analysed(t, 2, nil, func(c *mpi.Comm) error {
			u := make([]float64, n*n)
			left, right := ring(c)
			for range steps {
				_, e1 := c.Sendrecv(mpi.Of(u[:n]), right, 0, mpi.Of(u[n:2*n]), left, 0)
				_, e2 := c.Sendrecv(mpi.Of(u[3*n:4*n]), right, 1, mpi.Of(u[2*n:3*n]), left, 1)
				_, e3 := c.Sendrecv(mpi.Of(u[first:first+count]), right, 2, mpi.Of(u[5*n:7*n]), left, 2)
				if err := errors.Join(e1, e2, e3, c.Barrier()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for call, first := range []int{n, 2 * n} {
		r := run(first, n)
		r.Network = Network{Points: []Point{{8, 1e-6}, {8000, 1e-3}}}
		all := r.Enoughs()
		require.Len(t, all, 1)
		assert.Equal(t, call, all[0].Call)
		c := r.Chains[all[0].Chain]
		assert.Equal(t, r.Sites[c.Sites[1]].Line+1, r.Sites[all[0].Because].Line)
		assert.Positive(t, all[0].PerPass)
	}
	assert.Empty(t, run(n, 2*n).Enoughs(), "the control: it needs both")
}

// Calls in both blocks of an if meet: they are rehearsed together.
func TestChain_of_pairs(t *testing.T) {
	r := analysed(t, 2, nil, func(c *mpi.Comm) error {
		out, in := make([]int32, 5000), make([]int32, 5000)
		for range steps {
			if c.Rank() == 0 {
				e1 := c.Send(mpi.Of(out), 1, 0)
				_, e2 := c.Recv(mpi.Of(in), 1, 0)
				if err := errors.Join(e1, e2); err != nil {
					return err
				}
			} else {
				_, e1 := c.Recv(mpi.Of(in), 0, 0)
				e2 := c.Send(mpi.Of(out), 0, 0)
				if err := errors.Join(e1, e2); err != nil {
					return err
				}
			}
		}
		return nil
	})
	chains := r.Chains
	require.Len(t, chains, 2)
	for i, c := range chains {
		require.Len(t, c.Sites, 2)
		require.NotNil(t, c.Trial, c.NoTrial)
		assert.Equal(t, chains[0].Trial, c.Trial)
		s := r.Saving(i, nil)
		assert.InDelta(t, s.PerPass*float64(c.Count)/2, s.Total, 1e-9, "each rank passes through one of the two")
	}
}

// The program gets the same bytes, statuses and errors with and without the tool.
func TestResultsAreUnchanged(t *testing.T) {
	texts := func(tool bool) []string {
		out := make([]string, 3)
		body := func(c *mpi.Comm) error {
			out[c.Rank()] = everything(c)
			return nil
		}
		if tool {
			body = Wrap(&Options{File: filepath.Join(t.TempDir(), "r.json"), Rehearse: -1}, body)
		}
		require.NoError(t, local.Run(3, body))
		return out
	}
	want := texts(false)
	assert.Equal(t, want, texts(true))
	assert.Contains(t, want[0], "longer than the receive buffer", "an error was among them")
}

// everything makes calls of all kinds and describes their results.
func everything(c *mpi.Comm) string {
	var b strings.Builder
	left, right := ring(c)
	out, in := make([]int64, 40), make([]int64, 40)
	for i := range out {
		out[i] = int64(100*c.Rank() + i)
	}
	say := func(x ...any) { fmt.Fprintln(&b, append(x, in)...) }
	for round := range 3 {
		st, err := c.Sendrecv(mpi.Of(out[:4]), right, 0, mpi.Of(in[:9]), left, 0)
		say(st, err)
		st, err = c.Sendrecv(mpi.Of(out[:8]), right, 1, mpi.Strided(in[10:], 2, 2, 5), left, 1)
		say(st, err)
		st, err = c.Sendrecv(mpi.Of(out), mpi.ProcNull, 1, mpi.Of(in), mpi.ProcNull, 1)
		say(st, err)
		_, err = c.Sendrecv(mpi.Of(out), 77, 1, mpi.Of(in), left, 1)
		say(err)
		r := c.Irecv(mpi.Of(in[20:30]), left, mpi.AnyTag)
		s := c.Isend(mpi.Strided(out, 3, 2, 4), right, 5+round)
		st, err = r.Wait()
		_, e := s.Wait()
		say(st, err, e)
		p := c.RecvInit(mpi.Of(in[30:33]), left, 9)
		e = p.Start()
		q := c.Isend(mpi.Of(out[round:round+3]), right, 9)
		for done := false; !done; {
			var e2 error
			done, st, e2 = p.Test()
			e = errors.Join(e, e2)
		}
		say(st, e, mpi.Waitall(q))
		sum := []int64{int64(c.Rank())}
		e = c.Allreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum)
		say(sum, e)
		st, err = c.SendrecvReplace(mpi.Of(in[34:36]), right, 11, left, 11)
		say(st, err)
	}
	return b.String()
}

func TestWrap_failures(t *testing.T) {
	unhappy := errors.New("unhappy")
	name := filepath.Join(t.TempDir(), "r.json")
	err := local.Run(2, Wrap(&Options{File: name}, func(c *mpi.Comm) error { return unhappy }))
	require.ErrorIs(t, err, unhappy)
	assert.NoFileExists(t, name)
	err = local.Run(2, Wrap(&Options{File: filepath.Join(t.TempDir(), "no", "such", "r.json"), Rehearse: -1}, func(c *mpi.Comm) error { return c.Barrier() }))
	require.ErrorContains(t, err, "results file")
}

// alarm is a Watch whose memory is told when it is touched.
type alarm struct {
	mu    sync.Mutex
	armed map[int]armed
	n     int
}

type armed struct {
	from, to uintptr
	writes   bool
	touched  func(string, int64)
}

func (a *alarm) Arm(p unsafe.Pointer, n int, writesOnly bool, touched func(string, int64)) (func(), bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.armed == nil {
		a.armed = map[int]armed{}
	}
	k := a.n
	a.n++
	a.armed[k] = armed{uintptr(p), uintptr(p) + uintptr(n), writesOnly, touched}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.armed, k)
	}, true
}

// Poll and View: it tells at once, and engines leave no trace.
func (a *alarm) Poll()                              {}
func (a *alarm) View(b engine.Buffer) engine.Buffer { return b }

// touch is what page protection would do at an access to x.
func (a *alarm) touch(x *float64, write bool, place string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := uintptr(unsafe.Pointer(x))
	for _, w := range a.armed {
		if w.from <= at && at < w.to && (write || !w.writes) {
			w.touched(place, osthread.Nanotime())
		}
	}
}

// The first touch of received data ends a chain, and gives its slack; a read of sent data
// does not.
func TestWatch_chain(t *testing.T) {
	for _, early := range []bool{false, true} {
		a := &alarm{}
		r := analysed(t, 1, a, func(c *mpi.Comm) error {
			u := mpi.Alloc[float64](4096)
			for range steps {
				_, e1 := c.Sendrecv(mpi.Of(u[:512]), 0, 0, mpi.Of(u[512:1024]), 0, 0)
				a.touch(&u[0], false, "sent.go:1")
				if early {
					a.touch(&u[600], false, "between.go:2")
				}
				_, e2 := c.Sendrecv(mpi.Of(u[1024:2048]), 0, 1, mpi.Of(u[2048:3072]), 0, 1)
				a.touch(&u[2050], false, "after.go:3")
				if err := errors.Join(e1, e2); err != nil {
					return err
				}
			}
			return mpi.Free(u)
		})
		assert.Zero(t, r.HeapBuffers)
		assert.Empty(t, a.armed, "nothing stays armed")
		var lengths []int
		for _, c := range r.Chains {
			lengths = append(lengths, len(c.Sites))
			assert.Positive(t, c.Slack.N)
			assert.Contains(t, c.Ends[0].Reason, "first touch")
		}
		slices.Sort(lengths)
		assert.Equal(t, map[bool][]int{false: {2}, true: {1, 1}}[early], lengths)
	}
}

// An interruption ends a chain too early once: after that it begins where it began before, and not
// at another call for ever.
func TestChain_begins_again_after_an_interruption(t *testing.T) {
	o := &Options{File: filepath.Join(t.TempDir(), "run.json"), Rehearse: -1, apart: int64(time.Hour)}
	require.NoError(t, local.Run(1, Wrap(o, func(c *mpi.Comm) error {
		u := make([]byte, 40)
		for i := range steps {
			_, e1 := c.Sendrecv(mpi.Of(u[:10]), 0, 0, mpi.Of(u[10:20]), 0, 0)
			if i == 5 {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			_, e2 := c.Sendrecv(mpi.Of(u[20:30]), 0, 0, mpi.Of(u[30:]), 0, 0)
			if err := errors.Join(e1, e2); err != nil {
				return err
			}
		}
		return nil
	})))
	r, err := ReadFile(o.File)
	require.NoError(t, err)
	require.Len(t, r.Chains, 3)
	assert.Len(t, r.Chains[0].Sites, 2)
	assert.GreaterOrEqual(t, r.Chains[0].Count, steps-2)
}
