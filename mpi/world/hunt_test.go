package world

import (
	"errors"
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

const huntWords = 1 << 17 // of a buffer: 1 MiB

// plain is a program with blocking calls that knows nothing of hunting: in each round ranks
// exchange with their neighbours and with all, and compute with what came. It returns a
// digest of all that rank 0 computed.
func plain(c *mpi.Comm) (digest uint64, err error) {
	p, me := c.Size(), c.Rank()
	out, in, all := mpi.Alloc[uint64](huntWords), mpi.Alloc[uint64](huntWords), mpi.Alloc[uint64](huntWords)
	for i := range out {
		out[i] = uint64(i*31 + me)
	}
	counts, displs := make([]int, p), make([]int, p)
	for i := range counts { // rank i of all ranks gets the same number from everybody
		counts[i] = huntWords / p / 4 * (1 + (me+i)%4)
		displs[i] = huntWords / p * i
	}
	for range 3 {
		if _, err := c.Sendrecv(mpi.Of(out), (me+1)%p, 1, mpi.Of(in), (me+p-1)%p, 1); err != nil {
			return 0, err
		}
		for i, x := range in {
			out[i] = out[i]*7 + x
		}
		if err := c.Alltoallv(mpi.Of(out), counts, displs, mpi.Of(in), counts, displs); err != nil {
			return 0, err
		}
		for i := range counts {
			for j, x := range in[displs[i]:][:counts[i]] {
				out[displs[i]+j] += x
			}
		}
		if err := c.Alltoall(mpi.Of(out), mpi.Of(all)); err != nil {
			return 0, err
		}
		for i, x := range all {
			out[i] ^= x >> 1
		}
	}
	h := fnv.New64a()
	for _, x := range out {
		fmt.Fprint(h, x)
	}
	return h.Sum64(), errors.Join(mpi.Free(in), mpi.Free(out), mpi.Free(all))
}

// The results of an unchanged program are the same in all modes, and nothing is left.
func TestHunt_results(t *testing.T) {
	for _, ranks := range []int{1, 2, 4} {
		var want []uint64
		for _, mode := range []string{"off", "auto", "force"} {
			got := make([]uint64, ranks)
			c := &Config{Ranks: ranks, Eager: -1, Hunt: mode}
			c.Net, _ = local.ParseNet("gige")
			require.NoError(t, c.Run(func(c *mpi.Comm) (err error) {
				assert.Equal(t, max(1, Workers(c)), Workers(c))
				got[c.Rank()], err = plain(c)
				return err
			}), mode)
			if mode == "off" {
				want = got
			}
			assert.Equal(t, want, got, "%s on %d ranks", mode, ranks)
		}
	}
}

// The mode is at work, and says so.
func TestHunt_says(t *testing.T) {
	var said []string
	c := &Config{Ranks: 2, Eager: -1, Hunt: huntForce}
	c.Net, _ = local.ParseNet("gige")
	h, err := c.hunting()
	require.NoError(t, err)
	h.say = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	require.NoError(t, c.runHere(h.around(func(c *mpi.Comm) error {
		_, err := plain(c)
		if x := mpi.Alloc[byte](1); !invariant.Race {
			assert.NotNil(t, dds.In(x), "memory of an arena")
			return errors.Join(err, mpi.Free(x))
		}
		return err
	})))
	h.end()
	assert.Empty(t, h.memory.arenas, "all arenas are closed")
	require.NotEmpty(t, said)
	assert.Regexp(t, `^rank 0, in .*: [0-9]+ messages returned early, which hid .* and cost .*; strips [0-9]+, faults [0-9]+, stalls [0-9]+ in this process$`, said[0])
	x := mpi.Alloc[byte](1)
	assert.Nil(t, dds.In(x), "after the run")
	require.NoError(t, mpi.Free(x))
}

// Auto is on only where messages are in flight for longer than a fault takes.
func TestHunt_choose(t *testing.T) {
	require.NoError(t, local.Run(1, func(c *mpi.Comm) error {
		k := dds.Constants{Gap: 8, RTT: 50e3, Fault: 20e3, Arm: 1e3, Retire: 1e3, ArmPage: 100, RetPage: 100}
		fast, deaf := k, k
		fast.Gap, deaf.Fault = 0.05, 0
		for _, x := range []struct {
			force bool
			k     dds.Constants
			on    bool
			says  string
		}{{false, k, true, "on for messages from 256 KiB"}, {false, fast, false, "off: no message"}, {false, deaf, false, "off: no message"}, {true, fast, true, ""}} {
			said := ""
			h := &hunt{force: x.force, say: func(format string, args ...any) { said = fmt.Sprintf(format, args...) }}
			assert.Equal(t, x.on, h.choose(c, x.k))
			assert.Equal(t, x.on, h.memory.on)
			assert.Contains(t, said, x.says)
		}
		return nil
	}))
}

// Memory that outlives the run stays, and can be freed later.
func TestHunt_memory_that_stays(t *testing.T) {
	c := &Config{Ranks: 2, Eager: -1, Hunt: huntForce}
	h, err := c.hunting()
	require.NoError(t, err)
	h.say = func(string, ...any) {}
	kept := make([][]byte, 2)
	require.NoError(t, c.runHere(h.around(func(c *mpi.Comm) error {
		kept[c.Rank()] = mpi.Alloc[byte](1 << 20)
		return nil
	})))
	h.end()
	for i, x := range kept {
		x[i] = 1
		if !invariant.Race {
			assert.NotEmpty(t, h.memory.arenas)
		}
		require.NoError(t, mpi.Free(x))
	}
	assert.Empty(t, h.memory.arenas, "the last Free closes the arena")
}

func TestHunt_failing_body(t *testing.T) {
	unhappy := errors.New("rank one is unhappy")
	for _, mode := range []string{huntAuto, huntForce} {
		c := &Config{Ranks: 3, Eager: -1, Hunt: mode}
		c.Net, _ = local.ParseNet("gige")
		err := c.Run(func(c *mpi.Comm) error {
			x := mpi.Alloc[byte](1 << 20)
			if c.Rank() == 1 {
				return unhappy
			}
			_, err := c.Recv(mpi.Of(x), 1, 0)
			return err
		})
		require.ErrorIs(t, err, unhappy)
		c.Ranks = 2
		err = c.Run(func(c *mpi.Comm) error {
			if c.Rank() == 1 {
				panic("out of its depth")
			}
			return c.Barrier()
		})
		require.ErrorContains(t, err, "out of its depth")
	}
}

func TestHunt_usage(t *testing.T) {
	none := func(*mpi.Comm) error { return errors.New("it ran") }
	c := &Config{Ranks: 2, Eager: -1, Hunt: "perhaps"}
	require.ErrorIs(t, c.Run(none), ErrUsage)
	require.ErrorContains(t, c.Run(none), `-hunt "perhaps": there are off, auto and force`)
	t.Setenv(HuntVariable, "sometimes")
	c.Hunt = ""
	require.ErrorContains(t, c.Run(none), `WEFT_HUNT "sometimes": there are off, auto and force`)
	t.Setenv(HuntVariable, "force")
	c.Machine = "cluster"
	require.ErrorContains(t, c.Run(none), "WEFT_HUNT force: on a simulated machine")
	c.Machine, c.Hunt = "", "off"
	require.EqualError(t, c.Run(func(c *mpi.Comm) error { return errors.New("it ran") }), "rank 0: it ran (and 1 other ranks)", "the flag goes before the variable")
	t.Setenv(advise.FileVariable, "run.json")
	c.Hunt = "auto"
	require.ErrorContains(t, c.Run(none), "WEFT_ADVISE measures the program as it is")
}
