package commthread_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/seeds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/tasks"
)

// In virtual time a message of 2 MiB, which takes 16.9 ms at 1 Gbit/s, is hidden behind a body
// of 30 ms on both ranks; without the thread it is not.
func TestSimulate_overlap(t *testing.T) {
	const work = 30 * time.Millisecond
	net, err := local.ParseNet("gige")
	require.NoError(t, err)
	run := func(seed uint64) osthread.Simulated {
		var failed error
		s, err := osthread.Simulate(osthread.Simulation{Seed: seed, Interrupt: true}, func() {
			failed = local.Run(2, func(c *mpi.Comm) error {
				b := make([]byte, 2<<20)
				return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
					if c.Rank() == 0 {
						ct.Send(rt, c, mpi.Of(b), 1, 0)
					} else {
						ct.Recv(rt, c, mpi.Of(b), 0, 0)
					}
					rt.Spawn("work", func(*tasks.Context) error { osthread.Sleep(work); return nil })
					return rt.Wait()
				}, []dataflow.Option{dataflow.Workers(1), dataflow.Pin(false)})
			}, local.Network(net))
		})
		require.NoError(t, err)
		require.NoError(t, failed)
		return s
	}
	s := run(1)
	t.Log(s)
	assert.Equal(t, s, run(1))
	assert.InDelta(t, work, s.Elapsed, float64(2*time.Millisecond))
}

// Random programs of messages and tasks in virtual time, on up to three workers per rank: bodies
// block in messages, on the thread and with the lease. WEFT_PROGRAMS and WEFT_SEED are their
// number and the first seed.
func TestSimulate_random_programs(t *testing.T) {
	for seed := range seeds.From(t, 0, 40) {
		n := 1 + int(seed%4)
		p := newProgram(seed, n)
		want := p.oracle()
		run := func() osthread.Simulated {
			var failed error
			s, err := osthread.Simulate(osthread.Simulation{Seed: seed + 1, Interrupt: true, Limit: time.Minute}, func() {
				failed = local.Run(n, func(c *mpi.Comm) error {
					return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
						m, err := p.run(rank{c, rt, ct, setup{}})
						if err == nil {
							err = m.difference(want[c.Rank()])
						}
						return err
					}, []dataflow.Option{dataflow.Workers(1 + int(seed/4%3)), dataflow.Pin(false)}, commthread.Window([]int{256, 8, 3}[seed/12%3]))
				})
			})
			require.NoError(t, err, "seed %d", seed)
			require.NoError(t, failed, "seed %d", seed)
			return s
		}
		if s := run(); seed%5 == 0 {
			assert.Equal(t, s, run(), fmt.Sprint("seed ", seed))
		}
	}
}

// In random programs one rank fails at some time: a task returns an error or panics, the
// communicator is revoked, or the rank leaves without its part of the program. All ranks end, the
// run has the cause in its error unless the program was over by then, and a seed gives the same
// run each time.
func TestSimulate_random_faults(t *testing.T) {
	met := map[string]int{}
	for seed := range seeds.From(t, 0, 60) {
		n := 2 + int(seed%3)
		p := newProgram(seed, n)
		want := p.oracle()
		run := func() (osthread.Simulated, error) {
			dice := rand.New(rand.NewPCG(seed, 5))
			kind, victim, when := faults[dice.IntN(len(faults))], dice.IntN(n), time.Duration(dice.IntN(100_000))
			var failed error
			s, err := osthread.Simulate(osthread.Simulation{Seed: seed + 1, Interrupt: true, Limit: time.Minute}, func() {
				failed = local.Run(n, func(c *mpi.Comm) error {
					return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
						if c.Rank() == victim {
							if kind == "leaves" {
								return errFault
							}
							rt.Spawn("fault", func(*tasks.Context) error { osthread.Sleep(when); return fault(kind, c) })
						}
						m, err := p.run(rank{c, rt, ct, setup{}})
						if err == nil {
							err = m.difference(want[c.Rank()])
						}
						return errors.Join(err, rt.Wait())
					}, []dataflow.Option{dataflow.Workers(1 + int(seed/3%3)), dataflow.Pin(false)}, commthread.Window([]int{256, 8, 3}[seed/9%3]))
				})
			})
			require.NoError(t, err, "seed %d: %s on rank %d after %v", seed, kind, victim, when)
			if failed != nil {
				met[kind]++
				require.ErrorContains(t, failed, errFault.Error(), "seed %d: %s on rank %d after %v", seed, kind, victim, when)
			}
			return s, failed
		}
		if s, failed := run(); seed%5 == 0 {
			again, same := run()
			require.Equal(t, s, again, "seed %d", seed)
			addresses := regexp.MustCompile("0x[0-9a-f]+|goroutine [0-9]+")
			require.Equal(t, addresses.ReplaceAllString(fmt.Sprint(failed), ""), addresses.ReplaceAllString(fmt.Sprint(same), ""), "seed %d", seed)
		}
	}
	if os.Getenv("WEFT_PROGRAMS") == "" {
		require.Len(t, met, len(faults), "kinds of faults that failed a run: %v", met)
	}
}

var (
	faults   = []string{"error", "panic", "revoke", "leaves"}
	errFault = errors.New("broken on purpose")
)

// fault makes a fault inside a task.
func fault(kind string, c *mpi.Comm) error {
	switch kind {
	case "panic":
		panic(errFault)
	case "revoke":
		c.Revoke(errFault)
		return nil
	}
	return errFault
}
