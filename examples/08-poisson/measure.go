package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/weft-hpc/weft/dataflow"
)

// timed returns the seconds of one solution, the best of five.
func timed(n, workers int) (seconds float64, err error) {
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		for i := range 5 {
			start := time.Now()
			if _, err := solve(rt, n, spectral(n)); err != nil {
				return err
			}
			if t := time.Since(start).Seconds(); i == 0 || t < seconds {
				seconds = t
			}
		}
		return nil
	}, dataflow.Workers(workers))
	return seconds, err
}

// verdict prints the last line, or returns it as an error.
func verdict(o options, exact, differences float64) error {
	worst := 1e-12
	if o.n < 32 {
		worst = 1e-3 // few points do not hold all frequencies
	}
	text := fmt.Sprintf("with %d points a side the spectral error is %.1e (limit %.0e), that of differences %.1e", o.n, exact, worst, differences)
	if !(exact < worst) || !(differences > 10*exact) {
		return errors.New("FAILED: " + text)
	}
	fmt.Println("ok: " + text)
	return nil
}
