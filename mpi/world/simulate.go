package world

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/recorded"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// simulate runs the ranks on a simulated machine, in virtual time.
func (c *Config) simulate(body func(*mpi.Comm) error) error {
	m, err := cluster.Load(c.Machine)
	if err != nil {
		return usage("-machine: %w", err)
	}
	if c.given("net") {
		return usage("-net %v: machine %s has a network of its own: leave -net out, or change the machine file", c.Net, m.Name)
	}
	perNode, err := m.Place(c.Ranks, 1)
	if err != nil {
		return usage("-ranks %d: %w", c.Ranks, err)
	}
	s := osthread.Simulation{Seed: 1, Nodes: (c.Ranks + perNode - 1) / perNode, Cores: m.Cores, Speeds: m.Speeds, Speed: 1}
	s.Noise.Every, s.Noise.Length = m.NoiseEvery.Duration, m.NoiseLength.Duration
	s.Copy = m.Copy
	s.Waker, s.Sleeper, s.Switch = m.Waker.Duration, m.Sleeper.Duration, m.Switch.Duration
	kind := "computing is timed on this machine"
	if m.Speed != nil {
		s.Speed = *m.Speed
	}
	var lengths *recorded.Lengths
	switch {
	case c.Modelled && c.Bodies != "":
		return usage("-bodies %s: this program has a model of its computing: leave -bodies out", c.Bodies)
	case c.Modelled:
		s.Speed, kind = 0, "nothing is computed"
	case c.Bodies != "":
		if lengths, err = recorded.Read(c.Bodies); err != nil {
			return usage("-bodies: %w", err)
		}
		speed := s.Speed
		s.Body = func(label string, cost time.Duration) time.Duration {
			return time.Duration(speed * float64(lengths.Of(label, cost)))
		}
		s.Speed, kind = 0, "bodies take the lengths in "+c.Bodies
	}
	if s.Speed == 0 {
		s.Spawn, s.Task = m.Spawn.Duration, m.Task.Duration
	}
	if !c.Quiet {
		fmt.Fprintf(os.Stderr, "weft: simulated machine %v; %d ranks, %d on a node; times are virtual, %s\n", m, c.Ranks, perNode, kind)
	}
	opts := []local.Option{local.Network(m.Network.Net), local.Nodes(perNode, m.Inside.Net)}
	switch {
	case c.Eager >= 0:
		opts = append(opts, local.Eager(c.Eager))
	case m.Eager != nil:
		opts = append(opts, local.Eager(*m.Eager))
	}
	var failed error
	if _, err := osthread.Simulate(s, func() { failed = local.Run(c.Ranks, body, opts...) }); err != nil {
		return errors.Join(failed, fmt.Errorf("mpi/world: %w", err))
	}
	if lengths != nil {
		if err := lengths.Unknown(); err != nil && failed == nil {
			return fmt.Errorf("-bodies %s: %w", c.Bodies, err)
		}
	}
	return causes(failed)
}
