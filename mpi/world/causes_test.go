package world

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/joined"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A task fails on one rank, whose messages and those of the other ranks fail for it.
func TestRun_names_the_failed_task_only(t *testing.T) {
	unhappy := errors.New("the task is unhappy")
	err := (&Config{Ranks: 3, Eager: -1}).runHere(func(c *mpi.Comm) error {
		return commthread.Run(c, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
			x, y, z := make([]int64, 4), make([]int64, 4), make([]int64, 4)
			ct.Recv(rt, c, mpi.Of(z), (c.Rank()+2)%3, 7)
			if c.Rank() == 1 {
				rt.Spawn("compute", func(*tasks.Context) error { return unhappy }, tasks.Updates(x))
			}
			ct.Allreduce(rt, c, mpi.Of(x), mpi.Of(y), mpi.Sum)
			rt.Spawn("use", func(*tasks.Context) error { return nil }, tasks.Reads(y, z))
			if err := rt.WaitOn(y); err != nil {
				return fmt.Errorf("first step: %w", err)
			}
			return rt.Wait()
		}, nil)
	})
	require.ErrorIs(t, err, unhappy)
	require.ErrorIs(t, err, mpi.ErrRevoked, "what is not printed is still there")
	assert.Equal(t, 1, strings.Count(err.Error(), unhappy.Error()), "%v", err)
	assert.True(t, strings.HasPrefix(err.Error(), "rank 1: first step: weft: WaitOn: what writes to the data has failed or was skipped: task "), "%v", err)
	assert.NotContains(t, err.Error(), "revoked")
	assert.NotContains(t, err.Error(), "rank 0")
}

func TestOwnFailure(t *testing.T) {
	revoked := &mpi.Error{Class: mpi.ErrRevoked, Kind: "recv", Comm: "world"}
	gone := fmt.Errorf("task 3: %w", &mpi.Error{Class: mpi.ErrPeerGone, Kind: "send", Comm: "world"})
	note := joined.Note("2 tasks were skipped")
	own := errors.New("no luck")
	for text, err := range map[string]error{
		"":                              errors.Join(revoked, gone, note),
		"no luck":                       errors.Join(revoked, own, gone),
		"no luck\n2 tasks were skipped": errors.Join(own, revoked, note),
		"wait: no luck":                 fmt.Errorf("wait: %w", errors.Join(gone, own)),
		"wait: task 4: no luck":         fmt.Errorf("wait: %w", errors.Join(gone, fmt.Errorf("task 4: %w", errors.Join(revoked, own)))),
		"no luck, task 3: mpi: send on world, rank 0, peer 0, tag 0: peer is gone": fmt.Errorf("%w, %w", own, gone),
	} {
		short := ownFailure(err)
		if text == "" {
			assert.NoError(t, short)
			continue
		}
		require.EqualError(t, short, text)
		assert.ErrorIs(t, short, own)
	}
	assert.Error(t, ownFailure(several{}), "it wraps nothing, so it is a failure of its own")
	code, err := summarize([][]byte{encodeOutcome(errors.Join(revoked, note)), encodeOutcome(errors.Join(revoked, own, note))})
	assert.Equal(t, 1, code)
	assert.EqualError(t, err, "rank 1: no luck\n2 tasks were skipped")
}

// several is an error that could wrap others.
type several []error

func (s several) Error() string   { return "several errors" }
func (s several) Unwrap() []error { return s }
