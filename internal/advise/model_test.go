package advise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummary(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	var all, left, right Summary
	for i, x := range values {
		all.Add(x)
		if i < 3 {
			left.Add(x)
		} else {
			right.Add(x)
		}
	}
	left.Merge(right)
	left.Merge(Summary{})
	assert.InDelta(t, 31.0/8, all.Mean, 1e-12)
	assert.InDelta(t, math.Sqrt(52.875/7), all.Deviation(), 1e-12)
	assert.InDelta(t, 31, all.Sum(), 1e-12)
	assert.InDelta(t, all.Mean, left.Mean, 1e-12)
	assert.InDelta(t, all.M2, left.M2, 1e-12)
	assert.Equal(t, []float64{1, 9}, []float64{left.Min, left.Max})
	assert.Equal(t, 8, left.N)
}

// Every pair of ranks meets once.
func TestOpponent(t *testing.T) {
	for _, n := range []int{2, 4, 6, 10} {
		met := map[[2]int]int{}
		for round := range n - 1 {
			for r := range n {
				o := opponent(r, round, n)
				require.NotEqual(t, r, o)
				require.Equal(t, r, opponent(o, round, n), "%d ranks, round %d", n, round)
				met[[2]int{r, o}]++
			}
		}
		assert.Len(t, met, n*(n-1))
	}
}

func TestNetwork(t *testing.T) {
	n := sampleRun().Network
	assert.InDelta(t, 1e-3, n.Time(0), 1e-12)
	assert.InDelta(t, 1.5e-3, n.Time(508), 1e-12)
	assert.InDelta(t, 3e-3, n.Time(2008), 1e-12)
	assert.InDelta(t, 11e-3, n.Time(10008), 1e-12, "linear beyond")
	assert.Zero(t, (&Network{}).Time(5))
	p := sampleRun().Chains[0].Patterns[0]
	assert.InDelta(t, 2*n.Time(1000), n.Written(&p), 1e-12)
	assert.InDelta(t, n.Time(2000), n.Fixed(&p), 1e-12)
}

func TestSaving(t *testing.T) {
	r := sampleRun()
	s := r.Saving(0, nil)
	want := 2*r.Network.Time(1000) - r.Network.Time(2000)
	assert.False(t, s.Rehearsed)
	assert.InDelta(t, want, s.PerPass, 1e-12)
	assert.InDelta(t, 10*want, s.Total, 1e-12)
	assert.InDelta(t, 10*want, s.Share, 1e-12)
	assert.InDelta(t, 1/(1-10*want), r.Speedup(s.Total), 1e-9)

	r.Chains[0].Trial = &Trial{Written: []float64{4e-3, 5e-3, 4e-3}, Fixed: []float64{3e-3, 3.5e-3, 3.9e-3}}
	s = r.Saving(0, nil)
	assert.True(t, s.Rehearsed)
	assert.InDelta(t, 1e-3, s.PerPass, 1e-12)
	assert.LessOrEqual(t, s.Low, s.PerPass)
	assert.GreaterOrEqual(t, s.High, s.PerPass)

	one := r.Saving(0, []int{1})
	assert.True(t, one.Part)
	assert.Zero(t, one.PerPass, "a single call gains nothing")
	r.Chains[0].Trial.Written = []float64{90, 90, 90}
	assert.InDelta(t, 4e-3, r.Saving(0, nil).PerPass, 1e-12, "never more than the chain takes")
	r.Chains[0].Ranks = []int{1}
	assert.InDelta(t, 20e-3, r.Saving(0, nil).Total, 1e-12, "one rank of two")
}

