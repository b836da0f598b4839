package main

// uniform returns a number in [0, 1) that is a fixed function of words and looks
// random: the splitmix64 finaliser (Steele, Lea, Flood, OOPSLA'14) over a chain of the
// words. Task Bench asks for any good 64-bit hash here; graphs of random_nearest
// therefore differ edge by edge from the reference, not in kind.
func uniform(words ...int64) float64 {
	h := uint64(len(words))
	for _, w := range words {
		h = finalise(h + 0x9e3779b97f4a7c15 + finalise(uint64(w)))
	}
	return float64(h>>11) / (1 << 53)
}

// finalise is the bijective mixing step of splitmix64.
func finalise(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
