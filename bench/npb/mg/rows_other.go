//go:build !amd64 || !gc || purego || race

package mg

func addRows(sum, a, b, c, d []float64) { addPortable(sum, a, b, c, d) }

func residualRow(r, v, u, f, e []float64, a *[4]float64) { residualPortable(r, v, u, f, e, a) }

func smoothRow(u, r, f, e []float64, c *[4]float64) { smoothPortable(u, r, f, e, c) }

func interpolateRow(u, line []float64) { interpolatePortable(u, line) }
