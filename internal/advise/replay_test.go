package advise

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// swap is two exchanges on a ring that do not need each other.
func swap(c *mpi.Comm, u []float64) error {
	left, right := ring(c)
	_, e1 := c.Sendrecv(mpi.Of(u[:10]), left, 0, mpi.Of(u[10:20]), right, 0)
	_, e2 := c.Sendrecv(mpi.Of(u[20:30]), right, 1, mpi.Of(u[30:40]), left, 1)
	return errors.Join(e1, e2)
}

func compute(d time.Duration) {
	for start := osthread.Nanotime(); osthread.Nanotime()-start < int64(d); {
	}
}

// Programs that can be replayed: their chain is measured with all that lies between.
func TestReplay(t *testing.T) {
	for name, body := range map[string]func(c *mpi.Comm) func(step int) error{
		"computation": func(c *mpi.Comm) func(int) error {
			u := make([]float64, 40)
			return func(int) error {
				compute(300 * time.Microsecond)
				return swap(c, u)
			}
		},
		"collective calls": func(c *mpi.Comm) func(int) error {
			u, sum := make([]float64, 40), 0.0
			out, in := make([]int32, 64), make([]int32, 64)
			return func(step int) error {
				n := 1 + step%3 // other counts from step to step
				counts := []int{n, n, n}
				e1 := c.Allreduce(mpi.InPlace, mpi.One(&sum), mpi.Sum)
				e2 := c.Alltoallv(mpi.Of(out), counts, nil, mpi.Of(in), counts, nil)
				e3 := c.Bcast(mpi.Of(in), step%3)
				e4 := c.Barrier()
				return errors.Join(e1, e2, e3, e4, swap(c, u))
			}
		},
		"groups": func(c *mpi.Comm) func(int) error {
			u, sum := make([]float64, 40), 0.0
			pair, err := c.Split(min(c.Rank(), 1), -c.Rank())
			return func(int) error {
				return errors.Join(err, pair.Allreduce(mpi.InPlace, mpi.One(&sum), mpi.Sum), swap(c, u))
			}
		},
		"any source": func(c *mpi.Comm) func(int) error {
			u, one := make([]float64, 40), []byte{0}
			return func(int) error {
				if err := errors.Join(c.Barrier(), swap(c, u), c.Barrier()); err != nil {
					return err
				}
				if c.Rank() > 0 {
					return c.Send(mpi.Of(one), 0, 7)
				}
				for range c.Size() - 1 {
					if _, err := c.Recv(mpi.Of(one), mpi.AnySource, 7); err != nil {
						return err
					}
				}
				return nil
			}
		},
		"with itself": func(c *mpi.Comm) func(int) error {
			u := make([]float64, 40)
			return func(int) error {
				_, e1 := c.Sendrecv(mpi.Of(u[:10]), c.Rank(), 0, mpi.Of(u[10:20]), c.Rank(), 0)
				return errors.Join(e1, swap(c, u))
			}
		},
		"two communicators": func(c *mpi.Comm) func(int) error {
			u := make([]float64, 40)
			d, err := c.Dup()
			left, right := ring(c)
			return func(int) error {
				_, e1 := c.Sendrecv(mpi.Of(u[:10]), left, 0, mpi.Of(u[10:20]), right, 0)
				_, e2 := d.Sendrecv(mpi.Of(u[20:30]), left, 0, mpi.Of(u[30:40]), right, 0)
				return errors.Join(err, e1, e2)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := analysedFor(t, 3, nil, 250*time.Millisecond, loop(body)) // passes are long on a busy machine
			c := longest(r)
			require.NotNil(t, c.Trial, c.NoTrial)
			assert.True(t, c.Trial.Replayed, c.NoReplay)
			assert.Positive(t, middle(c.Trial.Written))
			if name == "computation" {
				assert.Greater(t, middle(c.Trial.Written), 200e-6, "it is part of a pass")
			}
		})
	}
}

