package main

import (
	"math"
	"strconv"
	"time"

	"github.com/weft-hpc/weft/mpi/local"
)

// balanced is the network whose bandwidth makes communication as long as computation.
const balanced = "balanced"

// defaultNets are the networks of the charts with one group of columns per network.
var defaultNets = []string{"gige", "10gige", "ib", balanced}

// checkNet reports a name that network will not know.
func checkNet(name string) error {
	if name == balanced {
		return nil
	}
	_, err := local.ParseNet(name)
	return err
}

// network returns the network of that name. The balanced one is measured first.
func (l *lab) network(name string) (local.Net, error) {
	if name != balanced {
		return local.ParseNet(name)
	}
	b, err := l.balance()
	if err != nil {
		return local.Net{}, err
	}
	return b.net(1, balancedLatency), nil
}

// balancedLatency and hostCost have the values of the preset gige.
const (
	balancedLatency = 25 * time.Microsecond
	hostCost        = time.Microsecond
)

// balance holds the times of a run without a network.
type balance struct {
	compute float64 // seconds of the timed part that are not communication
	bytes   float64 // that a rank sends, and receives, in it
}

// net returns a network whose bandwidth is factor times the balanced one.
func (b balance) net(factor float64, latency time.Duration) local.Net {
	return local.Net{Latency: latency, Overhead: hostCost, Gap: hostCost, Bandwidth: round3(factor * b.bytes / b.compute)}
}

// round3 rounds to three digits: networks have names that people read.
func round3(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return math.Max(short, 1e3)
}

// modeName is the progress mode as ParseNet has it.
func modeName(nic bool) string {
	if nic {
		return "nic"
	}
	return "host"
}