func TestClosed(t *testing.T) {
	send := func(call, peer, bytes int) Message { return Message{Call: call, Peer: peer, Blocks: 1, Block: bytes} }
	recv := func(call, peer, bytes int) Message {
		return Message{Call: call, Recv: true, Peer: peer, Blocks: 1, Block: bytes}
	}
	of := func(rank int, m ...Message) Pattern { return Pattern{Rank: rank, Requests: m} }
	for name, c := range map[string]struct {
		patterns         []Pattern
		closed, complete bool
	}{
		"exchange":        {[]Pattern{of(0, recv(0, 1, 8), send(0, 1, 8)), of(1, recv(0, 0, 8), send(0, 0, 8))}, true, true},
		"larger buffer":   {[]Pattern{of(0, send(0, 1, 8)), of(1, recv(0, 0, 9))}, true, true},
		"smaller buffer":  {[]Pattern{of(0, send(0, 1, 9)), of(1, recv(0, 0, 8))}, false, false},
		"no receive":      {[]Pattern{of(0, send(0, 1, 8)), of(1)}, false, false},
		"no send":         {[]Pattern{of(0), of(1, recv(0, 0, 8))}, false, false},
		"one too many":    {[]Pattern{of(0, send(0, 1, 8), send(1, 1, 8)), of(1, recv(0, 0, 8))}, false, false},
		"in turn":         {[]Pattern{of(0, send(0, 1, 800), recv(1, 1, 800)), of(1, recv(0, 0, 800), send(1, 0, 800))}, true, true},
		"both send first": {[]Pattern{of(0, send(0, 1, 800), recv(1, 1, 800)), of(1, send(0, 0, 800), recv(1, 0, 800))}, true, false},
		"eager":           {[]Pattern{of(0, send(0, 1, 80), recv(1, 1, 80)), of(1, send(0, 0, 80), recv(1, 0, 80))}, true, true},
		"both receive":    {[]Pattern{of(0, recv(0, 1, 8), send(1, 1, 8)), of(1, recv(0, 0, 8), send(1, 0, 8))}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.closed, closed(c.patterns))
			if c.closed {
				assert.Equal(t, c.complete, completes(c.patterns, 100))
			}
		})
	}
}

// Chains of different ranks are rehearsed together if their messages match: here the chains
// of three ranks in a row, no two of which match completely.
func TestJoin(t *testing.T) {
	send := func(call, peer int) Message { return Message{Call: call, Peer: peer, Blocks: 1, Block: 8} }
	recv := func(call, peer int) Message { return Message{Call: call, Recv: true, Peer: peer, Blocks: 1, Block: 8} }
	chain := func(rank int, m ...Message) Chain {
		return Chain{Ranks: []int{rank}, Count: 10, Even: true, Patterns: []Pattern{{Rank: rank, Requests: m}}}
	}
	row := func() *Run {
		return &Run{Ranks: 4, Chains: []Chain{chain(0, send(0, 1), recv(1, 1)), chain(1, recv(0, 0), send(1, 0), send(2, 2), recv(3, 2)), chain(2, recv(0, 1), send(1, 1)), chain(3, send(0, 0))}}
	}
	r := row()
	parts := join(r, []int{0, 1, 2, 3}, 0)
	require.Len(t, parts, 1)
	assert.Equal(t, []int{0, 1, 2}, parts[0].Chains)
	assert.True(t, parts[0].Alone)
	assert.Empty(t, r.Chains[0].NoTrial)
	assert.Contains(t, r.Chains[3].NoTrial, "do not match")

	r = row()
	r.Chains[1].Count = 20
	assert.Empty(t, join(r, []int{0, 1, 2, 3}, 0), "another number of times")
	r = row()
	r.Chains[0].Patterns[0].Requests = []Message{recv(0, 1), send(1, 1)}
	parts = join(r, []int{0, 1, 2, 3}, 0)
	require.Len(t, parts, 1)
	assert.False(t, parts[0].Alone, "both wait for a message: a replay of the whole program only")
}

func TestMerge_of_ranks(t *testing.T) {
	site := func(line int) Site { return Site{API: "Sendrecv", File: "f.go", Line: line} }
	one := func() []Summary { return []Summary{{N: 5, Mean: 1}, {N: 5, Mean: 3}} }
	full := &rankData{Sites: []Site{site(1), site(2)}, Seconds: 2, Chains: []rankChain{{Sites: []int{0, 1}, Count: 5, Calls: one(), Gaps: one(), Movable: []int{0, 0}, Next: 0,
		Pattern: Pattern{Requests: []Message{{Call: 0, Block: 1}, {Call: 1, Block: 2}}}}}}
	edge := &rankData{Sites: []Site{site(2)}, Seconds: 3, Races: []Race{{Request: 0, Other: 0, Rank: 1}}, Chains: []rankChain{{Sites: []int{0}, Count: 5, Calls: one()[1:], Gaps: one()[1:], Movable: []int{0},
		Next: -1, Pattern: Pattern{Requests: []Message{{Call: 0, Block: 3}}}}}}
	r := merge([]*rankData{full, edge}, 7)
	require.Len(t, r.Chains, 1, "the rank at the edge has part of the chain")
	c := r.Chains[0]
	assert.Equal(t, []int{0, 1}, c.Ranks)
	assert.Equal(t, []float64{1, 3}, c.Calls)
	assert.Equal(t, 1, c.Patterns[1].Requests[0].Call)
	assert.True(t, c.Even)
	assert.Equal(t, 3.0, r.Seconds)
	assert.Equal(t, 7.0, r.Size)
	assert.Equal(t, 2, r.Sites[r.Races[0].Request].Line)

	edge.Sites[0].Line = 9
	edge.Chains[0].Pattern.Requests[0].Call = 0
	assert.Len(t, merge([]*rankData{full, edge}, 7).Chains, 2, "the control: another place")
}

