package local

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/reserved"
	"github.com/weft-hpc/weft/internal/seeds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/mpitest"
)

// simulate runs body on ranks of a simulated machine.
func simulate(t testing.TB, seed uint64, ranks int, body func(*mpi.Comm) error, opts ...Option) osthread.Simulated {
	var failed error
	s, err := osthread.Simulate(osthread.Simulation{Seed: seed, Interrupt: true}, func() { failed = Run(ranks, body, opts...) })
	require.NoError(t, err)
	require.NoError(t, failed)
	return s
}

// network returns the network of a preset.
func network(t testing.TB, name string) Net {
	net, err := ParseNet(name)
	require.NoError(t, err)
	return net
}

// In virtual time a message takes exactly what LogGP says: o + L + n G + o if it is eager, and
// two latencies with their overheads more if its bytes wait for the receive.
func TestSimulate_LogGP(t *testing.T) {
	for _, name := range []string{"gige", "10gige", "ib", "gige,progress=nic"} {
		net := network(t, name)
		for _, n := range []int{0, 8, 1000, defaultEager, defaultEager + 8, 1 << 20} {
			const rounds = 5
			var took time.Duration
			simulate(t, 0, 2, func(c *mpi.Comm) error {
				b := make([]byte, n)
				begin := osthread.Nanotime()
				for i := range 2 * rounds {
					if c.Rank() == i%2 {
						if err := c.Send(mpi.Of(b), 1-c.Rank(), 0); err != nil {
							return err
						}
					} else if _, err := c.Recv(mpi.Of(b), 1-c.Rank(), 0); err != nil {
						return err
					}
				}
				if c.Rank() == 0 {
					took = time.Duration(osthread.Nanotime() - begin)
				}
				return nil
			}, Network(net))
			want := 2*net.Overhead + net.Latency + time.Duration(net.wireTime(n))
			if n > defaultEager {
				want += 2*net.Latency + 2*net.Overhead
				if net.NIC { // it answers in the place of the host
					want -= net.Overhead
				}
			}
			rounding := n / (64 << 10) // a long message has segments, whose times are whole ns
			assert.InDelta(t, 2*rounds*want, took, float64(2*rounds*rounding), "%s, %d bytes", name, n)
		}
	}
}

// A request to send arrives although others have reserved the receiver's link: so the second of two
// long messages follows the first one without a gap.
func TestSimulate_request_to_send(t *testing.T) {
	const latency, wire, n = time.Millisecond, 8 * time.Millisecond, 1 << 20
	net := Net{Latency: latency, Bandwidth: n / wire.Seconds(), NIC: true}
	s := simulate(t, 0, 3, func(c *mpi.Comm) error {
		a, b := make([]byte, n), make([]byte, n)
		if c.Rank() > 0 {
			osthread.Sleep(time.Duration(c.Rank()-1) * 5 * latency / 2) // the first has reserved the link
			return c.Send(mpi.Of(a), 0, 0)
		}
		return mpi.Waitall(c.Irecv(mpi.Of(a), 1, 0), c.Irecv(mpi.Of(b), 2, 0))
	}, Network(net))
	assert.InDelta(t, 3*latency+2*wire, s.Elapsed, float64(latency/2))
}

// long reports whether to run the long forms.
func long() bool { return os.Getenv("WEFT_LONG") == "1" }

// The conformance suite in virtual time: a run takes the same time and as many turns with the
// same seed, and others with another one.
func TestSimulate_conformance(t *testing.T) {
	net := network(t, "gige")
	only := func(name string) bool {
		room, _, _ := strings.Cut(name, "/")
		rooms := []string{"engine", "probe", "request", "notify", "revoke"}
		if invariant.Race {
			rooms = rooms[1:3] // one thread runs at a time: there is little to find
		}
		return long() || slices.Contains(rooms, room)
	}
	run := func(seed uint64) osthread.Simulated {
		return simulate(t, seed, 3, func(c *mpi.Comm) error {
			p, err := mpitest.Run(c, mpitest.Options{Only: only})
			_, failed, _ := p.Counts()
			assert.Zero(t, failed, "%v", p.Results)
			return err
		}, Network(net))
	}
	first := run(1)
	assert.Equal(t, first, run(1))
	assert.NotEqual(t, first, run(2))
}

