package deps

import "sync/atomic"

// joinPool recycles join nodes. Release marks a join node free. When the pool is empty, the
// inserter scans all join nodes for free ones, and makes new ones if at most half of them
// are free. So a join that waits for long costs nothing, and the pool holds at most twice
// as many nodes as were ever needed at once.
type joinPool struct {
	all   []*Node
	free  []*Node
	fresh int // number of nodes to make before the next scan
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
