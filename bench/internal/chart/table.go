package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// columns of a table: the series, what x and y are, and the ends of the spread.
const columns = 5

// WriteCSV writes the table of the chart.
func (l *Lines) WriteCSV(w io.Writer) error {
	if err := l.check(); err != nil {
		return err
	}
	rows := [][]string{heading(l.X, l.Y)}
	for _, s := range l.Series {
		for i, x := range s.X {
			rows = append(rows, append([]string{s.Label, number(x)}, ends(s.Y, s.Lo, s.Hi, i)...))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteCSV writes the table of the chart.
func (b *Bars) WriteCSV(w io.Writer) error {
	if err := b.check(); err != nil {
		return err
	}
	rows := [][]string{heading(b.X, b.Y)}
	for _, s := range b.Series {
		for i, g := range b.Groups {
			rows = append(rows, append([]string{s.Label, g}, ends(s.Y, s.Lo, s.Hi, i)...))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func heading(x, y Axis) []string { return []string{"series", x.text(), y.text(), "low", "high"} }

// number is the shortest text that is read back as v.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ends returns the last three columns of point i.
func ends(y, lo, hi []float64, i int) []string {
	if lo == nil {
		return []string{number(y[i]), "", ""}
	}
	return []string{number(y[i]), number(lo[i]), number(hi[i])}
}

// ReadLines reads the output of [Lines.WriteCSV], which lacks the features of the picture:
// the chart has no title, its axes are linear, and no series is a bound.
func ReadLines(r io.Reader) (*Lines, error) {
	l := &Lines{}
	err := readTable(r, &l.X, &l.Y, func(series, x string, y float64, spread []float64) error {
		at, err := strconv.ParseFloat(x, 64)
		if err != nil {
			return fmt.Errorf("x of series %q is %q, which is no number", series, x)
		}
		i := slices.IndexFunc(l.Series, func(s Series) bool { return s.Label == series })
		if i < 0 {
			i, l.Series = len(l.Series), append(l.Series, Series{Label: series})
		}
		s := &l.Series[i]
		s.X, s.Y = append(s.X, at), append(s.Y, y)
		if spread != nil {
			s.Lo, s.Hi = append(s.Lo, spread[0]), append(s.Hi, spread[1])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, l.check()
}

// ReadBars reads what [Bars.WriteCSV] has written; the title is not in it.
func ReadBars(r io.Reader) (*Bars, error) {
	b := &Bars{}
	err := readTable(r, &b.X, &b.Y, func(series, group string, y float64, spread []float64) error {
		if !slices.Contains(b.Groups, group) {
			b.Groups = append(b.Groups, group)
		}
		i := slices.IndexFunc(b.Series, func(s BarSeries) bool { return s.Label == series })
		if i < 0 {
			i, b.Series = len(b.Series), append(b.Series, BarSeries{Label: series})
		}
		s := &b.Series[i]
		if n := len(s.Y); n >= len(b.Groups) || b.Groups[n] != group {
			return fmt.Errorf("series %q has group %q out of order", series, group)
		}
		s.Y = append(s.Y, y)
		if spread != nil {
			s.Lo, s.Hi = append(s.Lo, spread[0]), append(s.Hi, spread[1])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b, b.check()
}

// readTable reads the axes, and calls point for every line of a table.
func readTable(r io.Reader, x, y *Axis, point func(series, x string, y float64, spread []float64) error) error {
	t := csv.NewReader(r)
	t.FieldsPerRecord = columns
	lines, err := t.ReadAll()
	if err != nil {
		return fmt.Errorf("table of a chart: %w", err)
	}
	if len(lines) == 0 || lines[0][0] != "series" || lines[0][3] != "low" || lines[0][4] != "high" {
		return fmt.Errorf("table of a chart: line 1 has to be series, x, y, low, high")
	}
	*x, *y = axisOf(lines[0][1]), axisOf(lines[0][2])
	for i, f := range lines[1:] {
		v, spread, err := parseEnds(f[2:])
		if err == nil {
			err = point(f[0], f[1], v, spread)
		}
		if err != nil {
			return fmt.Errorf("table of a chart, line %d: %w", i+2, err)
		}
	}
	return nil
}

// axisOf undoes Axis.text.
func axisOf(text string) Axis {
	if before, unit, ok := strings.Cut(text, " ["); ok && strings.HasSuffix(unit, "]") {
		return Axis{Title: before, Unit: strings.TrimSuffix(unit, "]")}
	}
	return Axis{Title: text}
}

// parseEnds undoes ends: the value, and the two ends of its spread, or nil.
func parseEnds(f []string) (y float64, spread []float64, err error) {
	for i, text := range f {
		if i > 0 && f[1] == "" && f[2] == "" {
			return y, nil, nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, nil, fmt.Errorf("%q is no number", text)
		}
		if i == 0 {
			y = v
		} else {
			spread = append(spread, v)
		}
	}
	return y, spread, nil
}
