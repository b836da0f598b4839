package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// logTicks marks the decades of a logarithmic axis; where there are few of them, also
// what lies between.
func logTicks(low, high float64) (ticks []plot.Tick) {
	decades := math.Log10(high / low)
	labelled := "1"
	switch {
	case decades < 1:
		labelled = "123456789"
	case decades < 2.5:
		labelled = "125"
	}
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	for e := first; e <= last; e++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow10(e)
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if strings.Contains(labelled, strconv.Itoa(m)) {
				t.Label = short(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// linearTicks marks some five round values, at 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) (ticks []plot.Tick) {
	step := roundStep((high - low) / 5)
	first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
	for i := first; i <= last; i++ {
		v := i * step
		ticks = append(ticks, plot.Tick{Value: v, Label: short(cleaned(v, step))})
	}
	return ticks
}

// roundStep returns 1, 2 or 5 times a power of ten, about v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	switch m := v / power; {
	case m < 1.5:
		return power
	case m < 3.5:
		return 2 * power
	case m < 7.5:
		return 5 * power
	}
	return 10 * power
}

// cleaned drops from a multiple of step the digits that are rounding errors.
func cleaned(v, step float64) float64 {
	digits := int(math.Max(0, 1-math.Floor(math.Log10(step))))
	c, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', digits, 64), 64)
	if err != nil || c == 0 {
		return 0
	}
	return c
}

// short is v as people write it: 25000, 1M, 125M, 10G, and u, n for small ones.
func short(v float64) string {
	abs := math.Abs(v)
	for _, p := range []struct {
		from, unit float64
		suffix     string
	}{{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}, {1e-3, 1, ""}, {1e-6, 1e-6, "u"}, {1e-9, 1e-9, "n"}} {
		if abs >= p.from*(1-1e-9) && abs < 1e12 {
			return strconv.FormatFloat(v/p.unit, 'g', 6, 64) + p.suffix
		}
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
