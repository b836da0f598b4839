package main

import (
	"fmt"
	"strings"
)

// unsteady is how many times the least figure the most may be without a note.
const unsteady = 1.5

// notes lists how the sides of a contest differ: a reader must not mistake a difference in
// kernels or cores for a difference between the programs.
func (o *outcome) notes() (notes []string) {
	ours := o.sides[0]
	for i, s := range o.sides[1:] {
		notes = append(notes, differences(ours, s, o.kernelRate(0), o.kernelRate(i+1))...)
	}
	for i, s := range o.sides {
		if f := figuresOf(o.values(i)); f.top > unsteady*f.least {
			notes = append(notes, fmt.Sprintf("**Unsteady**: %s varied from %s to %s %s between rounds: something else ran, and the medians are rough.", s.name, short(f.least), short(f.top), o.unit))
		}
		if s.remark != "" {
			notes = append(notes, s.name+": "+s.remark+".")
		}
	}
	return notes
}

func differences(a, b *side, rateA, rateB float64) (notes []string) {
	if a.cores != b.cores {
		notes = append(notes, fmt.Sprintf("**Different numbers of cores**: %s has %d, %s %d.", a.name, a.cores, b.name, b.cores))
	}
	if a.layout != b.layout {
		notes = append(notes, fmt.Sprintf("Different layouts: %s is %s; %s is %s.", a.name, a.layout, b.name, b.layout))
	}
	if a.kernel.name == b.kernel.name {
		return notes
	}
	note := fmt.Sprintf("**Different kernels**: %s (%s) and %s (%s)", a.kernel.name, rateText(rateA), b.kernel.name, rateText(rateB))
	if rateA > 0 && rateB > 0 {
		note += fmt.Sprintf(": a ratio of %.2f has nothing to do with the programs around them", rateA/rateB)
	} else {
		note += ": how much of the ratio is theirs is not known"
	}
	return append(notes, note+".")
}

// rateText is the speed of a kernel in words.
func rateText(rate float64) string {
	if rate == 0 {
		return "speed not measured"
	}
	return fmt.Sprintf("%s GFLOP/s on one core", short(rate))
}

// short is a number with three digits or a little more.
func short(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return strings.TrimRight(fmt.Sprintf("%.4f", v), "0")
}
