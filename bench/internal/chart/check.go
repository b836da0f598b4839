package chart

import (
	"fmt"
	"math"
)

// check says why the chart cannot be drawn.
func (l *Lines) check() error {
	if err := checkAxes(l.X, l.Y); err != nil {
		return err
	}
	if len(l.Series) == 0 {
		return fmt.Errorf("there is no series")
	}
	seen := map[string]bool{}
	for i, s := range l.Series {
		if s.Of != "" && !seen[s.Of] {
			return fmt.Errorf("series %q belongs to %q, and no series before it has that label", s.Label, s.Of)
		}
		if err := checkLabel(seen, i, s.Label); err != nil {
			return err
		}
		if len(s.X) == 0 || len(s.X) != len(s.Y) {
			return fmt.Errorf("series %q has %d x and %d y: it needs as many of both, at least one", s.Label, len(s.X), len(s.Y))
		}
		if err := checkValues(s.Label, "x", l.X, s.X); err != nil {
			return err
		}
		if err := checkSpread(s.Label, l.Y, s.Y, s.Lo, s.Hi); err != nil {
			return err
		}
	}
	return nil
}

// check says why the chart cannot be drawn.
func (b *Bars) check() error {
	if err := checkAxes(b.X, b.Y); err != nil {
		return err
	}
	if b.X.Log {
		return fmt.Errorf("groups stand side by side: their axis is not logarithmic")
	}
	if len(b.Groups) == 0 || len(b.Series) == 0 {
		return fmt.Errorf("there are %d groups and %d series: it needs one of each at least", len(b.Groups), len(b.Series))
	}
	seen := map[string]bool{}
	for i, g := range b.Groups {
		if g == "" || seen[g] {
			return fmt.Errorf("group %d is named %q: every group needs a name of its own", i, g)
		}
		seen[g] = true
	}
	seen = map[string]bool{}
	for i, s := range b.Series {
		if err := checkLabel(seen, i, s.Label); err != nil {
			return err
		}
		if len(s.Y) != len(b.Groups) {
			return fmt.Errorf("series %q has %d values for %d groups", s.Label, len(s.Y), len(b.Groups))
		}
		if err := checkSpread(s.Label, b.Y, s.Y, s.Lo, s.Hi); err != nil {
			return err
		}
	}
	return nil
}

func checkAxes(x, y Axis) error {
	if x.Title == "" || y.Title == "" {
		return fmt.Errorf("an axis has no title: x %q, y %q", x.Title, y.Title)
	}
	if y.Log && y.Mark < 0 {
		return fmt.Errorf("the mark at %v has no place on the logarithmic axis %q", y.Mark, y.Title)
	}
	return nil
}

// checkLabel sees that series number i has a label that no other one has.
func checkLabel(seen map[string]bool, i int, label string) error {
	if label == "" || seen[label] {
		return fmt.Errorf("series %d has the label %q: every series needs one of its own", i, label)
	}
	seen[label] = true
	return nil
}

// checkSpread looks at the values of a series, and that their spread is around them.
func checkSpread(label string, axis Axis, y, lo, hi []float64) error {
	if err := checkValues(label, "y", axis, y); err != nil {
		return err
	}
	if lo == nil && hi == nil {
		return nil
	}
	if len(lo) != len(y) || len(hi) != len(y) {
		return fmt.Errorf("series %q has %d values, %d lower and %d upper ends: it needs as many of each, or no ends", label, len(y), len(lo), len(hi))
	}
	if err := checkValues(label, "lower end", axis, lo); err != nil {
		return err
	}
	if err := checkValues(label, "upper end", axis, hi); err != nil {
		return err
	}
	for i := range y {
		if lo[i] > y[i] || y[i] > hi[i] {
			return fmt.Errorf("series %q: point %d, %v, is not between its ends %v and %v", label, i, y[i], lo[i], hi[i])
		}
	}
	return nil
}

func checkValues(label, what string, axis Axis, values []float64) error {
	for i, v := range values {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("series %q: %s of point %d is %v", label, what, i, v)
		case axis.Log && v <= 0:
			return fmt.Errorf("series %q: %s of point %d is %v, and the axis %q is logarithmic: only positive values have a place on it", label, what, i, v, axis.Title)
		}
	}
	return nil
}
