// Program of the tests of package dds: two ranks exchange messages that are read while they
// arrive, and written while they leave, and C forks children all the time. It says how many of
// them have died because of what they touched.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

const (
	length      = 1 << 19
	rounds      = 8
	generations = 2 // of arenas
)

var (
	trace   = flag.Bool("trace", false, "pages stay armed until they are touched")
	inherit = flag.Bool("inherit", false, "give children the memory: the negative control")
)

func value(i, round int) byte { return byte(i*31 + i>>8 + round*7) }

// spy sits between the endpoint and the engine, and learns the completion functions.
type spy struct {
	engine.Engine
	mover engine.Mover
}

// Carry is what endpoints call.
func (s *spy) Carry(m engine.Mover) {
	s.mover = m
	s.Engine.(engine.Carrier).Carry(m)
}

// family is the children of rank 1.
type family struct {
	killed, lived [kinds]int
	programs      int
	stay          []*child
}

// side is what a rank has.
type side struct {
	c   *mpi.Comm
	e   *dds.Endpoint
	spy *spy
	x   []byte
	f   *family
}

// bear forks children until the reader is done, one of each kind at least.
func (s *side) bear(done *atomic.Bool, touch []kind, l late) error {
	for turn := 0; turn < len(touch) || !done.Load(); turn++ {
		k := touch[turn%len(touch)]
		p := &s.x[length-1-turn%2*length/2]
		if turn%3 == 1 {
			p = &dds.CommView(s.x)[length/2]
		}
		c, err := fork(k, p, l)
		if err != nil {
			return err
		}
		if k == stays {
			s.f.stay = append(s.f.stay, c)
			continue
		}
		if err := s.f.bury(c); err != nil {
			return err
		}
	}
	if err := exec.Command("true").Run(); err != nil {
		return fmt.Errorf("a program that Go starts: %w", err)
	}
	s.f.programs++
	return nil
}

func (f *family) bury(c *child) error {
	killed, err := c.wait()
	if killed {
		f.killed[c.kind]++
	} else {
		f.lived[c.kind]++
	}
	return err
}

// buryAll has those that stay touch their byte, but for the last n.
func (f *family) buryAll(n int) error {
	var all []error
	for len(f.stay) > n {
		all = append(all, f.bury(f.stay[0]))
		f.stay = f.stay[1:]
	}
	return errors.Join(all...)
}

// check reads x, from the beginning to the end, while it arrives.
func (s *side) check(round int) error {
	for i, b := range s.x[:length] {
		if b != value(i, round) {
			return fmt.Errorf("round %d: byte %d is %d and not %d", round, i, b, value(i, round))
		}
	}
	return nil
}

// receive receives one message, among children.
func (s *side) receive(round int, touch []kind) error {
	t, err := s.e.Recv(mpi.Of(s.x), 0, 5)
	if err != nil {
		return err
	}
	var done atomic.Bool
	var l late
	if r := t.Strips(); !t.Done() {
		last := r[len(r)-1]
		b := dds.CommView(s.x)[last.From:last.To]
		l.fn, l.cookie = s.spy.mover.Completer(engine.Buffer(mpi.Of(b)).Pointer(), len(b))
	}
	if l.fn == nil { // nobody can be called
		touch = without(touch, calls)
	}
	var forks sync.WaitGroup
	var failed error
	forks.Go(func() { failed = s.bear(&done, touch, l) })
	err = s.check(round)
	done.Store(true)
	forks.Wait()
	err = errors.Join(err, failed, t.Wait(), s.f.buryAll(1))
	if l.fn != nil {
		l.complete(length)
	}
	return err
}

func without(all []kind, k kind) (rest []kind) {
	for _, one := range all {
		if one != k {
			rest = append(rest, one)
		}
	}
	return rest
}

// send sends one message, and overwrites it at once.
func (s *side) send(round int) error {
	for i := range s.x {
		s.x[i] = value(i, round)
	}
	t, err := s.e.Send(mpi.Of(s.x), 1, 5)
	if err != nil {
		return err
	}
	for i := range s.x { // waits where bytes have not left
		s.x[i] = 0
	}
	return t.Wait()
}

func (s *side) run(touch []kind) error {
	for round := range rounds {
		var err error
		if s.c.Rank() == 0 {
			err = s.send(round)
		} else {
			err = s.receive(round, touch)
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", s.c.Rank(), err)
		}
	}
	return nil
}

// generation makes an arena, uses it and frees it, while a child stays that was forked before.
func generation(c *mpi.Comm, f *family) error {
	var opts []dds.Option
	if *trace {
		opts = append(opts, lazypages.Trace().(dds.Option))
	}
	a, err := dds.NewArena(4*length, opts...)
	if err != nil {
		return err
	}
	s := &side{c: c, spy: &spy{}, f: f}
	restore := (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine {
		s.spy.Engine = next
		return s.spy
	})
	stop, err := lazypages.Of(a).Watch(func(lazypages.Sleep) {})
	if err != nil {
		stop = func() {}
	}
	if s.e, err = dds.Open(c, dds.Strips(8)); err != nil {
		return err
	}
	if s.x, err = dds.Make[byte](a, length); err != nil {
		return err
	}
	touch := []kind{stays, nothing, reads, calls, reports, writes}
	if name, _ := a.Backend(); name == dds.Explicit || *inherit {
		touch = without(touch, writes) // these would be seen here
	}
	if *inherit {
		for _, view := range [][]byte{s.x, dds.CommView(s.x)} {
			if err := unix.Madvise(view, unix.MADV_DOFORK); err != nil {
				return err
			}
		}
	}
	if err := s.run(touch); err != nil {
		return err
	}
	stop() // while a child has its descriptors
	err = errors.Join(s.e.Close(), restore())
	n := a.Counts()
	name, _ := a.Backend()
	err = errors.Join(err, a.Close(), f.buryAll(0))
	if c.Rank() == 1 && err == nil {
		fmt.Printf("arena backend=%s strips=%d faults=%d stalls=%d\n", name, n.Strips, n.Faults, n.Stalls)
	}
	return err
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	flag.Parse()
	var f family
	net, err := local.ParseNet("bw=200Mbit,L=20us")
	if err == nil {
		err = local.Run(2, func(c *mpi.Comm) error {
			mine := &family{}
			if c.Rank() == 1 {
				mine = &f
			}
			for range generations {
				if err := generation(c, mine); err != nil {
					fail(err) // the other rank may wait for this one
				}
			}
			return nil
		}, local.Network(net))
	}
	if err != nil {
		fail(err)
	}
	touched, lived := 0, 0
	for _, k := range []kind{reads, writes, calls, stays, reports} {
		touched, lived = touched+f.killed[k], lived+f.lived[k]
	}
	fmt.Printf("kinds killed=%v lived=%v\n", f.killed, f.lived)
	fmt.Printf("result killed=%d lived=%d idle=%d idle_killed=%d programs=%d\n", touched, lived, f.lived[nothing], f.killed[nothing], f.programs)
}
