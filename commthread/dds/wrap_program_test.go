package dds_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

const playBytes = 300_000

// player is one rank of a random program: the same on all ranks, except the rank.
type player struct {
	*mpi.Comm
	rng  *rand.Rand // the same numbers on all ranks
	mem  [2][]byte  // in an arena, on the heap
	win  *mpi.Win
	open []byte // memory of the window
	log  []event
}

// event is one observation of a rank.
type event struct {
	step, what int
	status     mpi.Status
	sum        uint64
	failed     bool
}

var playLengths = []int{0, 1, 100, 8192, 8193, 8256, 8257, 70_000, 100_001, 200_000}

// step is one operation between two ranks.
type step struct {
	number, what, a, b, tag, n int
	from, to                   []byte
}

func (p *player) step(i int) step {
	r := p.rng
	s := step{number: i, what: r.IntN(11), a: r.IntN(p.Size()), tag: i, n: playLengths[r.IntN(len(playLengths))]}
	s.b = (s.a + 1 + r.IntN(p.Size()-1)) % p.Size()
	at, where := r.IntN(playBytes-s.n+1), r.IntN(4)
	s.from = p.mem[where&1][at : at+s.n : at+s.n]
	at = r.IntN(playBytes - s.n + 1)
	s.to = p.mem[where>>1][at : at+s.n : at+s.n]
	return s
}

// saw records the content of x, read byte by byte; missing bytes make it wait.
func (p *player) saw(s step, st mpi.Status, x []byte, err error) {
	e := event{step: s.number, what: s.what, status: st, failed: err != nil, sum: 14695981039346656037}
	for _, b := range x {
		e.sum = (e.sum ^ uint64(b)) * 1099511628211
	}
	if err != nil && !errors.Is(err, mpi.ErrTruncate) {
		e.sum = 1
	}
	p.log = append(p.log, e)
}

// scribble overwrites memory after a send or receive.
func (p *player) scribble(s step, x []byte) {
	for i := 0; i < len(x); i += 97 {
		x[i] += byte(s.number)
	}
}

// send is rank a's side of a message.
func (p *player) send(s step) error {
	var err error
	switch s.what {
	case 1:
		err = p.Ssend(mpi.Of(s.from), s.b, s.tag)
	case 4:
		_, err = p.Isend(mpi.Of(s.from), s.b, s.tag).Wait()
	case 7:
		if err = p.Send(mpi.One(&s.number), s.b, 1000+s.tag); err == nil {
			err = p.Send(mpi.Of(s.from), s.b, s.tag)
		}
	default:
		err = p.Send(mpi.Of(s.from), s.b, s.tag)
	}
	p.scribble(s, s.from)
	return err
}

// receive is rank b's side.
func (p *player) receive(s step) (st mpi.Status, err error) {
	switch s.what {
	case 2:
		if st, err = p.Probe(s.a, mpi.AnyTag); err == nil {
			p.saw(s, st, nil, nil)
			return p.Recv(mpi.Of(s.to), mpi.AnySource, st.Tag)
		}
	case 3:
		m, err := p.Mprobe(s.a, s.tag)
		if err != nil {
			return st, err
		}
		p.saw(s, m.Status, nil, nil)
		return m.Recv(mpi.Of(s.to))
	case 5:
		r := p.Irecv(mpi.Of(s.to), mpi.AnySource, s.tag)
		return r.Wait()
	case 6: // too short
		return p.Recv(mpi.Of(s.to[:len(s.to)/2]), s.a, s.tag)
	case 7: // found by tag, received in order
		if st, err = p.Probe(s.a, s.tag); err != nil {
			return st, err
		}
		p.saw(s, st, nil, nil)
		first := 0
		if st, err = p.Recv(mpi.One(&first), s.a, mpi.AnyTag); err != nil {
			return st, err
		}
		p.saw(s, st, []byte{byte(first)}, nil)
		return p.Recv(mpi.Of(s.to), s.a, mpi.AnyTag)
	default:
		return p.Recv(mpi.Of(s.to), s.a, s.tag)
	}
	return st, err
}