// Programs that cannot: why is said, and the messages of the chain are measured alone.
func TestReplay_refused(t *testing.T) {
	for name, x := range map[string]struct {
		body  func(c *mpi.Comm) func(step int) error
		why   string
		alone bool // its messages can be exchanged alone
	}{
		"non-blocking": {func(c *mpi.Comm) func(int) error {
			u, v := make([]float64, 40), make([]float64, 2)
			left, right := ring(c)
			return func(int) error {
				in := c.Irecv(mpi.Of(v[:1]), left, 9)
				out := c.Isend(mpi.Of(v[1:]), right, 9)
				return errors.Join(mpi.Waitall(in, out), swap(c, u))
			}
		}, "other calls", true},
		"new communicators": {func(c *mpi.Comm) func(int) error {
			u := make([]float64, 40)
			return func(int) error {
				d, err := c.Dup()
				if err != nil {
					return err
				}
				return errors.Join(swap(c, u), d.Free())
			}
		}, "other calls", true},
		"own operation": {func(c *mpi.Comm) func(int) error {
			u, sum := make([]float64, 40), 0.0
			first, err := mpi.NewOp("first", false, func(acc, in []float64) {})
			return func(int) error {
				return errors.Join(err, c.Allreduce(mpi.InPlace, mpi.One(&sum), first), swap(c, u))
			}
		}, "other calls", true},
		"messages between passes": {func(c *mpi.Comm) func(int) error {
			u := make([]float64, 2)
			left, right := ring(c)
			return func(step int) error {
				if step == 0 {
					return c.Send(mpi.Of(u[:1]), right, 0)
				}
				_, err := c.Recv(mpi.Of(u[1:]), left, 0)
				if step == 3*steps-1 {
					return err
				}
				return errors.Join(err, c.Send(mpi.Of(u[:1]), right, 0))
			}
		}, "begin or end with another pass", false},
	} {
		t.Run(name, func(t *testing.T) {
			// Time for a pass that takes some ten milliseconds because other programs run.
			r := analysedFor(t, 3, nil, 250*time.Millisecond, loop(x.body))
			c := longest(r)
			assert.Contains(t, c.NoReplay, x.why)
			if x.alone {
				require.NotNil(t, c.Trial, c.NoTrial)
				assert.False(t, c.Trial.Replayed)
			} else {
				assert.Nil(t, c.Trial)
				assert.Equal(t, stuck, c.NoTrial)
			}
		})
	}
}

// loop makes the steps of a program.
func loop(body func(c *mpi.Comm) func(step int) error) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		step := body(c)
		for i := range 3 * steps {
			if err := step(i); err != nil {
				return err
			}
		}
		return nil
	}
}

// longest returns the chain that was passed through most often.
func longest(r *Run) *Chain {
	best := &r.Chains[0]
	for i := range r.Chains {
		if c := &r.Chains[i]; len(c.Sites) > 1 && c.Count > best.Count {
			best = c
		}
	}
	return best
}

// The sums of two ranks agree only if all that they exchanged does.
func TestAudit(t *testing.T) {
	type change func(sender, receiver *recording)
	books := func(f change) (sent, received uint64) {
		sender, receiver := newRecording(0, 2), newRecording(1, 2)
		for i := range 6 {
			tag := i % 2
			sender.add(&noted{site: 0, n: 1, requests: [2]wish{{Message: Message{Peer: 1, Tag: tag, Blocks: 1, Block: 8 + i}}}})
			receiver.add(&noted{site: 0, n: 1, requests: [2]wish{{Message: Message{Recv: true, Peer: engine.AnySource, Tag: engine.AnyTag, Blocks: 1, Block: 99}}},
				source: [2]int{0}, tag: [2]int{tag}, came: [2]int{8 + i}})
		}
		f(sender, receiver)
		w := window{1, 5}
		return sender.audit(w, 2).sent[1], receiver.audit(w, 2).received[0]
	}
	sent, received := books(func(*recording, *recording) {})
	assert.Equal(t, sent, received)
	for name, f := range map[string]change{
		"another length":     func(_, r *recording) { r.calls[r.events[2].call].bytes[0]++ },
		"another tag":        func(s, _ *recording) { s.calls[s.events[2].call].messages[0].Tag = 5 },
		"one less":           func(s, _ *recording) { s.events[2] = event{0, notReplayed, -1} },
		"one more before it": func(s, _ *recording) { s.events[0] = s.events[1] },
		"in another order":   func(_, r *recording) { r.events[1], r.events[3] = r.events[3], r.events[1] },
	} {
		sent, received := books(f)
		assert.NotEqual(t, sent, received, name)
	}
}

// Calls of one execution of a function are a batch.
func TestBatchesOf(t *testing.T) {
	at := func(function, caller string) Site { return Site{Func: function, Callers: []string{caller, "main"}} }
	never := math.Inf(1)
	gaps := []float64{0, 1e-6, 1e-6, 9e-6, 1e-6}
	all := []Site{at("f", "1"), at("f", "1"), at("f", "2"), at("f", "2"), at("g", "2")}
	assert.Equal(t, []int{0, 0, 1, 1, 2}, batchesOf(all, gaps, never))
	assert.Equal(t, []int{0, 0, 1, 2, 3}, batchesOf(all, gaps, oneList), "a loop before the fourth")
	assert.Equal(t, []int{0, 0, 0}, batchesOf([]Site{at("f", "1"), at("f", "2"), at("g", "2")}, gaps, never), "calls of helpers")
	assert.Equal(t, []int{0}, batchesOf(all[:1], gaps, never))
}

// A full recording takes no more, and what was noted stays.
func TestRecording_full(t *testing.T) {
	r := newRecording(0, allEvents)
	require.Equal(t, 1, r.most)
	r.add(&noted{site: 3, gap: 1 << 40})
	r.add(&noted{site: 3})
	r.other()
	assert.Equal(t, []event{{longestGap, 0, 3}}, r.events)
	assert.Equal(t, []int{0}, r.starts([]int{3}))
	assert.Empty(t, r.starts([]int{4}))
}