// The conformance suite under many seeds, which decide on the number of ranks, the network, the
// eager limit, delays, and the order of the ranks. WEFT_PROGRAMS and WEFT_SEED are the number of
// runs and the first seed.
func TestSimulate_conformance_seeds(t *testing.T) {
	for seed := range seeds.From(t, 1, uint64(few(2, 1))) {
		dice := rand.New(rand.NewPCG(seed, 4))
		ranks := 1 + dice.IntN(4)
		opts := []Option{
			Network(network(t, []string{"none", "gige", "ib", "10gige,progress=nic"}[dice.IntN(4)])),
			Eager([]int{0, 1, 64, defaultEager}[dice.IntN(4)]),
			Inject(Faults{Seed: seed, Delay: time.Duration(dice.IntN(3)) * 10 * time.Microsecond, Reorder: dice.IntN(2) == 0}),
		}
		simulate(t, seed, ranks, func(c *mpi.Comm) error {
			p, err := mpitest.Run(c, mpitest.Options{Seed: seed, Only: func(name string) bool { return !strings.HasPrefix(name, "random/") }})
			_, failed, _ := p.Counts()
			assert.Zero(t, failed, "seed %d: %v", seed, p.Results)
			return err
		}, opts...)
	}
}

// Random programs of messages under many orders of the ranks.
func TestSimulate_random_programs(t *testing.T) {
	seeds := uint64(few(4, 1))
	if long() {
		seeds = 1000
	}
	for seed := range seeds {
		run := func() osthread.Simulated {
			return simulate(t, seed+1, 4, func(c *mpi.Comm) error {
				p, err := mpitest.Run(c, mpitest.Options{Seed: seed, Only: func(name string) bool { return name == "random/programs" }})
				_, failed, _ := p.Counts()
				assert.Zero(t, failed, "seed %d: %v", seed, p.Results)
				return err
			}, Network(network(t, "ib")))
		}
		s := run()
		if seed == 0 {
			assert.Equal(t, s, run(), "seed %d", seed)
		}
	}
}

// Ranks that wait for each other end the run after two looks of the watch, in virtual time.
func TestSimulate_deadlock(t *testing.T) {
	var failed error
	began := time.Now()
	s, err := osthread.Simulate(osthread.Simulation{}, func() {
		failed = Run(2, func(c *mpi.Comm) error {
			_, err := c.Recv(mpi.Of(make([]byte, 1)), 1-c.Rank(), 0)
			return err
		})
	})
	require.NoError(t, err)
	require.ErrorContains(t, failed, "deadlock")
	assert.Less(t, s.Elapsed, time.Minute)
	assert.Less(t, time.Since(began), time.Minute)
}

