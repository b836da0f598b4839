package advise

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The median of a thinned sample is the median of all values, whatever the outliers.
func TestThinned(t *testing.T) {
	var x thinned
	for i := range 10_000 {
		v := 1.0
		switch {
		case i%3 == 0:
			v = 1000
		case i%7 == 1:
			v = 0
		}
		x.add(v)
	}
	assert.Equal(t, 1.0, x.median())
	assert.LessOrEqual(t, len(x.values), mostThinned)
	assert.GreaterOrEqual(t, len(x.values), mostThinned/4)
	assert.Zero(t, (&thinned{}).median())
}

// More pairs leave less doubt of the median; it lies inside.
func TestBounds(t *testing.T) {
	few, many := []float64{1, 2, 3, 4, 5, 6}, []float64(nil)
	for range 20 {
		many = append(many, few...)
	}
	l1, h1 := bounds(few)
	l2, h2 := bounds(many)
	assert.Less(t, h2-l2, h1-l1)
	for _, pair := range [][2]float64{{l1, h1}, {l2, h2}} {
		assert.LessOrEqual(t, pair[0], 3.5)
		assert.GreaterOrEqual(t, pair[1], 3.5)
	}
}

// A wait can move down by the slack, but saves no more than the chain takes; without a touch
// that was seen nothing is said.
func TestLaters(t *testing.T) {
	c := Chain{Sites: []int{0, 0}, Ranks: []int{0}, Count: 10, Trial: &Trial{Written: []float64{9}, Fixed: []float64{3}}}
	r := &Run{Ranks: 2, Seconds: 100, Chains: []Chain{c, c, c}}
	r.Chains[0].Slack.Add(2)
	r.Chains[1].Slack.Add(50)
	all := r.Laters()
	assert.Equal(t, []Later{{Chain: 0, Slack: 2, PerPass: 2, Total: 10, Share: 0.1}, {Chain: 1, Slack: 50, PerPass: 3, Total: 15, Share: 0.15}}, all)
}