// play makes one step on this rank.
func (p *player) play(s step) error {
	switch {
	case s.what == 8: // both ways
		if p.Rank() != s.a && p.Rank() != s.b {
			return nil
		}
		peer := s.a + s.b - p.Rank()
		out := append([]byte{}, s.from...)
		if p.Rank() == s.a {
			out = s.from
		}
		in := p.mem[0][:s.n:s.n]
		if overlaps(in, out) {
			in = make([]byte, s.n)
		}
		st, err := p.Sendrecv(mpi.Of(out), peer, s.tag, mpi.Of(in), peer, s.tag)
		p.saw(s, st, in, err)
		return err
	case s.what == 9: // one-sided
		if p.Rank() == s.a {
			if err := p.win.Put(mpi.Of(s.from), s.b, 0); err != nil {
				return err
			}
			p.scribble(s, s.from)
			if err := p.win.Get(mpi.Of(s.to), s.b, 0); err != nil {
				return err
			}
			p.saw(s, mpi.Status{}, s.to, nil)
		}
		if err := p.win.Fence(); err != nil {
			return err
		}
		p.saw(s, mpi.Status{}, p.open, nil)
		return p.win.Fence()
	case s.what == 10:
		err := p.Bcast(mpi.Of(s.to), s.a)
		p.saw(s, mpi.Status{}, s.to, err)
		return err
	case p.Rank() == s.a:
		return p.send(s)
	case p.Rank() == s.b:
		st, err := p.receive(s)
		if errors.Is(err, mpi.ErrTruncate) {
			p.saw(s, mpi.Status{}, nil, err) // the content of the buffer is then undefined
			clear(s.to)
			return nil
		}
		p.saw(s, st, s.to, err)
		p.scribble(s, s.to)
		return err
	}
	return nil
}

// overlaps reports whether two parts of one rank's memory have bytes in common.
func overlaps(x, y []byte) bool {
	at := func(x []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }
	return len(x) > 0 && len(y) > 0 && at(x) < at(y)+uintptr(len(y)) && at(y) < at(x)+uintptr(len(x))
}

// game plays a random program and returns the observations of the ranks, and the number of
// armed strips.
func game(t *testing.T, net string, seed uint64, steps int, wrapped bool, hints ...dds.Hint) ([][]event, int64) {
	t.Helper()
	const ranks = 3
	n, err := local.ParseNet(net)
	require.NoError(t, err)
	logs, armed := make([][]event, ranks), make([]int64, ranks)
	require.NoError(t, local.Run(ranks, func(c *mpi.Comm) error {
		a, err := dds.NewArena(4 * playBytes)
		if err != nil {
			return err
		}
		p := &player{Comm: c, rng: rand.New(rand.NewPCG(seed, 1))}
		p.mem[1] = make([]byte, playBytes)
		if p.mem[0], err = dds.Make[byte](a, playBytes); err != nil {
			return err
		}
		if p.open, err = dds.Make[byte](a, playBytes); err != nil {
			return err
		}
		for i := range playBytes {
			p.mem[0][i], p.mem[1][i] = byte(i*7+c.Rank()), byte(i*11+c.Rank())
		}
		var w *dds.Wrapped
		if wrapped {
			if w, err = dds.Wrap(c, hints...); err != nil {
				return err
			}
			p.Comm = w.Comm
		}
		if p.win, err = p.NewWin(mpi.Of(p.open)); err != nil {
			return err
		}
		for i := range steps {
			if err := p.play(p.step(i)); err != nil {
				return err
			}
		}
		logs[c.Rank()], armed[c.Rank()] = p.log, a.Counts().Strips
		err = p.win.Free()
		if wrapped {
			err = errors.Join(err, w.Close())
		}
		return errors.Join(err, a.Close())
	}, local.Network(n)))
	return logs, armed[0] + armed[1] + armed[2]
}

// Random programs see the same bytes and statuses with and without Wrap.
func TestWrap_equals_plain(t *testing.T) {
	steps := 60
	if testing.Short() {
		steps = 20
	}
	late := int64(0)
	for i, net := range []string{"none", "10gige", "10gige,progress=nic", "gige"} {
		seed := uint64(i + 1)
		var want [][]event
		soon(t, "the plain program", func() { want, _ = game(t, net, seed, steps, false) })
		for name, hints := range map[string][]dds.Hint{
			"cut":   {dds.Strips(3), dds.Force()},
			"train": {dds.Force(), dds.Fixed(dds.Constants{Gap: 1})},
		} {
			var got [][]event
			var armed int64
			soon(t, net+" "+name, func() { got, armed = game(t, net, seed, steps, true, hints...) })
			for r := range want {
				require.Equal(t, len(want[r]), len(got[r]))
				for j := range want[r] {
					require.Equal(t, want[r][j], got[r][j], "%s, %s, rank %d, seed %d", net, name, r, seed)
				}
			}
			late += armed
		}
	}
	if onPages(t) {
		assert.Positive(t, late, "strips that were waited for")
	}
}

// The comparison notices a difference of one byte.
func TestWrap_equals_plain_notices(t *testing.T) {
	a, _ := game(t, "none", 9, 10, false)
	b, _ := game(t, "none", 10, 10, false)
	assert.NotEqual(t, a, b)
}

func onPages(t *testing.T) bool {
	t.Helper()
	a, err := dds.NewArena(1)
	require.NoError(t, err)
	name, _ := a.Backend()
	require.NoError(t, a.Close())
	return name == dds.Uffd
}