// at samples a function at four sizes.
func at(f func(n, p float64) float64, ranks ...float64) (all []sample) {
	for _, n := range []float64{32, 64, 128, 256} {
		for _, p := range ranks {
			all = append(all, sample{n, p, f(n, p)})
		}
	}
	return all
}

func TestFit(t *testing.T) {
	for name, c := range map[string]struct {
		f     func(n, p float64) float64
		ranks []float64
	}{
		"constant":   {func(n, p float64) float64 { return 3 }, []float64{4}},
		"edge":       {func(n, p float64) float64 { return 8 * n }, []float64{4}},
		"with base":  {func(n, p float64) float64 { return 50 + 2*n*n }, []float64{4}},
		"volume":     {func(n, p float64) float64 { return 1e-9 * n * n * n / p }, []float64{1, 2, 4, 8}},
		"cut in two": {func(n, p float64) float64 { return 10 + n/math.Sqrt(p) }, []float64{1, 4, 16}},
	} {
		curve := fit(at(c.f, c.ranks...))
		assert.InEpsilon(t, c.f(1024, c.ranks[0]), curve.At(1024, c.ranks[0]), 0.02, "%s: %v", name, &curve)
		assert.Less(t, curve.Error, 0.02, name)
	}
	assert.Equal(t, "50 + 2 n^2", (&Curve{Base: 50, Scale: 2, SizePower: 2}).String())
	assert.Equal(t, "7", (&Curve{Base: 7}).String())
	noisy := []sample{{32, 4, 5}, {64, 4, 1}, {128, 4, 9}, {256, 4, 2}}
	assert.Greater(t, (func() float64 { c := fit(noisy); return c.Error })(), 0.1, "the control: what follows no curve has a large error")
	noise := []float64{1, 1.06, 0.95, 1.04}
	volume, root := at(func(n, p float64) float64 { return n * n }, 4), at(func(n, p float64) float64 { return math.Pow(n, 1.5) }, 4)
	for i, f := range noise {
		volume[i].value *= f
	}
	assert.Equal(t, 2.0, (func() float64 { c := fitWork(volume); return c.SizePower })(), "a noisy whole power")
	assert.Equal(t, 1.5, (func() float64 { c := fitWork(root); return c.SizePower })(), "a power that is plainly another")
	base, slope := line(samples(100, 200, 400), samples(1.5, 2.5, 4.5))
	assert.InDelta(t, 0.5, base, 1e-9)
	assert.InDelta(t, 0.01, slope, 1e-9)
}

// A disturbed run moves no curve if there are three of its kind. The control: one of one kind does.
func TestMedians(t *testing.T) {
	f := func(n, p float64) float64 { return 3 * n * n / p }
	all := append(at(f, 1, 2), append(at(f, 1, 2), at(f, 1, 2)...)...)
	for i := range 8 {
		all[3*i].value *= 1 + float64(i) // of the three at each point, one
	}
	c := fitWork(all)
	assert.InEpsilon(t, f(1024, 2), c.At(1024, 2), 1e-6, "%v", &c)
	alone := at(f, 1, 2)
	for i := range alone {
		alone[i].value *= 1 + float64(i)
	}
	c = fitWork(alone)
	assert.Greater(t, math.Abs(c.At(1024, 2)/f(1024, 2)-1), 0.2, "%v", &c)
}

// Of runs with 2 and with 8 ranks, which are as near to 4, always the same are chosen.
func TestAlike(t *testing.T) {
	var runs []*Run
	for _, n := range []float64{64, 128} {
		runs = append(runs, synthetic(n, 8), synthetic(n, 2))
	}
	runs = append(runs, synthetic(64, 4)) // one size says nothing about others
	for range 50 {
		near := alike(runs, 4)
		require.Len(t, near, 2)
		require.Equal(t, 2, near[0].Ranks)
	}
	assert.Equal(t, 8, alike(runs, 16)[0].Ranks)
	assert.Len(t, alike(runs[:2], 4), 2, "all, if there are not two sizes")
}

