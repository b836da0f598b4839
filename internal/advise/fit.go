package advise

import (
	"fmt"
	"math"
	"slices"
)

// sample is a value measured for a problem size and a number of ranks.
type sample struct{ size, ranks, value float64 }

// medians returns one sample for each size and number of ranks, the median of theirs: a run on a
// disturbed machine does not move the curves if there are three of its kind.
func medians(all []sample) (out []sample) {
	for _, s := range all {
		like := func(x sample) bool { return x.size == s.size && x.ranks == s.ranks }
		if slices.ContainsFunc(out, like) {
			continue
		}
		var values []float64
		for _, x := range all {
			if like(x) {
				values = append(values, x.value)
			}
		}
		slices.Sort(values)
		n := len(values)
		s.value = (values[(n-1)/2] + values[n/2]) / 2
		out = append(out, s)
	}
	return out
}

// Curve is a fitted value: Base + Scale * size^SizePower * ranks^RankPower.
type Curve struct {
	Base      float64 `json:"base"`
	Scale     float64 `json:"scale"`
	SizePower float64 `json:"size_power"`
	RankPower float64 `json:"rank_power"`
	Error     float64 `json:"error"` // weighted root mean square of the relative errors at the samples
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

// String writes the curve as a formula: "8 n", "50 + 2 n^2 p^-0.5".
func (c *Curve) String() string {
	if c.Scale == 0 {
		return fmt.Sprintf("%.3g", c.Base)
	}
	s := fmt.Sprintf("%.3g", c.Scale) + power("n", c.SizePower) + power("p", c.RankPower)
	if c.Base == 0 {
		return s
	}
	return fmt.Sprintf("%.3g + ", c.Base) + s
}

func power(of string, x float64) string {
	switch x {
	case 0:
		return ""
	case 1:
		return " " + of
	}
	return fmt.Sprintf(" %s^%.2g", of, x)
}

// fit finds the curve with the smallest relative errors (least squares, weighted by the
// values). It prefers a constant to a curve that is not much better, and a power of the size
// without a base to a power with a base. It tries powers of the ranks if their number varies.
func fit(all []sample) Curve {
	all = medians(all)
	return search(all, constant(all), sizePowers, 0.9)
}

// fitWork is fit for the time of computation: a whole power of the size, for edges, faces or
// volumes, unless another curve misses a quarter as much. Times of three sizes are too few, and too
// noisy, to tell n^2 from n^2.5, whose extrapolations to four times the size differ by two.
func fitWork(all []sample) Curve {
	all = medians(all)
	known := search(all, constant(all), []float64{0, 1, 2, 3}, 0.9)
	return search(all, known, sizePowers, 0.25)
}

// search returns the best curve with some powers of the size, if its error is less than a fraction of
// that of a known one.
func search(all []sample, known Curve, powers []float64, fraction float64) Curve {
	if !varies(all, func(s sample) float64 { return s.size }) && !varies(all, func(s sample) float64 { return s.ranks }) {
		return known
	}
	ranks := rankPowers[:1]
	if varies(all, func(s sample) float64 { return s.ranks }) {
		ranks = rankPowers
	}
	best, limit := known, fraction*known.Error
	for _, withBase := range []bool{false, true} {
		if withBase && len(all) < 3 {
			break
		}
		for _, k := range powers {
			for _, m := range ranks {
				if k == 0 && m == 0 {
					continue
				}
				if c, ok := fitPowers(all, k, m, withBase); ok && c.Error < limit-1e-12 {
					best, limit = c, 0.9*c.Error
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
	c, sum := Curve{}, 0.0
	weights := weigh(all)
	for i, s := range all {
		c.Base, sum = c.Base+s.value*weights[i], sum+weights[i]
	}
	c.Base /= math.Max(sum, 1e-12)
	c.Error = misses(&c, all)
	return c
}

// weigh returns the weights of relative errors: large runs tell more about still larger ones.
func weigh(all []sample) []float64 {
	largest := 0.0
	for _, s := range all {
		largest = math.Max(largest, s.size)
	}
	weights := make([]float64, len(all))
	for i, s := range all {
		weights[i] = s.size / largest
	}
	return weights
}

// misses returns the weighted root mean square of the relative errors.
func misses(c *Curve, all []sample) float64 {
	sum, total := 0.0, 0.0
	for i, w := range weigh(all) {
		d := (c.At(all[i].size, all[i].ranks) - all[i].value) / math.Max(math.Abs(all[i].value), 1e-12)
		sum, total = sum+w*w*d*d, total+w*w
	}
	return math.Sqrt(sum / math.Max(total, 1e-12))
}

// fitPowers fits base and scale for given powers; ok is false if one of them is negative.
func fitPowers(all []sample, k, m float64, withBase bool) (c Curve, ok bool) {
	c.SizePower, c.RankPower = k, m
	var ww, wx, xx, wy, xy float64
	weights := weigh(all)
	for i, s := range all {
		w := weights[i] / math.Max(math.Abs(s.value), 1e-12)
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

// line fits y = base + slope*x, neither negative. x and y are samples of the same runs.
func line(x, y []sample) (base, slope float64) {
	x, y = medians(x), medians(y)
	all := make([]sample, len(x))
	for i := range x {
		all[i] = sample{size: math.Max(x[i].value, 1e-12), ranks: 1, value: y[i].value}
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
