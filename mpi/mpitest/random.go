package mpitest

import (
	"fmt"
	"math/rand/v2"

	"github.com/weft-hpc/weft/mpi"
)

// randomCases: random programs of messages and collective operations, blocking and not, on
// two communicators. All ranks derive the same program from a seed.
func randomCases() []Case {
	return []Case{one("random/programs", randomPrograms)}
}

// A program is a list of steps, which every rank runs in order. A step waits only for the
// same or earlier steps of other ranks. So no program deadlocks: the waiting rank at the
// earliest step waits for a rank that runs.
//
// The match of each message is unique. Between two ranks, the messages of one communicator
// and their receives start in the same order, and each receive fits its message. By
// induction no earlier receive is open when a message is matched. A receive from any source
// has a tag of its own, which fits one message only.
type step struct {
	number int
	comm   int // of the two
	n      int // elements
	kind   stepKind
	form   int // of the operation or the send: blocking or not
	recv   int // form of the receive
	src    int // or root
	dst    int
	tag    int
	from   layout
	to     layout
}

type stepKind uint8

const (
	stepMessage stepKind = iota
	stepBcast
	stepAllreduce
	stepAllgather
	stepAlltoall
	stepReduce
	stepScan
	stepBarrier
	stepKinds
)

// Forms of a receive.
const (
	recvBlocking = iota
	recvLater
	recvAnyTag
	recvAnySource
	recvMatched
	recvForms
)

func randomProgram(dice *rand.Rand, ranks, steps int) []step {
	sizes := []int{0, 4, 4, 8, 40, 400, 1200, 20_000}
	program := make([]step, steps)
	for i := range program {
		s := &program[i]
		*s = step{number: i, comm: dice.IntN(2), n: sizes[dice.IntN(len(sizes))], form: dice.IntN(4), recv: dice.IntN(int(recvForms)),
			src: dice.IntN(ranks), dst: dice.IntN(ranks), tag: dice.IntN(3),
			from: layouts[dice.IntN(len(layouts))], to: layouts[dice.IntN(len(layouts))]}
		if s.recv == recvAnySource {
			s.tag = 100 + i
		}
		if dice.IntN(3) == 0 {
			s.kind = stepKind(1 + dice.IntN(int(stepKinds)-1))
			s.n = min(s.n, 1200)
		}
	}
	return program
}

func (s *step) String() string {
	return fmt.Sprintf("step %+v", *s)
}

// pending is an operation under way, with the check of its result.
type pending struct {
	q     *mpi.Request
	check func()
}

// player runs a program on one rank.
type player struct {
	*rank
	comms [2]*rank
	seed  int
	now   *step
	open  []pending
	dice  *rand.Rand // different on every rank: chooses the requests to wait for
}

func randomPrograms(r *rank) {
	programs, steps := 6, 60
	if r.long {
		programs, steps = 60, 200
	}
	comms := [2]*rank{r, r.keep(r.Dup())}
	for i := range programs {
		p := &player{rank: r, comms: comms, seed: i, dice: r.dice(i, 1, r.Rank())}
		for _, s := range randomProgram(r.dice(i), r.Size(), steps) {
			r.at("seed %d, program %d, %v", r.state.seed, i, &s)
			p.now = &s
			p.play()
			p.completeSome()
		}
		for len(p.open) > 0 {
			p.settleOne(p.dice.IntN(len(p.open)))
		}
		r.must(r.Barrier()) // no rank begins the next program before this check
		for _, c := range comms {
			_, found, err := c.Iprobe(mpi.AnySource, mpi.AnyTag)
			r.must(err)
			r.equal("a message is left over", found, false)
		}
		r.must(r.Barrier())
	}
}

// data returns the contribution of a rank to the present step.
func (p *player) data(rank, n int) []int64 { return words(seedOf(p.seed, p.now.number, rank), n) }

// later adds an operation under way, or waits for it at once if it is blocking.
func (p *player) later(blocking bool, q *mpi.Request, check func()) {
	if blocking {
		p.must(wait(q))
		check()
		return
	}
	p.open = append(p.open, pending{q, check})
}

func (p *player) settleOne(i int) {
	o := p.open[i]
	p.open = append(p.open[:i], p.open[i+1:]...)
	p.must(wait(o.q))
	o.check()
}

// completeSome completes some of the pending operations, by a random one of the methods.
func (p *player) completeSome() {
	if len(p.open) == 0 {
		return
	}
	switch p.dice.IntN(12) {
	case 0:
		p.settleOne(p.dice.IntN(len(p.open)))
	case 1, 2:
		if i := p.dice.IntN(len(p.open)); p.tested(p.open[i].q) {
			p.settleOne(i)
		}
	case 3:
		var q []*mpi.Request
		for _, o := range p.open {
			q = append(q, o.q)
		}
		i, _, err := mpi.Waitany(q...)
		p.must(err)
		p.settleOne(i)
	}
}

