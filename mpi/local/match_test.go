package local

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
)

// reference matches as in the contract, by a search through everything.
type reference struct {
	posted  []refRecv
	arrived []*message
}

type refRecv struct {
	k key
	c *engine.Call
}

func (r *reference) arrive(m *message) *engine.Call {
	i := slices.IndexFunc(r.posted, func(p refRecv) bool { return p.k.fits(m.key) })
	if i < 0 {
		r.arrived = append(r.arrived, m)
		return nil
	}
	c := r.posted[i].c
	r.posted = slices.Delete(r.posted, i, i+1)
	return c
}

func (r *reference) find(k key) int {
	return slices.IndexFunc(r.arrived, func(m *message) bool { return k.fits(m.key) })
}

func randomKey(r *rand.Rand, wildcards bool) key {
	k := key{ctx: uint32(r.IntN(2)), src: int32(r.IntN(3)), tag: r.IntN(3)}
	if wildcards && r.IntN(3) == 0 {
		k.src = wild
	}
	if wildcards && r.IntN(3) == 0 {
		k.tag = wild
	}
	return k
}

// Random receives, arrivals, probes, matched probes and withdrawals: the tables agree with
// the reference, which searches everything in order.
func TestMatcher_against_reference(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		var m matcher
		var ref reference
		m.init()
		bias := r.IntN(5)
		for step := range 600 {
			switch op := r.IntN(10); {
			case op < 3+bias:
				msg := &message{key: randomKey(r, false), n: step}
				want := ref.arrive(msg)
				got := m.takePosted(msg.key)
				require.Same(t, want, got, "seed %d step %d", seed, step)
				if got == nil {
					m.addUnexpected(msg)
				}
			case op < 8:
				k, c := randomKey(r, true), new(engine.Call)
				i := ref.find(k)
				got := m.take(k)
				if i < 0 {
					require.Nil(t, got, "seed %d step %d", seed, step)
					ref.posted = append(ref.posted, refRecv{k, c})
					m.post(k, c)
					continue
				}
				require.Same(t, ref.arrived[i], got, "seed %d step %d", seed, step)
				ref.arrived = slices.Delete(ref.arrived, i, i+1)
			case op < 9:
				k := randomKey(r, true)
				if i := ref.find(k); i < 0 {
					require.Nil(t, m.findUnexpected(k, 0))
				} else {
					require.Same(t, ref.arrived[i], m.findUnexpected(k, 0))
				}
			default:
				if n := len(ref.posted); n > 0 {
					i := r.IntN(n)
					p := ref.posted[i]
					ref.posted = slices.Delete(ref.posted, i, i+1)
					require.True(t, m.withdraw(p.k, p.c))
					require.False(t, m.withdraw(p.k, p.c), "only once")
				}
			}
		}
		total := 0
		for _, n := range m.wild {
			total += n
		}
		assert.Equal(t, len(ref.posted), total)
	}
}

// The negative control: the test finds a matcher that prefers exact receives to older
// wildcards.
func TestReference_sees_a_wrong_order(t *testing.T) {
	var ref reference
	older, newer := new(engine.Call), new(engine.Call)
	ref.posted = []refRecv{{key{src: wild, tag: wild}, older}, {key{src: 1, tag: 1}, newer}}
	var m matcher
	m.init()
	m.post(key{src: 1, tag: 1}, newer) // the wrong way round
	m.post(key{src: wild, tag: wild}, older)
	k := key{src: 1, tag: 1}
	assert.NotSame(t, ref.arrive(&message{key: k}), m.takePosted(k))
}

func TestMatcher_drops_withdrawn_messages(t *testing.T) {
	var m matcher
	m.init()
	for i := range 3 {
		x := &transfer{from: &endpoint{world: &World{}}}
		x.refs.Store(2)
		m.addUnexpected(&message{key: key{src: 1, tag: i % 2}, n: i, transfer: x})
		if i != 1 {
			require.True(t, x.withdraw())
		}
	}
	assert.Nil(t, m.take(key{src: 1, tag: 0}))
	got := m.take(key{src: wild, tag: wild})
	require.NotNil(t, got)
	assert.Equal(t, 1, got.n)
	assert.False(t, got.transfer.withdraw(), "the receiver has claimed it")
	assert.Nil(t, m.first)
}

func TestTable_forgets_keys_that_are_not_used(t *testing.T) {
	var m matcher
	m.init()
	for i := range 100_000 {
		c := new(engine.Call)
		m.post(key{src: 0, tag: i}, c)
		require.Same(t, c, m.takePosted(key{src: 0, tag: i}))
	}
	assert.Equal(t, smallestTable, len(m.posted.slots))
	for i := range 1000 {
		m.post(key{src: 0, tag: i}, new(engine.Call))
	}
	assert.LessOrEqual(t, len(m.posted.slots), 8192)
	for i := range 1000 {
		require.NotNil(t, m.takePosted(key{src: 0, tag: i}))
	}
	assert.Zero(t, m.posted.live)
}
