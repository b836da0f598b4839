package advise

import (
	"math"
	"sort"
)

// Network is the result of the calibration at the start: the one-way time of a message by
// its size, over all pairs of ranks.
type Network struct {
	Points []Point `json:"points"` // by size; median of the pairs
	Worst  []Point `json:"worst"`  // of the slowest pair
}

// Time returns the time of a message. It interpolates between two measured sizes, and
// continues the last two beyond the largest (the paper, section 2.1: linear beyond 512 KiB).
// No message is faster than the smallest one. 0 if nothing was measured.
func (n *Network) Time(bytes float64) float64 {
	p := n.Points
	switch len(p) {
	case 0:
		return 0
	case 1:
		return p[0].Seconds
	}
	i := sort.Search(len(p), func(i int) bool { return p[i].Bytes >= bytes })
	i = min(max(i, 1), len(p)-1)
	a, b := p[i-1], p[i]
	t := a.Seconds + (bytes-a.Bytes)*(b.Seconds-a.Seconds)/(b.Bytes-a.Bytes)
	return math.Max(t, p[0].Seconds)
}

// Written estimates the time of the calls of a pattern, one after another: each takes as
// long as the longer of its messages. Times between the calls are not in it.
func (n *Network) Written(p *Pattern) float64 {
	longest := map[int]float64{}
	for i := range p.Requests {
		m := &p.Requests[i]
		longest[m.Call] = math.Max(longest[m.Call], n.Time(float64(m.Bytes())))
	}
	sum := 0.0
	for _, t := range longest {
		sum += t
	}
	return sum
}

// Fixed estimates the time of the same messages started together: latencies are paid
// once, and the bytes of one direction share the link (LogGP).
func (n *Network) Fixed(p *Pattern) float64 {
	var bytes [2]float64
	for i := range p.Requests {
		m := &p.Requests[i]
		if m.Recv {
			bytes[1] += float64(m.Bytes())
		} else {
			bytes[0] += float64(m.Bytes())
		}
	}
	return math.Max(n.Time(bytes[0]), n.Time(bytes[1]))
}
