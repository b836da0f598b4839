package commthread

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/task"
	"github.com/weft-hpc/weft/mpi"
)

// item is a comm task of the model with its state.
type item struct {
	domain      int
	kind        engine.CallKind // CallNone for a body
	independent bool
	comm, win   int
	peer, tag   int

	e       *entry
	ready   bool
	offered bool
	over    bool // posted, dropped, or ended
}

func (i *item) String() string {
	if i.kind == engine.CallNone {
		return fmt.Sprintf("body (independent %t)", i.independent)
	}
	return fmt.Sprintf("%v comm %d win %d peer %d tag %d", i.kind, i.comm, i.win, i.peer, i.tag)
}

// meets reports whether two operations must be posted in program order, by the rules in
// order.go.
func (i *item) meets(j *item) bool {
	a, b := i.kind, j.kind
	switch {
	case a.Sends() && b.Sends():
		return i.comm == j.comm && i.peer == j.peer && i.tag == j.tag
	case a.Receives() && b.Receives():
		return i.comm == j.comm && (i.peer == j.peer || i.peer < 0 || j.peer < 0) && (i.tag == j.tag || i.tag < 0 || j.tag < 0)
	case a.Collective() && b.Collective():
		return i.comm == j.comm
	}
	return a.OneSided() && b.OneSided() && i.win == j.win
}

// model is the program up to now, with the definition of the items that may be posted.
type model struct{ items []*item }

// may reports whether item n may be posted or started now.
func (m *model) may(n int) bool {
	i := m.items[n]
	if !i.ready || i.over || i.independent {
		return i.independent && i.ready && !i.over
	}
	for _, j := range m.items[:n] {
		if j.domain != i.domain || j.over || j.independent {
			continue
		}
		if i.kind == engine.CallNone || j.kind == engine.CallNone || i.meets(j) {
			return false
		}
	}
	return true
}

// subject is the order under test, with nothing around it.
type subject struct {
	t       *Thread
	domains []*task.Domain
	comms   []*engine.Comm
	wins    []*engine.Win
	spoil   func(*operation, *task.Record) // makes it blind to a rule; may be nil
}

func newSubject() *subject {
	s := &subject{t: &Thread{programOrder: programOrder{domains: map[*task.Domain]*domainOrder{}}}}
	for range 3 {
		s.domains = append(s.domains, new(task.Domain))
		s.comms = append(s.comms, new(engine.Comm))
		s.wins = append(s.wins, new(engine.Win))
	}
	return s
}

func (s *subject) enlist(i *item) {
	o := &operation{}
	o.entry.rec, o.Domain = &o.Record, s.domains[i.domain]
	if i.kind != engine.CallNone {
		o.entry.op = o
		o.call.Kind, o.call.Peer, o.call.Tag = i.kind, i.peer, i.tag
		o.call.Comm = s.comms[i.comm]
		if i.kind.OneSided() {
			o.call.Win = s.wins[i.win]
		}
	} else if i.independent {
		o.Flags |= task.Independent
	}
	if s.spoil != nil {
		s.spoil(o, &o.Record)
	}
	i.e = &o.entry
	s.t.enlist(i.e)
}

// offered returns the items that the thread could take now.
func (s *subject) offered() map[*entry]bool {
	all := map[*entry]bool{}
	for _, ops := range [...][]*operation{s.t.receives.all(), s.t.sendable.all()} {
		for _, o := range ops {
			all[&o.entry] = true
		}
	}
	for _, e := range s.t.startable {
		all[e] = true
	}
	return all
}

// random returns a random comm task of few keys, so that they meet often.
func random(rng *rand.Rand) *item {
	kinds := []engine.CallKind{engine.CallNone, engine.CallSend, engine.CallSend, engine.CallSsend, engine.CallRecv, engine.CallRecv, engine.CallRecv, engine.CallBarrier,
		engine.CallAllreduce, engine.CallPut, engine.CallGet, engine.CallAwaitNotify, engine.CallFence}
	i := &item{domain: rng.IntN(3), kind: kinds[rng.IntN(len(kinds))], comm: rng.IntN(2), peer: rng.IntN(3), tag: rng.IntN(2)}
	i.independent = i.kind == engine.CallNone && rng.IntN(2) == 0
	if i.kind == engine.CallRecv && rng.IntN(3) == 0 {
		i.peer = mpi.AnySource
	}
	if i.kind == engine.CallRecv && rng.IntN(3) == 0 {
		i.tag = mpi.AnyTag
	}
	if i.kind.OneSided() {
		i.win = rng.IntN(2)
		i.comm = i.win // a window has one communicator
	}
	return i
}

// play runs a random program through s, and returns how it differs from the model.
func play(s *subject, rng *rand.Rand, tasks int) error {
	m := &model{}
	var running []*item
	for spawned, open := 0, 0; spawned < tasks || open > 0; {
		switch rng.IntN(4) {
		case 0:
			if spawned < tasks {
				i := random(rng)
				m.items = append(m.items, i)
				s.enlist(i)
				spawned, open = spawned+1, open+1
			}
		case 1:
			if i := pick(rng, m.items, func(i *item) bool { return !i.ready }); i != nil {
				i.ready, i.e.ready = true, true
				if rng.IntN(10) == 0 { // skipped
					i.e.gone, i.over = true, true
					s.t.passed(i.e)
					open--
				} else {
					s.t.offer(i.e)
				}
			}
		case 2:
			i, err := s.take(m, rng)
			if err != nil {
				return err
			}
			if i != nil && i.kind == engine.CallNone {
				running = append(running, i)
			} else if i != nil {
				i.over = true
				s.t.passed(i.e)
				open--
			}
		case 3:
			if n := len(running); n > 0 {
				k := rng.IntN(n)
				i := running[k]
				running = append(running[:k], running[k+1:]...)
				i.over = true
				s.t.passed(i.e)
				open--
			}
		}
		if err := s.compare(m); err != nil {
			return err
		}
	}
	return s.empty()
}

