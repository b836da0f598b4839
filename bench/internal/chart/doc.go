// Package chart writes the figures of a bench program as a picture and as a table:
// one call makes NAME.svg and NAME.csv with the same data.
//
//	err := (&chart.Lines{
//		Title:  "LINPACK on two ranks",
//		X:      chart.Axis{Title: "bandwidth", Unit: "bytes/s", Log: true},
//		Y:      chart.Axis{Title: "speed", Unit: "GFLOP/s"},
//		Series: []chart.Series{{Label: "task", X: x, Y: y, Lo: lo, Hi: hi}},
//	}).Write("results/bandwidth")
//
// Lines are curves with a marker at each measured point and, where Lo and Hi are given,
// a bar from one to the other. Bars are groups of columns, or of marks where the axis is
// logarithmic. Axes have a title and a unit, a legend stands beside the data, a note at the
// foot says on what machine it was, and colours can be told apart by people who do not see
// all of them (Okabe and Ito, "Color Universal Design", 2008). Seconds and bytes on a
// logarithmic axis are written as 10 µs and 64 KiB, with ticks at powers of ten and of two.
//
// A table has one line per point, with the columns series, x, y, low and high, where
// the header names what x and y are. ReadLines and ReadBars read it back, with nothing
// lost: a picture can be drawn again later, or several tables put into one.
//
// What cannot be drawn is refused before anything is written: no points, a series
// without a label, values that are no numbers, 0 or less on a logarithmic axis.
//
// The drawing is done by gonum.org/v1/plot: pure Go, maintained, vector output, text
// that stays text. The package has no goroutines and no shared state: any goroutine may
// write its own charts.
package chart