func (p *player) tested(q *mpi.Request) bool {
	done, _, err := q.Test()
	p.must(err)
	return done
}

func (p *player) play() {
	if p.now.kind == stepMessage {
		p.send()
		p.receive()
		return
	}
	p.collective()
}

func (p *player) send() {
	s, c := p.now, p.comms[p.now.comm]
	if s.src != p.Rank() {
		return
	}
	x, b := s.from.store(p.data(s.src, s.n))
	intact := func() { s.from.check(p.rank, "send buffer, unchanged", x, words(seedOf(p.seed, s.number, s.src), s.n)) }
	if s.form >= 2 {
		p.later(s.form == 2 && s.dst != s.src, c.Issend(b, s.dst, s.tag), intact)
		return
	}
	if s.form == 0 && s.dst != s.src {
		p.must(c.Send(b, s.dst, s.tag))
		intact()
		return
	}
	p.later(false, c.Isend(b, s.dst, s.tag), intact)
}

func (p *player) receive() {
	s, c := p.now, p.comms[p.now.comm]
	if s.dst != p.Rank() {
		return
	}
	x, b := s.to.blank(s.n)
	right := func() { s.to.check(p.rank, s.String(), x, words(seedOf(p.seed, s.number, s.src), s.n)) }
	switch s.recv {
	case recvBlocking:
		c.recv(b, s.src, s.tag)
		right()
	case recvLater:
		p.later(false, c.Irecv(b, s.src, s.tag), right)
	case recvAnyTag:
		p.later(false, c.Irecv(b, s.src, mpi.AnyTag), right)
	case recvAnySource:
		q := c.Irecv(b, mpi.AnySource, s.tag)
		p.later(false, q, func() {
			st, err := q.Wait()
			p.must(err)
			p.status(st, s.src, s.tag, 8*s.n)
			right()
		})
	case recvMatched:
		m, err := c.Mprobe(s.src, s.tag)
		p.must(err)
		p.status(m.Status, s.src, s.tag, 8*s.n)
		p.later(s.form%2 == 0, m.Irecv(b), right)
	}
}

func (p *player) collective() {
	s, c, blocking := p.now, p.comms[p.now.comm], p.now.form%2 == 0
	mine, size := p.data(p.Rank(), s.n), p.Size()
	sum := func(ranks int) []int64 {
		all := make([]int64, s.n)
		for rank := range ranks {
			for i, v := range words(seedOf(p.seed, s.number, rank), s.n) {
				all[i] += v
			}
		}
		return all
	}
	is := func(x, want []int64) func() { return func() { same(p.rank, s.String(), x, want) } }
	switch s.kind {
	case stepBcast:
		x, b := s.to.blank(s.n)
		if p.Rank() == s.src {
			x, b = s.to.store(mine)
		}
		root := p.data(s.src, s.n)
		p.later(blocking, c.Ibcast(b, s.src), func() { s.to.check(p.rank, s.String(), x, root) })
	case stepAllreduce:
		p.later(blocking, c.Iallreduce(mpi.InPlace, mpi.Of(mine), mpi.Sum), is(mine, sum(size)))
	case stepReduce:
		x, want := blank(s.n), blank(s.n)
		if p.Rank() == s.src {
			want = sum(size)
		}
		p.later(blocking, c.Ireduce(mpi.Of(mine), mpi.Of(x), mpi.Sum, s.src), is(x, want))
	case stepScan:
		x := blank(s.n)
		p.later(blocking, c.Iscan(mpi.Of(mine), mpi.Of(x), mpi.Sum), is(x, sum(p.Rank()+1)))
	case stepAllgather:
		x, want := blank(s.n*size), []int64{}
		for rank := range size {
			want = append(want, p.data(rank, s.n)...)
		}
		p.later(blocking, c.Iallgather(mpi.Of(mine), mpi.Of(x)), is(x, want))
	case stepAlltoall:
		x, want := blank(s.n*size), []int64{}
		for rank := range size {
			want = append(want, p.data(rank, s.n*size)[s.n*p.Rank():s.n*(p.Rank()+1)]...)
		}
		p.later(blocking, c.Ialltoall(mpi.Of(p.data(p.Rank(), s.n*size)), mpi.Of(x)), is(x, want))
	case stepBarrier:
		p.later(blocking, c.Ibarrier(), func() {})
	}
}
