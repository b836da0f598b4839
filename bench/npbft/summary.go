package main

import (
	"math"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

// summary is the runs of one variant, on rank 0.
type summary struct {
	runs           nas.Runs
	exchange       float64 // median seconds of the exchange, 0 if it was not run
	ranks, workers int
	engine, net    string
}

func newSummary(comm *mpi.Comm, c *config) *summary {
	s := &summary{ranks: comm.Size(), engine: (*engine.Comm)(comm).Engine().Name(), net: "real"}
	if s.engine == "local" {
		s.net = c.world.Net.String()
	}
	if c.machine != nil {
		s.net = c.machine.Network.Net.String()
	}
	return s
}

// verdict returns why a run is wrong, nil if none is.
func (s *summary) verdict() error {
	for _, run := range s.runs {
		if run.Verdict != nil {
			return run.Verdict
		}
	}
	return nil
}

// worst returns the largest relative difference of a checksum from its reference.
func (s *summary) worst(class nas.Class) (worst float64) {
	for _, run := range s.runs {
		if d := class.Worst(run.Sums); !(d <= worst) {
			worst = d
		}
	}
	if math.IsNaN(worst) || math.IsInf(worst, 0) {
		return math.MaxFloat64 // a result line has numbers only
	}
	return worst
}
