package chart

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// Units whose values are written with prefixes of their own.
const (
	seconds = "s"
	octets  = "bytes"
)

// prefixed reports whether the ticks have the unit with them, like 10 ms and 64 KiB.
func (a Axis) prefixed() bool { return a.Log && (a.Unit == seconds || a.Unit == octets) }

// beside is the title of the axis in a picture.
func (a Axis) beside() string {
	if a.prefixed() {
		return a.Title
	}
	return a.text()
}

// value is v as people write it, in three digits, or four of bytes: 1023 KiB.
func (a Axis) value(v float64) string {
	if a.Unit == octets {
		return inBytes(v)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if a.Unit == seconds {
		return inSeconds(v)
	}
	return short(v)
}

// ticker chooses the ticks.
func (a Axis) ticker() plot.TickerFunc {
	switch {
	case !a.Log:
		return linearTicks
	case a.Unit == octets:
		return binaryTicks
	case a.Unit == seconds:
		return func(low, high float64) []plot.Tick { return logTicks(low, high, inSeconds) }
	}
	return func(low, high float64) []plot.Tick { return logTicks(low, high, short) }
}

// binaryTicks marks powers of two and labels every one, or every second, third and so on
// if that takes more than eight labels.
func binaryTicks(low, high float64) (ticks []plot.Tick) {
	first, last := int(math.Ceil(math.Log2(low)-1e-9)), int(math.Floor(math.Log2(high)+1e-9))
	step := 1
	for _, step = range []int{1, 2, 5, 10, 20} {
		if (last-first)/step < 8 {
			break
		}
	}
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Ldexp(1, e)}
		if e%step == 0 {
			t.Label = inBytes(t.Value)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// logTicks marks the decades of a logarithmic axis; where there are few of them, also
// what lies between.
func logTicks(low, high float64, label func(float64) string) (ticks []plot.Tick) {
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
				t.Label = label(v)
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

// inSeconds is v seconds as people write them: 10 ms.
func inSeconds(v float64) string {
	for _, p := range []struct {
		unit   float64
		suffix string
	}{{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}} {
		if math.Abs(v) >= p.unit*(1-1e-9) {
			return strconv.FormatFloat(v/p.unit, 'g', 6, 64) + p.suffix
		}
	}
	return strconv.FormatFloat(v, 'g', 6, 64) + " s"
}

// inBytes is v bytes as people write them: 64 KiB.
func inBytes(v float64) string {
	for i, suffix := range []string{" TiB", " GiB", " MiB", " KiB"} {
		if unit := math.Ldexp(1, 40-10*i); math.Abs(v) >= unit {
			return strconv.FormatFloat(v/unit, 'g', 4, 64) + suffix
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + " B"
}
