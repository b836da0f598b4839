package world

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// machineFile writes a machine file of 2 nodes with 4 cores.
func machineFile(t *testing.T, more string) string {
	name := filepath.Join(t.TempDir(), "m.json")
	text := `{"nodes": 2, "cores": 4, "network": "L=10us,progress=nic"` + more + `}`
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

// Ranks of a node share its cores and its host name; messages between nodes take their time.
func TestMachine(t *testing.T) {
	c := &Config{Ranks: 4, Eager: -1, Machine: machineFile(t, ""), Modelled: true}
	require.NoError(t, c.Run(func(c *mpi.Comm) error {
		host, err := c.SplitShared()
		if err != nil {
			return err
		}
		assert.Equal(t, 2, host.Size())
		assert.Equal(t, c.Rank()%2, host.Rank())
		assert.Equal(t, 4, osthread.NumCores())
		assert.Equal(t, 2, Workers(c))
		for peer, want := range map[int]float64{1: 0, 2: 10e-6} {
			took, err := pingPong(c, peer)
			if err != nil {
				return err
			}
			if c.Rank() == peer {
				assert.InDelta(t, want, took, 1e-9, "to rank %d", peer)
			}
		}
		return nil
	}))
}

// pingPong returns the seconds of a message from rank 0 to peer, on both; 0 elsewhere.
func pingPong(c *mpi.Comm, peer int) (seconds float64, err error) {
	if c.Rank() != 0 && c.Rank() != peer {
		return 0, nil
	}
	other := peer - c.Rank()
	begin := 0.0
	for round := range 6 {
		if round == 2 {
			begin = mpi.Wtime()
		}
		if c.Rank() == round%2*peer {
			err = c.Send(mpi.One(&begin), other, 0)
		} else {
			x := 0.0
			_, err = c.Recv(mpi.One(&x), other, 0)
		}
		if err != nil {
			return 0, err
		}
	}
	return (mpi.Wtime() - begin) / 4, nil
}

// A program that cannot go on ends at once, and says so.
func TestMachine_deadlock(t *testing.T) {
	c := &Config{Ranks: 2, Eager: -1, Machine: "js21"}
	err := c.Run(func(c *mpi.Comm) error {
		_, err := c.Recv(mpi.Of(make([]int, 1)), 1-c.Rank(), 0)
		return err
	})
	assert.ErrorContains(t, err, "deadlock")
}

// So does one in which an event is never completed, although watchdogs look.
func TestMachine_held(t *testing.T) {
	c := &Config{Ranks: 2, Eager: -1, Machine: "js21"}
	err := c.Run(func(c *mpi.Comm) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("holds", func(ctx *tasks.Context) error { ctx.Hold(); return nil })
			return rt.Wait()
		}, dataflow.Workers(1))
	})
	assert.ErrorContains(t, err, "nothing has moved for 10m")
}

// Bodies and waits of any length are no stalls, if somebody computes in virtual time.
func TestMachine_long_bodies(t *testing.T) {
	c := &Config{Ranks: 2, Eager: -1, Machine: "js21", Modelled: true}
	require.NoError(t, c.Run(func(c *mpi.Comm) error {
		return dataflow.Run(func(rt *dataflow.Runtime) error {
			rt.Spawn("computes", func(ctx *tasks.Context) error { osthread.Charge(time.Hour); return nil }, tasks.OnWorker(1))
			return rt.Wait()
		}, dataflow.Workers(2), dataflow.Stall(time.Second, true))
	}))
}

func TestMachine_usage(t *testing.T) {
	for name, c := range map[string]*Config{
		"no such preset":    {Ranks: 2, Machine: "moon"},
		"no such file":      {Ranks: 2, Machine: "no/where.json"},
		`"speed" is -1`:     {Ranks: 2, Machine: machineFile(t, `, "speed": -1`)},
		"do not fit":        {Ranks: 9, Machine: machineFile(t, "")},
		"there is no field": {Ranks: 2, Machine: machineFile(t, `, "nodez": 1`)},
		"leave -net out":    given(t, "-machine", "js21", "-net", "gige"),
		"it is from 1 to":   {Ranks: 0, Machine: "js21"},
	} {
		err := c.Run(func(*mpi.Comm) error { return nil })
		require.ErrorIs(t, err, ErrUsage, name)
		assert.ErrorContains(t, err, name)
	}
}

