package deps

import "sync/atomic"

// joinPool recycles join nodes. A join that was released says so in its word;
// the inserter looks through all of them when it has none left, and makes new
// ones if less than half of them are free, so one that waits long costs nothing
// and there are at most twice as many as were ever needed at once.
type joinPool struct {
	all   []*Node
	free  []*Node
	fresh int // so many may be made before the next look
}

func (p *joinPool) get() *Node {
	if len(p.free) == 0 && p.fresh == 0 {
		p.collect()
	}
	if k := len(p.free) - 1; k >= 0 {
		n := p.free[k]
		p.free = p.free[:k]
		return n
	}
	p.fresh--
	n := &Node{join: true}
	p.all = append(p.all, n)
	return n
}

func (p *joinPool) collect() {
	for _, n := range p.all {
		if atomic.LoadUint32(&n.word)&(freeBit|failedBit) == freeBit {
			p.free = append(p.free, n)
		}
	}
	if len(p.free) <= len(p.all)/2 {
		p.fresh = max(4, len(p.all)/2-len(p.free))
	}
}
