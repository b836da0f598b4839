package program

import "sync/atomic"

// mix makes a word of two; it neither commutes nor associates.
func mix(a, b uint64) uint64 {
	a = (a ^ b*0x9e3779b97f4a7c15) + 0xbf58476d1ce4e5b9
	a = (a ^ a>>30) * 0x94d049bb133111eb
	return a ^ a>>27
}

// gain is the value that a task adds to a word.
func gain(id, word int) uint64 { return mix(uint64(id)+1, uint64(word)) | 1 }

// operations of the reductions, of which none commutes.
func combineA(dst, src uint64) uint64 { return mix(dst, src) }
func combineB(dst, src uint64) uint64 { return mix(src, dst) + 1 }

// view returns where the words of access number a of a task are: word i of the region is
// words[i-origin]. For a reduction that is the private copy.
type view func(a int) (words []uint64, origin int)

// work is the computation of a body.
func (t *Task) work(round int, at view) {
	h := mix(uint64(t.ID), uint64(round))
	for k, a := range t.Accesses {
		if !a.Weak && (a.Mode == Input || a.Mode == Inout) {
			words, origin := at(k)
			a.Region.words(func(i int) { h = mix(h, words[i-origin]) })
		}
	}
	for k, a := range t.Accesses {
		if a.Weak || a.Mode == Input {
			continue
		}
		words, origin := at(k)
		a.Region.words(func(i int) { change(a.Mode, &words[i-origin], h, gain(t.ID, i)) })
	}
}

func change(m Mode, x *uint64, h, g uint64) {
	switch m {
	case Output:
		*x = mix(h, g)
	case Inout:
		*x = mix(*x, h)
	case Concurrent:
		atomic.AddUint64(x, g)
	default:
		*x += g
	}
}
