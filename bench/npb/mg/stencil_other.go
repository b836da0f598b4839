//go:build !amd64 || !gc || purego || race

package mg

func wide() bool { return false }

func residualWide(_, _, _ *Grid, _ *[4]float64, _ int) {}

func smoothWide(_, _ *Grid, _ *[4]float64, _ int) {}

func restrictWide(_ []float64, _ *Grid, _, _ int) {}

func interpolateWide(_ []float64, _ *[4][]float64, _ int) {}
