package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// postClock is a tool below the communication thread: it notes when the engine is
// given the message that is being timed.
type postClock struct {
	engine.Engine
	at atomic.Int64 // osthread.Nanotime of the post; 0 until then
}

// Post is part of engine.Engine.
func (p *postClock) Post(calls []*engine.Call) {
	for _, k := range calls {
		if k.Kind == engine.CallSend && k.Tag == tagData {
			p.at.Store(osthread.Nanotime())
			break
		}
	}
	p.Engine.Post(calls)
}

// The pauses between two tasks, in ns: shorter than a communication thread on a core of
// its own spins, and longer than any spins.
const (
	whileAwake  = 20_000
	untilAsleep = 2_000_000
)

// asleepShare is how many times fewer tasks are spawned to a sleeping thread.
const asleepShare = 10

// spawnToPost measures the runtime's share of a comm task on rank 0: from the call that
// spawns a send to the engine's Post, by a message to itself. The other ranks wait.
func (r *rank) spawnToPost(size int, l loops) (f figures, err error) {
	color := mpi.Undefined
	if r.Rank() == 0 {
		color = 0
	}
	self, err := r.Split(color, 0)
	if err != nil || self == nil {
		return f, err
	}
	watch := &postClock{}
	restore := (*engine.Comm)(self).Intercept(func(next engine.Engine) engine.Engine {
		watch.Engine = next
		return watch
	})
	defer func() { err = errors.Join(err, restore(), self.Free()) }()
	err = commthread.Run(self, func(rt *dataflow.Runtime, ct *commthread.Thread) error {
		s := spawner{rank: r, self: self, rt: rt, ct: ct, watch: watch, size: size}
		awake, err := s.median(l, whileAwake)
		if err != nil {
			return err
		}
		asleep, err := s.median(loops{max(1, l.count/asleepShare), min(l.skip, 10)}, untilAsleep)
		f = figures{
			cells: []float64{awake, asleep},
			pairs: []string{report.Decimal("us_spawn_to_post_awake", awake), report.Decimal("us_spawn_to_post_asleep", asleep)},
		}
		return err
	}, []dataflow.Option{dataflow.Workers(1)}, commthread.Place(r.cfg.place))
	if err != nil {
		return f, err
	}
	wake, err := futexWake(max(1, l.count/asleepShare), untilAsleep)
	if err != nil {
		return f, err
	}
	f.cells = append(f.cells, wake)
	f.pairs = append(f.pairs, report.Decimal("us_futex_wake", wake), report.Text("place", r.cfg.place.String()))
	return f, r.check(r.recv[:size], 0, 0)
}

// spawner spawns comm tasks one at a time.
type spawner struct {
	*rank
	self  *mpi.Comm
	rt    *dataflow.Runtime
	ct    *commthread.Thread
	watch *postClock
	size  int
}

// median returns the median us from spawn to post, with a pause before each spawn.
func (s *spawner) median(l loops, pause int64) (float64, error) {
	var took []float64
	for i := range l.skip + l.count {
		us, err := s.once(pause)
		if err != nil {
			return 0, err
		}
		if i >= l.skip {
			took = append(took, us)
		}
		if i%100 == 0 {
			s.out.say("spawn: task %d of %d", i, l.skip+l.count)
		}
	}
	return report.Median(took), nil
}

// once sends one message from the rank to itself. The submitter stays out of the
// runtime until the message has been posted, and keeps its core.
func (s *spawner) once(pause int64) (us float64, err error) {
	s.ct.Recv(s.rt, s.self, mpi.Of(s.recv[:s.size]), 0, tagData)
	for until := osthread.Nanotime() + pause; osthread.Nanotime() < until; {
		osthread.Relax()
	}
	s.watch.at.Store(0)
	begin := osthread.Nanotime()
	s.ct.Send(s.rt, s.self, mpi.Of(s.send[:s.size]), 0, tagData)
	for s.watch.at.Load() == 0 {
		if osthread.Nanotime()-begin > int64(10*time.Second) {
			return 0, fmt.Errorf("a comm task was not posted within 10 s")
		}
		osthread.Relax()
	}
	return float64(s.watch.at.Load()-begin) / 1e3, s.rt.Wait()
}
