package advise

import (
	"fmt"
	"math"
)

// sample is a value measured for a problem size and a number of ranks.
type sample struct{ size, ranks, value float64 }

// Curve is a fitted value: Base + Scale * size^SizePower * ranks^RankPower.
type Curve struct {
	Base      float64 `json:"base"`
	Scale     float64 `json:"scale"`
	SizePower float64 `json:"size_power"`
	RankPower float64 `json:"rank_power"`
	Error     float64 `json:"error"` // root mean square of the relative errors at the samples
}

// Powers that a curve may have: of edges, faces and volumes, and of shares of ranks in one,
// two or three dimensions.
var (
	sizePowers = []float64{0, 0.5, 1, 1.5, 2, 2.5, 3}
	rankPowers = []float64{0, -1.0 / 3, -0.5, -2.0 / 3, -1, 1.0 / 3, 0.5, 1}
)

// At returns the value for a size and a number of ranks.
func (c *Curve) At(size, ranks float64) float64 {
	return c.Base + c.Scale*math.Pow(size, c.SizePower)*math.Pow(ranks, c.RankPower)
}

// String writes the curve as a formula.
func (c *Curve) String() string {
	s := fmt.Sprintf("%.3g", c.Base)
	if c.Scale == 0 {
		return s
	}
	s += fmt.Sprintf(" + %.3g n^%.3g", c.Scale, c.SizePower)
	if c.RankPower != 0 {
		s += fmt.Sprintf(" p^%.3g", c.RankPower)
	}
	return s
}

// fit finds the curve with the smallest relative errors (least squares, weighted by the
// values). It prefers a constant to a curve that is not much better, and a power of the size
// without a base to a power with a base. It tries powers of the ranks if their number varies.
func fit(all []sample) Curve {
	best := constant(all)
	if !varies(all, func(s sample) float64 { return s.size }) && !varies(all, func(s sample) float64 { return s.ranks }) {
		return best
	}
	ranks := rankPowers[:1]
	if varies(all, func(s sample) float64 { return s.ranks }) {
		ranks = rankPowers
	}
	for _, withBase := range []bool{false, true} {
		if withBase && len(all) < 3 {
			break
		}
		for _, k := range sizePowers {
			for _, m := range ranks {
				if k == 0 && m == 0 {
					continue
				}
				if c, ok := fitPowers(all, k, m, withBase); ok && c.Error < 0.9*best.Error-1e-12 {
					best = c
				}
			}
		}
	}
	return best
}

func varies(all []sample, of func(sample) float64) bool {
	for _, s := range all {
		if of(s) != of(all[0]) {
			return true
		}
	}
	return false
}

func constant(all []sample) Curve {
	c := Curve{}
	for _, s := range all {
		c.Base += s.value / float64(len(all))
	}
	c.Error = misses(&c, all)
	return c
}

// misses returns the root mean square of the relative errors.
func misses(c *Curve, all []sample) float64 {
	sum := 0.0
	for _, s := range all {
		d := c.At(s.size, s.ranks) - s.value
		sum += d * d / math.Max(s.value*s.value, 1e-24)
	}
	return math.Sqrt(sum / float64(max(len(all), 1)))
}

// fitPowers fits base and scale for given powers; ok is false if one of them is negative.
func fitPowers(all []sample, k, m float64, withBase bool) (c Curve, ok bool) {
	c.SizePower, c.RankPower = k, m
	var ww, wx, xx, wy, xy float64
	for _, s := range all {
		w := 1 / math.Max(math.Abs(s.value), 1e-12)
		x := math.Pow(s.size, k) * math.Pow(s.ranks, m) * w
		ww, wx, xx, wy, xy = ww+w*w, wx+w*x, xx+x*x, wy+w*s.value*w, xy+x*s.value*w
	}
	if !withBase {
		if xx == 0 {
			return c, false
		}
		c.Scale = xy / xx
	} else {
		det := ww*xx - wx*wx
		if det <= 1e-12*ww*xx {
			return c, false
		}
		c.Base, c.Scale = (xx*wy-wx*xy)/det, (ww*xy-wx*wy)/det
	}
	c.Error = misses(&c, all)
	return c, c.Base >= 0 && c.Scale >= 0
}

// line fits y = base + slope*x, neither negative, with equal relative weights.
func line(x, y []float64) (base, slope float64) {
	all := make([]sample, len(x))
	for i := range x {
		all[i] = sample{size: math.Max(x[i], 1e-12), ranks: 1, value: y[i]}
	}
	flat := constant(all)
	if varies(all, func(s sample) float64 { return s.size }) {
		if c, ok := fitPowers(all, 1, 0, true); ok {
			return c.Base, c.Scale
		}
		if c, ok := fitPowers(all, 1, 0, false); ok && c.Error < flat.Error {
			return 0, c.Scale
		}
	}
	return flat.Base, 0
}