func given(t *testing.T, args ...string) *Config {
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	c := Flags(fs)
	require.NoError(t, fs.Parse(args))
	return c
}

// Equal errors of ranks are one.
func TestFold(t *testing.T) {
	one, two := errors.New("no rows"), errors.New("no columns")
	var all []error
	for r := range 4 {
		all = append(all, fmt.Errorf("rank %d: %w", r, one))
	}
	all = append(all, fmt.Errorf("rank 4: %w", two))
	text := errors.Join(fold(all)...).Error()
	assert.Equal(t, "rank 0: no rows (and 3 other ranks)\nrank 4: no columns", text)
	assert.ErrorIs(t, errors.Join(fold(all)...), two)
}

// failing runs a chain of four tasks whose first one fails.
func failing(c *Config) (took float64, err error) {
	err = c.Run(func(c *mpi.Comm) error {
		begin := mpi.Wtime()
		_ = dataflow.Run(func(rt *dataflow.Runtime) error {
			x := 0
			for range 4 {
				rt.Spawn("body", func(*tasks.Context) error { return errors.New("fails") }, tasks.Updates(&x))
			}
			return rt.Wait()
		}, dataflow.Workers(1))
		took = mpi.Wtime() - begin
		return nil
	})
	return took, err
}

// Bodies take the lengths of a log, multiplied by the machine's speed, and the runtime the time
// that the machine file says; so equal runs take equal times.
func TestBodies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.log")
	const ms = uint64(time.Millisecond)
	require.NoError(t, trace.WriteFile(file, &dataflow.Log{
		Labels: []dataflow.Label{{Name: "body"}},
		Workers: []dataflow.WorkerLog{{Name: "worker 0", Events: []dataflow.Event{
			{Kind: dataflow.EventSpawn, Task: 1},
			{Kind: dataflow.EventStart, Task: 1},
			{Kind: dataflow.EventEnd, Task: 1, Time: time.Duration(3 * ms)},
		}}},
	}))
	run := func(c *Config, label string) (took float64, err error) {
		err = c.Run(func(c *mpi.Comm) error {
			begin := mpi.Wtime()
			err := dataflow.Run(func(rt *dataflow.Runtime) error {
				for range 4 {
					rt.Spawn(label, func(*tasks.Context) error { return nil })
				}
				return rt.Wait()
			}, dataflow.Workers(1))
			took = mpi.Wtime() - begin
			return err
		})
		return took, err
	}
	machine := machineFile(t, `, "speed": 2, "spawn": "10us", "task": "20us"`)
	for range 2 {
		took, err := run(&Config{Ranks: 2, Eager: -1, Machine: machine, Bodies: file}, "body")
		require.NoError(t, err)
		assert.InDelta(t, 4*(2*3e-3+30e-6), took, 1e-9)
	}
	took, err := failing(&Config{Ranks: 1, Eager: -1, Machine: machine, Bodies: file})
	require.NoError(t, err)
	assert.InDelta(t, 2*3e-3+20e-6+4*10e-6, took, 1e-9, "skipped tasks take no time")
	_, err = run(&Config{Ranks: 2, Eager: -1, Machine: machine, Bodies: file}, "other")
	assert.ErrorContains(t, err, `without a recorded length, which took no time: ["other"]; the log has "body"`)
	for c, want := range map[*Config]string{
		{Ranks: 1, Eager: -1, Bodies: file}:                                   "add -machine",
		{Ranks: 1, Eager: -1, Machine: machine, Bodies: "none.log"}:           "none.log",
		{Ranks: 1, Eager: -1, Machine: machine, Bodies: machine}:              "is no log",
		{Ranks: 1, Eager: -1, Machine: machine, Bodies: file, Modelled: true}: "leave -bodies out",
	} {
		_, err := run(c, "body")
		assert.ErrorIs(t, err, ErrUsage)
		assert.ErrorContains(t, err, want)
	}
}