func pick(rng *rand.Rand, items []*item, ok func(*item) bool) *item {
	var some []*item
	for _, i := range items {
		if ok(i) {
			some = append(some, i)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[rng.IntN(len(some))]
}

// take takes any of the offered items.
func (s *subject) take(m *model, rng *rand.Rand) (*item, error) {
	t := s.t
	var e *entry
	switch n := rng.IntN(3); {
	case n == 0 && t.receives.len() > 0:
		e = &t.receives.pop().entry
	case n == 1 && t.sendable.len() > 0:
		e = &t.sendable.pop().entry
	case n == 2 && len(t.startable) > 0:
		k := rng.IntN(len(t.startable))
		e = t.startable[k]
		t.startable = append(t.startable[:k], t.startable[k+1:]...)
	default:
		return nil, nil
	}
	for n, i := range m.items {
		if i.e == e {
			if !m.may(n) {
				return nil, fmt.Errorf("item %d, %v, is posted before its turn", n, i)
			}
			i.offered = true
			return i, nil
		}
	}
	return nil, errors.New("something that was never spawned is offered")
}

// compare checks that the offered items are the ones that may be posted.
func (s *subject) compare(m *model) error {
	offered := s.offered()
	for n, i := range m.items {
		if may := m.may(n) && !i.offered; may != offered[i.e] {
			return fmt.Errorf("item %d, %v: may be posted: %t, offered: %t", n, i, may, offered[i.e])
		}
		if i.ready && !i.over && !i.independent && !i.offered && i.e.rec.Flags&task.Independent == 0 && (i.e.blocker() == nil) != m.may(n) {
			return fmt.Errorf("item %d, %v: blocked by nothing: %t", n, i, i.e.blocker() == nil)
		}
	}
	return nil
}

func (s *subject) empty() error {
	if n := len(s.t.domains); n > 0 {
		return fmt.Errorf("%d domains are left", n)
	}
	for _, d := range s.t.spare.domains {
		if d.waiting.first != nil || d.waiting.last != nil || len(d.bodies)+len(d.queues)+len(d.wide) > 0 {
			return errors.New("an order that is not used holds something")
		}
	}
	for _, q := range s.t.spare.queues {
		if q.first != nil || q.last != nil || q.key != (key{}) {
			return errors.New("a queue that is not used holds something")
		}
	}
	return nil
}

// In every order of readiness, the offered items are the ones that the definition allows,
// and in the end all have been offered.
func TestOrder_against_the_definition(t *testing.T) {
	s := newSubject() // one for all: a reused subject is clean
	for seed := range uint64(400) {
		require.NoError(t, play(s, rand.New(rand.NewPCG(seed, 1)), 5+int(seed%60)), "seed %d", seed)
	}
}

// The comparison sees an order that lacks one of the rules.
func TestOrder_comparison_finds(t *testing.T) {
	for name, spoil := range map[string]func(*operation, *task.Record){
		"no wildcard source": func(o *operation, _ *task.Record) {
			if o.call.Peer == mpi.AnySource {
				o.call.Peer = 77
			}
		},
		"no wildcard tag": func(o *operation, _ *task.Record) {
			if o.call.Tag == mpi.AnyTag {
				o.call.Tag = 77
			}
		},
		"no bodies": func(_ *operation, r *task.Record) { r.Flags |= task.Independent },
		"no fences": func(o *operation, _ *task.Record) {
			if o.call.Kind == engine.CallFence {
				o.call.Kind = engine.CallBarrier
			}
		},
		"fences beside collectives": func(o *operation, _ *task.Record) {
			if o.call.Kind == engine.CallFence {
				o.call.Kind = engine.CallPut
			}
		},
		"no communicators": func(o *operation, _ *task.Record) { o.call.Comm = nil },
		"no tags":          func(o *operation, _ *task.Record) { o.call.Tag = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			found := 0
			for seed := range uint64(50) {
				s := newSubject()
				s.spoil = spoil
				if play(s, rand.New(rand.NewPCG(seed, 1)), 60) != nil {
					found++
				}
			}
			assert.Positive(t, found)
		})
	}
}

// The highest priority goes first, of equal ones the oldest; the memory is used again.
func TestLineup(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l lineup
	var all []*operation
	for range 5000 {
		if rng.IntN(2) == 0 || len(all) == 0 {
			o := &operation{}
			o.Prio = int32(max(rng.IntN(20)-16, 0))
			l.push(o)
			all = append(all, o)
			continue
		}
		best := 0
		for i, o := range all {
			if o.Prio > all[best].Prio {
				best = i
			}
		}
		require.Same(t, all[best], l.pop())
		all = append(all[:best], all[best+1:]...)
		require.Equal(t, len(all), l.len())
		require.Equal(t, all, append([]*operation{}, l.all()...))
	}
	for l.len() > 0 {
		l.pop()
	}
	room := cap(l.ops)
	for range 3 * room {
		l.push(&operation{})
		l.push(&operation{})
		l.pop()
		l.pop()
	}
	assert.Equal(t, room, cap(l.ops))
	assert.Zero(t, l.ranked)
}
