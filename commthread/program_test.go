package commthread_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// A program is a list of steps that all ranks know. Every rank spawns its part of each
// of them; the oracle carries them out one after the other on the memory of all.
type step struct {
	kind stepKind
	a, b int // ranks
	i, j int // buffers, different ones
	n    int // number of the step: a tag that no other has
	slot int // of a window
}

type stepKind int

const (
	compute stepKind = iota
	message          // Send and Recv, few tags
	synchronous
	wildSource
	wildTag // on its own communicator
	bcast
	allreduce
	scan
	allgather
	gather
	scatter
	reduceScatter
	alltoall
	barrier
	bodies      // blocking calls on the thread
	independent // the same, declared independent
	onWorker    // blocking calls in a body on a worker
	direct      // by the submitting goroutine
	children    // comm tasks spawned by a body on a worker
	commChildren
	putNotify
	putFence
	stepKinds
)

const (
	buffers = 4
	slots   = 12
)

// program is one random program.
type program struct {
	ranks, length int
	steps         []step
}

func newProgram(seed uint64, ranks int) *program {
	rng := rand.New(rand.NewPCG(seed, uint64(ranks)))
	p := &program{ranks: ranks, length: 24}
	if rng.IntN(3) == 0 {
		p.length = 2400 // above the eager limit
	}
	slot := 0
	for n := range 10 + rng.IntN(50) {
		s := step{kind: stepKind(rng.IntN(int(stepKinds))), a: rng.IntN(ranks), b: rng.IntN(ranks), i: rng.IntN(buffers), n: n}
		s.j = (s.i + 1 + rng.IntN(buffers-1)) % buffers
		switch s.kind {
		case bodies, independent, onWorker, direct, children, commChildren:
			if ranks == 1 {
				s.kind = compute
			}
			s.b = (s.a + 1 + rng.IntN(max(ranks-1, 1))) % ranks
		case putNotify, putFence:
			if s.slot = slot; slot == slots {
				s.kind = compute
			} else {
				slot++
			}
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// memory is the memory of one rank.
type memory struct {
	x      [buffers][]int64
	window []int64
}

func (p *program) memory(rank int) *memory {
	m := &memory{window: make([]int64, slots*p.length)}
	for i := range m.x {
		m.x[i] = make([]int64, p.length)
		for k := range m.x[i] {
			m.x[i][k] = int64(1000*rank + 100*i + k)
		}
	}
	return m
}

func (p *program) part(m *memory, slot int) []int64 {
	return m.window[slot*p.length : (slot+1)*p.length : (slot+1)*p.length]
}

// mix is the computation on x.
func mix(x, y []int64) {
	for k := range x {
		x[k] = 31*x[k] + y[k] + 7
	}
}

// oracle carries out the whole program.
func (p *program) oracle() []*memory {
	all := make([]*memory, p.ranks)
	for r := range all {
		all[r] = p.memory(r)
	}
	for _, s := range p.steps {
		p.carryOut(s, all)
	}
	return all
}

func (p *program) carryOut(s step, all []*memory) {
	a, b, n := all[s.a], all[s.b], p.length/p.ranks
	switch s.kind {
	case compute:
		mix(a.x[s.i], a.x[s.j])
	case message, synchronous, wildSource, wildTag, children, commChildren:
		copy(b.x[s.j], a.x[s.i])
	case bcast:
		for _, m := range all {
			copy(m.x[s.i], a.x[s.i])
		}
	case allreduce, scan, reduceScatter:
		sum := make([]int64, p.length)
		for r, m := range all {
			for k := range sum {
				sum[k] += m.x[s.i][k]
			}
			if s.kind == scan {
				copy(m.x[s.j], sum)
			} else if r == p.ranks-1 {
				for r, m := range all {
					if s.kind == allreduce {
						copy(m.x[s.j], sum)
					} else {
						copy(m.x[s.j][:n], sum[r*n:])
					}
				}
			}
		}
	case allgather, gather, scatter, alltoall:
		for to, m := range all {
			for from, f := range all {
				switch {
				case s.kind == allgather || s.kind == gather && to == s.a:
					copy(m.x[s.j][from*n:(from+1)*n], f.x[s.i])
				case s.kind == scatter && from == s.a:
					copy(m.x[s.j][:n], f.x[s.i][to*n:])
				case s.kind == alltoall:
					copy(m.x[s.j][from*n:(from+1)*n], f.x[s.i][to*n:])
				}
			}
		}
	case bodies, independent, onWorker, direct:
		copy(a.x[s.j], b.x[s.i])
		copy(b.x[s.j], a.x[s.i])
	case putNotify, putFence:
		copy(p.part(b, s.slot), a.x[s.i])
		mix(b.x[s.j], p.part(b, s.slot))
	}
}

// run is the program on one rank.
func (p *program) run(r rank) (*memory, error) {
	m := p.memory(r.Rank())
	win, err := r.NewWin(mpi.Of(m.window))
	if err != nil {
		return nil, err
	}
	other, err := r.Dup()
	if err != nil {
		return nil, err
	}
	for _, s := range p.steps {
		switch {
		case s.kind < bcast:
			p.messages(r, other, m, s)
		case s.kind < bodies:
			p.collectives(r, m, s)
		case s.kind < children:
			err = p.blocking(r, m, s)
		case s.kind < putNotify:
			p.nested(r, m, s)
		default:
			p.oneSided(r, m, win, s)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.rt.Wait(); err != nil {
		return nil, err
	}
	if err := win.Free(); err != nil {
		return nil, err
	}
	return m, other.Free()
}

func (p *program) messages(r rank, other *mpi.Comm, m *memory, s step) {
	from, to := mpi.Of(m.x[s.i]), mpi.Of(m.x[s.j])
	if s.kind == compute {
		if r.Rank() == s.a {
			after(r.rt, m.x[s.i], func() error { mix(m.x[s.i], m.x[s.j]); return nil }, tasks.Reads(m.x[s.j]))
		}
		return
	}
	if r.Rank() == s.a {
		switch s.kind {
		case message:
			r.ct.Send(r.rt, r.Comm, from, s.b, s.n%3)
		case synchronous:
			r.ct.Ssend(r.rt, r.Comm, from, s.b, s.n%3, tasks.Priority(s.n%2))
		case wildSource:
			r.ct.Send(r.rt, r.Comm, from, s.b, 1000+s.n)
		case wildTag:
			r.ct.Send(r.rt, other, from, s.b, 5)
		}
	}
	if r.Rank() == s.b {
		st := new(mpi.Status)
		switch s.kind {
		case message, synchronous:
			r.ct.Recv(r.rt, r.Comm, to, s.a, s.n%3, tasks.Priority(s.n%2))
		case wildSource:
			r.ct.RecvStatus(r.rt, r.Comm, st, to, mpi.AnySource, 1000+s.n)
		case wildTag:
			r.ct.RecvStatus(r.rt, other, st, to, s.a, []int{mpi.AnyTag, 5}[s.n%2])
		}
		if s.kind >= wildSource {
			r.rt.Spawn("check status", func(*tasks.Context) error {
				if st.Source != s.a || st.Bytes != 8*p.length {
					return fmt.Errorf("status %+v of a message from rank %d", *st, s.a)
				}
				return nil
			}, tasks.Reads(st))
		}
	}
}

func (p *program) collectives(r rank, m *memory, s step) {
	x, y, n := mpi.Of(m.x[s.i]), mpi.Of(m.x[s.j]), p.length/p.ranks
	switch s.kind {
	case bcast:
		r.ct.Bcast(r.rt, r.Comm, x, s.a)
	case allreduce:
		r.ct.Allreduce(r.rt, r.Comm, x, y, mpi.Sum)
	case scan:
		r.ct.Scan(r.rt, r.Comm, x, y, mpi.Sum)
	case allgather:
		r.ct.Allgather(r.rt, r.Comm, x.Part(0, n), y)
	case gather:
		if r.Rank() != s.a {
			y = mpi.Buffer{}
		}
		r.ct.Gather(r.rt, r.Comm, x.Part(0, n), y, s.a)
	case scatter:
		if r.Rank() != s.a {
			x = mpi.Buffer{}
		}
		r.ct.Scatter(r.rt, r.Comm, x, y.Part(0, n), s.a)
	case reduceScatter:
		counts := make([]int, p.ranks)
		for i := range counts {
			counts[i] = n
		}
		r.ct.ReduceScatter(r.rt, r.Comm, x, y.Part(0, n), counts, mpi.Sum)
	case alltoall:
		r.ct.Alltoall(r.rt, r.Comm, x, y)
	case barrier:
		r.ct.Barrier(r.rt, r.Comm)
	}
}

// blocking swaps buffers between two ranks with a blocking call.
func (p *program) blocking(r rank, m *memory, s step) error {
	peer := s.b
	switch r.Rank() {
	case s.a:
	case s.b:
		peer = s.a
	default:
		return nil
	}
	swap := func() error {
		_, err := r.Sendrecv(mpi.Of(m.x[s.i]), peer, 1000+s.n, mpi.Of(m.x[s.j]), peer, 1000+s.n)
		return err
	}
	cl := []tasks.Clause{tasks.Reads(m.x[s.i]), tasks.Writes(m.x[s.j])}
	switch s.kind {
	case direct:
		if err := r.rt.Wait(); err != nil {
			return err
		}
		return swap()
	case bodies:
		cl = append(cl, tasks.OnComm)
	case onWorker:
		if !r.alone { // where bodies run on top of each other, these may keep each other waiting
			break
		}
		fallthrough
	case independent:
		cl = append(cl, tasks.OnComm, tasks.Independent)
	}
	r.rt.Spawn("swap", func(*tasks.Context) error { return swap() }, cl...)
	return nil
}

// nested sends and receives with children of a task, on a worker or on the thread. The
// one on a worker does not wait for its children: meanwhile the worker would run another
// body on top of it, which may block until it goes on.
func (p *program) nested(r rank, m *memory, s step) {
	var cl []tasks.Clause
	onThread := s.kind == commChildren
	if onThread {
		cl = []tasks.Clause{tasks.OnComm, tasks.Independent}
	}
	if r.Rank() == s.a {
		r.rt.Spawn("parent of send", func(ctx *tasks.Context) error {
			r.ct.Send(ctx, r.Comm, mpi.Of(m.x[s.i]), s.b, 1000+s.n)
			if onThread {
				return ctx.Wait()
			}
			return nil
		}, append(cl, tasks.Reads(m.x[s.i]))...)
	}
	if r.Rank() == s.b {
		r.rt.Spawn("parent of receive", func(ctx *tasks.Context) error {
			x, half := m.x[s.j], p.length/2
			got := make([]int64, p.length)
			r.ct.Recv(ctx, r.Comm, mpi.Of(got), s.a, 1000+s.n)
			ctx.Spawn("copy", func(*tasks.Context) error { copy(x[:half], got); return nil }, tasks.Reads(got), tasks.Writes(x[:half]))
			if !onThread {
				ctx.Spawn("copy", func(*tasks.Context) error { copy(x[half:], got[half:]); return nil }, tasks.Reads(got), tasks.Writes(x[half:]))
				return nil
			}
			if err := ctx.WaitOn(got); err != nil {
				return err
			}
			copy(x[half:], got[half:])
			return nil
		}, append(cl, tasks.Writes(m.x[s.j]))...)
	}
}

func (p *program) oneSided(r rank, m *memory, win *mpi.Win, s step) {
	part := p.part(m, s.slot)
	if s.kind == putNotify {
		if r.Rank() == s.a {
			r.ct.PutNotify(r.rt, win, mpi.Of(m.x[s.i]), s.b, s.slot*p.length, s.slot)
		}
		if r.Rank() == s.b {
			r.ct.AwaitNotify(r.rt, win, mpi.Of(part), s.slot, 1)
		}
	} else {
		if r.Rank() == s.a {
			r.ct.Put(r.rt, win, mpi.Of(m.x[s.i]), s.b, s.slot*p.length)
		}
		r.ct.Fence(r.rt, win)
	}
	if r.Rank() == s.b {
		after(r.rt, m.x[s.j], func() error { mix(m.x[s.j], part); return nil }, tasks.Reads(part))
	}
}

// difference compares the memory of a rank with the oracle's.
func (m *memory) difference(want *memory) error {
	for i := range m.x {
		for k, x := range m.x[i] {
			if x != want.x[i][k] {
				return fmt.Errorf("element %d of buffer %d is %d, and should be %d", k, i, x, want.x[i][k])
			}
		}
	}
	return nil
}

// The same bytes as one rank after the other, step by step, in all modes.
func TestProgram_random(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		for seed := range uint64(12) {
			n := 1 + int(seed%4)
			p := newProgram(seed, n)
			want := p.oracle()
			succeed(t, n, s, func(r rank) error {
				m, err := p.run(r)
				if err == nil {
					err = m.difference(want[r.Rank()])
				}
				if err != nil {
					return fmt.Errorf("seed %d on rank %d of %d: %w", seed, r.Rank(), n, err)
				}
				return nil
			})
		}
	})
}

// The comparison sees one wrong element.
func TestProgram_comparison_finds(t *testing.T) {
	p := newProgram(1, 2)
	want, got := p.oracle(), p.oracle()
	if err := got[1].difference(want[1]); err != nil {
		t.Fatal(err)
	}
	got[1].x[2][3]++
	if got[1].difference(want[1]) == nil {
		t.Fatal("a wrong element was not seen")
	}
}
