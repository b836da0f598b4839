package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/hplrun"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl"
)

// choice holds the parameters that are searched for each driver.
type choice struct {
	nb   int
	cast hpl.Broadcast
}

// choiceKey is a point and a driver.
type choiceKey struct {
	point
	driver
}

// casts are the broadcasts worth a try: with few ranks in a row the others are like
// one of them.
var casts = []hpl.Broadcast{hpl.RingModified, hpl.Ring, hpl.Long}

// tune returns the block size and the broadcast with which a driver is fastest at a
// point: the best block size with the first broadcast, then the best broadcast with
// that. Each try is the median of a few runs. What has been found is kept.
func (c *config) tune(p point, d driver) (choice, error) {
	key := choiceKey{p, d}
	if found, ok := c.best[key]; ok {
		return found, nil
	}
	tries := map[choice]float64{}
	var best choice
	try := func(x choice) error {
		c.progress.Say("%s, grid %dx%d, N=%d, %v: search, NB=%d", d.label, p.grid.P, p.grid.Q, p.n, p.net, x.nb)
		speed, err := c.try(p, d, x)
		tries[x] = speed
		if best.nb == 0 || speed > tries[best] {
			best = x
		}
		return err
	}
	alone := len(c.nb) == 1 && c.quick
	for _, nb := range c.nb {
		if alone {
			best = choice{nb, casts[0]}
			break
		}
		if err := try(choice{nb, casts[0]}); err != nil {
			return best, err
		}
	}
	if p.grid.Q > 1 && !alone {
		nb := best.nb
		for _, cast := range casts[1:] {
			if err := try(choice{nb, cast}); err != nil {
				return best, err
			}
		}
	}
	c.best[key] = best
	if len(tries) > 1 {
		c.progress.Clear()
		fmt.Fprintf(c.out, "search, %s, grid %dx%d, N=%d, %v:", d.label, p.grid.P, p.grid.Q, p.n, p.net)
		c.printTries(tries, best)
	}
	return best, nil
}

// enough is how long one try of a search runs, in seconds of the solver, unless it has had triesEach
// runs: one run of a millisecond says little.
const (
	enough    = 0.1
	triesEach = 15
)

// try returns the median of GFLOP/s of a few runs.
func (c *config) try(p point, d driver, x choice) (float64, error) {
	var speeds []float64
	s := sample{point: p, driver: d, choice: x}
	for seconds := 0.0; seconds < enough && len(speeds) < triesEach; {
		r, err := c.once(&s, nil)
		if err != nil {
			return 0, err
		}
		seconds += r.Seconds
		speeds = append(speeds, r.GFlops)
	}
	return report.Median(speeds), nil
}

// printTries prints a search on the rest of a line.
func (c *config) printTries(tries map[choice]float64, best choice) {
	for _, nb := range c.nb {
		for _, cast := range casts {
			if speed, ok := tries[choice{nb, cast}]; ok {
				fmt.Fprintf(c.out, " %d/%s %.1f", nb, hplrun.Broadcasts[cast], speed)
			}
		}
	}
	fmt.Fprintf(c.out, " GFLOP/s; best NB=%d BCAST=%s\n", best.nb, hplrun.Broadcasts[best.cast])
}
