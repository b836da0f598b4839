package blastest

import "math"

// intact reports writes before the start of the memory.
func (g *guarded) intact(r Reporter, what string) bool {
	r.Helper()
	for i, v := range g.before {
		if math.Float64bits(v) != math.Float64bits(gap) {
			r.Errorf("%s: wrote %v %d elements before the start", what, v, len(g.before)-i)
			return false
		}
	}
	return true
}
