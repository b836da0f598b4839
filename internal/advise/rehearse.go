package advise

import (
	"slices"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Limits of a rehearsal.
const (
	fewestPasses = 8    // of a block
	mostPasses   = 400  //
	blockTime    = 5e-3 // seconds that a block takes about: what interrupts one spoils no other
	longestPause = 2e-3 // seconds: longer computation between occurrences is cut to it
)

// rehearse measures one part.
func (s *session) rehearse(run *Run, p *part) error {
	me := s.c.Rank()
	mine := newScene(s.c, s.rate, &p.Patterns[me], p.Gaps[me], p.Batches[me])
	var times [2][]float64
	for block := range 2 * p.Pairs {
		form := (block + 1) / 2 % 2 // ABBA
		t, err := s.block(mine, form, p)
		if err != nil {
			return err
		}
		times[form] = append(times[form], t)
	}
	sums := slices.Concat(times[0], times[1])
	if err := s.c.Allreduce(mpi.InPlace, mpi.Of(sums), mpi.Sum); err != nil {
		return err
	}
	if run == nil {
		return nil
	}
	takes := 0
	for _, x := range p.Patterns {
		if len(x.Requests) > 0 {
			takes++
		}
	}
	for i := range sums {
		sums[i] /= float64(max(takes, 1))
	}
	for _, i := range p.Chains {
		run.Chains[i].tried(p, &Trial{Written: sums[:p.Pairs:p.Pairs], Fixed: sums[p.Pairs:], Passes: p.Passes})
	}
	return nil
}

// block passes through the chain several times and returns the mean time of a pass without
// the pause; 0 on ranks that have no part in it. The first pass is not timed: the time runs
// from its end to the end of the last pass, at the same phase of an exchange.
func (s *session) block(mine *scene, form int, p *part) (float64, error) {
	if err := s.c.Barrier(); err != nil {
		return 0, err
	}
	if len(mine.calls) == 0 {
		return 0, nil
	}
	var start int64
	for pass := range p.Passes + 1 {
		var err error
		if form == 0 {
			err = mine.written()
		} else {
			err = mine.fixed()
		}
		if err != nil {
			return 0, err
		}
		s.rate.spend(p.Pause)
		if pass == 0 {
			start = osthread.Nanotime()
		}
	}
	return seconds(osthread.Nanotime()-start)/float64(p.Passes) - p.Pause, nil
}

// scene is a pattern with buffers.
type scene struct {
	c     *mpi.Comm
	rate  rate
	calls []prop
}

// prop is a call of it.
type prop struct {
	gap        float64 // seconds before it
	batch      int     // that it belongs to
	send, recv *Message
	out, in    mpi.Buffer
}

func newScene(c *mpi.Comm, r rate, p *Pattern, gaps []float64, batches []int) *scene {
	s := &scene{c: c, rate: r}
	at := -1
	for i := range p.Requests {
		m := &p.Requests[i]
		if m.Call != at || len(s.calls) == 0 {
			at = m.Call
			s.calls = append(s.calls, prop{batch: batches[m.Call]})
			if len(s.calls) > 1 {
				s.calls[len(s.calls)-1].gap = gaps[m.Call]
			}
		}
		k := &s.calls[len(s.calls)-1]
		memory := make([]byte, m.span())
		for i := range memory { // pages of their own, as the program's
			memory[i] = byte(i)
		}
		b := mpi.Strided(memory, m.Blocks, m.Block, m.Stride)
		if m.Recv {
			k.recv, k.in = m, b
		} else {
			k.send, k.out = m, b
		}
	}
	return s
}

// written makes the calls as the program made them.
func (s *scene) written() error {
	for i := range s.calls {
		k := &s.calls[i]
		if i > 0 {
			s.rate.spend(k.gap)
		}
		if err := k.written(s.c); err != nil {
			return err
		}
	}
	return nil
}

// fixed makes the calls as after the rewrite.
func (s *scene) fixed() error {
	b := &mpi.Batch{}
	for i := range s.calls {
		k := &s.calls[i]
		if i > 0 && k.batch != s.calls[i-1].batch {
			if err := b.Wait(); err != nil {
				return err
			}
			b = &mpi.Batch{}
		}
		if i > 0 {
			s.rate.spend(k.gap)
		}
		k.start(s.c, b)
	}
	return b.Wait()
}

// written makes the call, and waits.
func (k *prop) written(c *mpi.Comm) (err error) {
	switch {
	case k.send != nil && k.recv != nil:
		_, err = c.Sendrecv(k.out, k.send.Peer, k.send.Tag, k.in, k.recv.Peer, k.recv.Tag)
	case k.recv != nil:
		_, err = c.Recv(k.in, k.recv.Peer, k.recv.Tag)
	case k.send.Sync:
		err = c.Ssend(k.out, k.send.Peer, k.send.Tag)
	default:
		err = c.Send(k.out, k.send.Peer, k.send.Tag)
	}
	return err
}

// start starts the call with others.
func (k *prop) start(c *mpi.Comm, b *mpi.Batch) {
	switch {
	case k.send != nil && k.recv != nil:
		b.Sendrecv(c, k.out, k.send.Peer, k.send.Tag, k.in, k.recv.Peer, k.recv.Tag)
	case k.recv != nil:
		b.Recv(c, k.in, k.recv.Peer, k.recv.Tag)
	case k.send.Sync:
		b.Ssend(c, k.out, k.send.Peer, k.send.Tag)
	default:
		b.Send(c, k.out, k.send.Peer, k.send.Tag)
	}
}

// divide sets the number of passes and of pairs of blocks, each of which takes about some seconds,
// if a pass takes once.
func (p *part) divide(once, block float64) {
	once = max(once, 1e-7)
	p.Passes = min(max(int(block/once), fewestPasses), mostPasses)
	p.share(once * float64(p.Passes+1))
}
