// Package report is how a bench program speaks: result lines for programs that read
// them, and one line on a terminal that says how far a long run has come.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Line prints a result line: pairs of key=value in plain decimals and base units.
// Nothing else that a bench program prints starts with "result".
func Line(w io.Writer, pairs ...string) {
	fmt.Fprintln(w, "result", strings.Join(pairs, " "))
}

// Decimal is a pair with seven significant digits and no exponent.
func Decimal(key string, v float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 7, 64), 64)
	return key + "=" + strconv.FormatFloat(short, 'f', -1, 64)
}

// Integer is a pair with an integer value.
func Integer[N int | int64](key string, v N) string {
	return key + "=" + strconv.FormatInt(int64(v), 10)
}

// Text is a pair with a word for its value; blanks in it become underscores.
func Text(key, v string) string {
	if v == "" {
		v = "none"
	}
	return key + "=" + strings.Join(strings.Fields(v), "_")
}

// Parse reads a result line; ok is false if the line is none.
func Parse(line string) (pairs map[string]string, ok bool) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "result" {
		return nil, false
	}
	pairs = map[string]string{}
	for _, w := range words[1:] {
		key, value, found := strings.Cut(w, "=")
		if !found || key == "" {
			return nil, false
		}
		pairs[key] = value
	}
	return pairs, true
}

// Figures returns the numbers under key in all result lines of text, in order.
func Figures(text, key string) (values []float64) {
	for line := range strings.Lines(text) {
		if pairs, ok := Parse(line); ok {
			if v, err := strconv.ParseFloat(pairs[key], 64); err == nil {
				values = append(values, v)
			}
		}
	}
	return values
}

// TracedRanks is the number of ranks in a trace, the first ones: a page with more cannot be read.
const TracedRanks = 16

// Median returns the middle of values, or the mean of the two middle ones; 0 of none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Mean returns the arithmetic mean; 0 of none.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
