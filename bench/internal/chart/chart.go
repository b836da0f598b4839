package chart

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Axis describes an axis.
type Axis struct {
	Title string // the quantity: "order of the matrix"
	Unit  string // of the values; "" for pure numbers
	Log   bool   // logarithmic: all values are positive

	// Tight lets a linear axis cover the values only. Otherwise it has 0 on it, so that
	// twice as much looks twice as much.
	Tight bool

	// Mark is where a thin dark line crosses the picture, for what divides good from bad:
	// 1 on an axis of ratios. Of y only; 0: none.
	Mark float64
}

// text is what stands beside the axis, and above the column of the table.
func (a Axis) text() string {
	if a.Unit == "" {
		return a.Title
	}
	return a.Title + " [" + a.Unit + "]"
}

// Series is a curve of [Lines].
type Series struct {
	Label string
	X, Y  []float64 // as many; drawn in this order
	// Lo and Hi are the ends of the spread at each point, as many as X, or nil: none.
	Lo, Hi []float64
	// Bound draws a dashed line without markers: for a model or a limit, not for
	// something measured. The table does not tell.
	Bound bool
	// Of is the label of an earlier series that this one belongs to, or "": it has the
	// same colour, in dashes and with hollow markers. For the same thing under another
	// condition, or for its bound. The table does not tell.
	Of string
}

// Lines is a chart of curves. Where several have the same x, the picture has them a point
// apart, so that their spreads do not hide each other.
type Lines struct {
	Title  string
	Note   string // small, at the foot of the picture: the machine; "": none
	X, Y   Axis
	Series []Series
}

// BarSeries is one column of each group of [Bars], in one colour.
type BarSeries struct {
	Label  string
	Y      []float64 // one value per group
	Lo, Hi []float64 // ends of the spread, one per group, or nil: none
}

// Bars is a chart of groups of columns. Columns stand on 0, which no logarithmic axis has:
// where Y is logarithmic, each value is a mark at its height. Values without a spread are
// written above their columns or marks, where there is room.
type Bars struct {
	Title  string
	Note   string   // small, at the foot of the picture: the machine; "": none
	X, Y   Axis     // X.Title names the groups; X is not logarithmic
	Groups []string // names, from left to right
	Series []BarSeries
}

// Write writes base.csv and base.svg, making the folder of base if it is not there.
// It blocks on the disk. A chart that cannot be drawn writes nothing.
func (l *Lines) Write(base string) error { return write(base, l) }

// Write writes base.csv and base.svg, making the folder of base if it is not there.
// It blocks on the disk. A chart that cannot be drawn writes nothing.
func (b *Bars) Write(base string) error { return write(base, b) }

// figure is either kind of chart.
type figure interface {
	check() error
	WriteCSV(io.Writer) error
	WriteSVG(io.Writer) error
}

func write(base string, f figure) error {
	var table, picture bytes.Buffer
	if err := f.WriteCSV(&table); err != nil {
		return fmt.Errorf("chart %s: %w", base, err)
	}
	if err := f.WriteSVG(&picture); err != nil {
		return fmt.Errorf("chart %s: %w", base, err)
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(base+".csv", table.Bytes(), 0o666); err != nil {
		return err
	}
	return os.WriteFile(base+".svg", picture.Bytes(), 0o666)
}