// BenchmarkSimulate_messages is the host's time of a message among 512 ranks of a simulated
// machine: each sends to its right neighbour and receives from the left one.
func BenchmarkSimulate_messages(b *testing.B) {
	const ranks = 512
	rounds := b.N/ranks + 1
	simulate(b, 1, ranks, func(c *mpi.Comm) error {
		out, in := make([]byte, 8), make([]byte, 8)
		right, left := (c.Rank()+1)%ranks, (c.Rank()+ranks-1)%ranks
		for range rounds {
			if _, err := c.Sendrecv(mpi.Of(out), right, 0, mpi.Of(in), left, 0); err != nil {
				return err
			}
		}
		return nil
	}, Network(network(b, "ib")))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// A message from reserved memory to ordinary memory brings what the sender keeps, and zeros: no
// bytes of another message; eager or not, early or late.
func TestSimulate_reserved_to_ordinary(t *testing.T) {
	for _, n := range []int{512, 4 << 10, 1 << 20} {
		simulate(t, 0, 2, func(c *mpi.Comm) error {
			src, err := reserved.Map(n, true)
			if err != nil {
				return err
			}
			reserved.Keep(unsafe.Pointer(unsafe.SliceData(src)), 8)
			for i := range src {
				src[i] = 7
			}
			old := slices.Repeat([]byte{42}, n) // its packet is used again
			got := make([]byte, n)
			for late := range 8 {
				if c.Rank() == 0 {
					osthread.Sleep(time.Duration(1-late%2) * time.Millisecond)
					err := c.Send(mpi.Of(old), 1, 1)
					if err == nil {
						_, err = c.Recv(mpi.Of([]byte{0}), 1, 2)
					}
					if err = errors.Join(err, c.Send(mpi.Of(src), 1, 0)); err != nil {
						return err
					}
					continue
				}
				osthread.Sleep(time.Duration(late%2) * time.Millisecond)
				_, err := c.Recv(mpi.Of(make([]byte, n)), 0, 1)
				err = errors.Join(err, c.Send(mpi.Of([]byte{0}), 0, 2))
				osthread.Sleep(time.Duration(late%2) * time.Millisecond)
				if _, e := c.Recv(mpi.Of(got), 0, 0); errors.Join(err, e) != nil {
					return errors.Join(err, e)
				}
				assert.Equal(t, slices.Repeat([]byte{7}, 8), got[:8])
				assert.Equal(t, make([]byte, n-8), got[8:])
				clear(got)
			}
			return nil
		}, Network(network(t, "ib")))
	}
}

// An eager message takes half of the time of its copy from its sender, and half from its receiver, whichever is
// early.
func TestSimulate_copy_of_eager_messages(t *testing.T) {
	const n = 16 << 10 // bytes, at 1e9 bytes per second
	for _, early := range []bool{true, false} {
		var took [2]time.Duration
		_, err := osthread.Simulate(osthread.Simulation{Nodes: 2, Cores: 1, Copy: 1}, func() {
			require.NoError(t, Run(2, func(c *mpi.Comm) error {
				memory, err := reserved.Map(n, false)
				if err != nil {
					return err
				}
				defer func() { _ = reserved.Unmap(memory) }()
				if (c.Rank() == 1) == early {
					osthread.Sleep(time.Millisecond)
				}
				begin := osthread.Nanotime()
				if c.Rank() == 0 {
					err = c.Send(mpi.Of(memory), 1, 0)
				} else {
					_, err = c.Recv(mpi.Of(memory), 0, 0)
				}
				took[c.Rank()] = time.Duration(osthread.Nanotime() - begin)
				return err
			}, Network(Net{Latency: 1, Bandwidth: 1e13}), Eager(n)))
		})
		require.NoError(t, err)
		assert.EqualValues(t, n/2, took[0])
		if early {
			assert.EqualValues(t, n/2, took[1])
		} else { // it has waited
			assert.InDelta(t, time.Millisecond+n/2, took[1], float64(time.Microsecond))
		}
	}
}

// A host that sends a long message answers requests to send between its segments, however slow it is: messages
// both ways take as long as the longer one, not as long as both.
func TestSimulate_long_messages_both_ways(t *testing.T) {
	const long, short = 2 << 20, 1 << 20 // bytes
	for _, rate := range []float64{1, 0.1} {
		var took [2]time.Duration
		_, err := osthread.Simulate(osthread.Simulation{Nodes: 2, Cores: 1, Copy: rate}, func() {
			require.NoError(t, Run(2, func(c *mpi.Comm) error {
				memory, err := reserved.Map(long+short, false)
				if err != nil {
					return err
				}
				defer func() { _ = reserved.Unmap(memory) }()
				mine, theirs := memory[:long], memory[long:]
				if c.Rank() == 1 { // it begins to send first
					mine, theirs = theirs, mine
				} else {
					osthread.Sleep(20 * time.Microsecond)
				}
				begin := osthread.Nanotime()
				_, err = c.Sendrecv(mpi.Of(mine), 1-c.Rank(), 0, mpi.Of(theirs), 1-c.Rank(), 0)
				took[c.Rank()] = time.Duration(osthread.Nanotime() - begin)
				return err
			}, Network(Net{Latency: time.Microsecond, Bandwidth: 8e9})))
		})
		require.NoError(t, err)
		for rank, d := range took {
			assert.InDelta(t, long/rate, d, 400e3, "rank %d at %g GB/s", rank, rate)
		}
	}
}