// samples are values of runs of different sizes.
func samples(values ...float64) (all []sample) {
	for i, v := range values {
		all = append(all, sample{float64(i + 1), 1, v})
	}
	return all
}

// synthetic makes a run whose times follow formulas: faces of n cells, computation of
// n squared.
func synthetic(n, p float64) *Run {
	r := sampleRun()
	r.Size, r.Ranks = n, int(p)
	c := &r.Chains[0]
	bytes := 8 * n / math.Sqrt(p)
	written, fixed, compute := 2*(30e-6+bytes*8e-9), 30e-6+2*bytes*8e-9, 1e-9*n*n/p
	for i := range c.Patterns {
		for j := range c.Patterns[i].Requests {
			c.Patterns[i].Requests[j].Block = int(bytes)
		}
	}
	c.Count = 100
	c.Written = Summary{N: 100 * r.Ranks, Mean: written}
	c.Before = Summary{N: 100 * r.Ranks, Mean: compute}
	c.Calls = []float64{written / 2, written / 2}
	c.Trial = &Trial{Written: []float64{written}, Fixed: []float64{fixed}}
	r.Seconds = 100*(written+compute) + 1e-3
	r.Memory = 16 * n * n / p
	r.Caches = []float64{32 << 10, 1 << 20, 32 << 20}
	return r
}

func TestProject(t *testing.T) {
	both := func(*Run, int) []int { return []int{0, 1} }
	var runs []*Run
	for _, n := range []float64{64, 128, 256} {
		for _, p := range []float64{4, 16} {
			x := synthetic(n, p)
			x.Chains[0].Ranks = []int{0, 1}
			runs = append(runs, x)
		}
	}
	s, err := NewSet(runs, both)
	require.NoError(t, err)
	want := synthetic(1024, 16)
	p := s.Project(1024, 16)
	assert.InEpsilon(t, want.Seconds, p.Written, 0.1)
	saved := 100 * (want.Chains[0].Trial.Written[0] - want.Chains[0].Trial.Fixed[0])
	assert.InEpsilon(t, saved, p.Written-p.Fixed, 0.1)
	assert.InEpsilon(t, want.Seconds/(want.Seconds-saved), p.Speedup, 0.05)
	assert.Less(t, p.Error, 0.2)
	require.Len(t, p.Chains, 1)
	assert.InEpsilon(t, 4*8*1024/4, p.Chains[0].Bytes, 0.05)
	require.NotEmpty(t, p.Chains[0].Transfers)
	for _, x := range p.Chains[0].Transfers {
		assert.InEpsilon(t, 8*1024/4, x.Bytes, 0.05)
		assert.Equal(t, "8 n p^-0.5", x.Curve)
	}
	assert.Contains(t, lines(p.Warnings), "outside the measured")

	inside := s.Project(200, 4)
	assert.NotContains(t, lines(inside.Warnings), "outside")
	assert.NotContains(t, lines(inside.Warnings), "MB")
	assert.Contains(t, lines(s.Project(1e5, 4).Warnings), "more than the last cache holds")
	assert.Zero(t, s.Project(1e5, 0).Ranks%4)

	none, err := NewSet(runs, func(*Run, int) []int { return nil })
	require.NoError(t, err)
	assert.InDelta(t, 1, none.Project(1024, 16).Speedup, 1e-9, "the control: nothing is changed")

	flat, err := NewSet(runs[:1:1], both)
	assert.Nil(t, flat)
	require.ErrorContains(t, err, "two runs")
	_, err = NewSet([]*Run{runs[0], runs[1]}, both)
	require.ErrorContains(t, err, "all runs have the size")
	other := synthetic(32, 4)
	other.Program = "q"
	_, err = NewSet([]*Run{runs[0], other}, both)
	require.ErrorContains(t, err, "one program")
	other.Program, other.Size = "p", 0
	_, err = NewSet([]*Run{runs[0], other}, both)
	require.ErrorContains(t, err, SizeVariable)
}

func lines(texts []string) (all string) {
	for _, t := range texts {
		all += t + "\n"
	}
	return all
}
