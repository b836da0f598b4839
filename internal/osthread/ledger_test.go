package osthread

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func alone(cpu int) CPUSet { return CPUSetOf(cpu) }

func TestCoreLedger(t *testing.T) {
	l := &coreLedger{siblings: alone}
	four := firstCPUs(4)

	assert.Equal(t, 4, l.free(four))
	a := l.claim(four, 3)
	assert.Equal(t, 1, l.free(four))
	assert.Equal(t, []int{0, 1, 2}, a.Cores())
	assert.False(t, a.Oversubscribed())

	b := l.claim(four, 2)
	assert.Nil(t, b.Cores(), "all or nothing")
	assert.True(t, b.Oversubscribed())

	c := l.claim(four, 1)
	assert.Equal(t, []int{3}, c.Cores(), "a claim that got nothing holds nothing")

	a.Release()
	d := l.claim(four, 2)
	assert.Equal(t, []int{0, 1}, d.Cores())
	a.Release()
	b.Release()
	assert.Equal(t, CPUSetOf(0, 1, 3), l.claimed, "a second release gives nothing of the next holder back")

	c.Release()
	d.Release()
	assert.Zero(t, l.claimed.Count())
}

func TestCoreLedger_crowded(t *testing.T) {
	l := &coreLedger{siblings: alone}
	a := l.claim(firstCPUs(2), 2)
	assert.Zero(t, l.crowd.Load(), "everybody has cores")
	b, c := l.claim(firstCPUs(2), 1), l.claim(firstCPUs(2), 0)
	assert.EqualValues(t, 1, l.crowd.Load(), "b runs on the cores of a; c wants none")
	a.Release()
	b.Release()
	b.Release()
	c.Release()
	assert.Zero(t, l.crowd.Load())
}

func TestCoreLedger_nothing_asked_for(t *testing.T) {
	l := &coreLedger{siblings: alone}
	for _, n := range []int{0, -1} {
		c := l.claim(firstCPUs(2), n)
		assert.Empty(t, c.Cores())
		assert.False(t, c.Oversubscribed())
		c.Release()
	}
}

// Cores 0 and 1 are threads of one physical core, 2 and 3 of another.
func TestCoreLedger_spreads_over_physical_cores(t *testing.T) {
	l := &coreLedger{siblings: func(cpu int) CPUSet { return CPUSetOf(cpu&^1, cpu|1) }}
	four := firstCPUs(4)
	a := l.claim(four, 1)
	b := l.claim(four, 1)
	c := l.claim(four, 2)
	assert.Equal(t, []int{0}, a.Cores())
	assert.Equal(t, []int{2}, b.Cores())
	assert.Equal(t, []int{1, 3}, c.Cores())
	c.Release()
	a.Release()
	assert.Equal(t, []int{0, 1}, l.claim(four, 2).Cores(), "core 3 shares with 2, which is taken")
}

func TestClaimCores_within_a_share(t *testing.T) {
	all := Usable().List()
	last := all[len(all)-1]
	a := ClaimCoresIn(CPUSetOf(last, MaxCPUs-1), 1)
	defer a.Release()
	assert.Equal(t, []int{last}, a.Cores())
	b := ClaimCoresIn(CPUSetOf(last), 1)
	defer b.Release()
	assert.True(t, b.Oversubscribed())
	c := ClaimCores(len(all))
	defer c.Release()
	assert.True(t, c.Oversubscribed())
	d := ClaimCoresIn(CPUSetOf(MaxCPUs-1), 1)
	defer d.Release()
	assert.True(t, d.Oversubscribed() || Usable().Has(MaxCPUs-1), "a core the process may not use")
}

// Many goroutines claim and release; a core that two hold at once would be a
// race on its counter and a failed assertion.
func TestCoreLedger_concurrent(t *testing.T) {
	l := &coreLedger{siblings: alone}
	var users [5]int
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				c := l.claim(firstCPUs(5), 1+(g+i)%3)
				for _, cpu := range c.Cores() {
					users[cpu]++
				}
				for _, cpu := range c.Cores() {
					assert.Equal(t, 1, users[cpu])
					users[cpu]--
				}
				c.Release()
				c.Release()
			}
		})
	}
	wg.Wait()
	assert.Zero(t, l.claimed.Count())
}
