package local

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Net is a simulated network: the cost of a message between any two ranks in the LogGP
// model. The zero value is no network: ranks share memory. Each rank has a link of its own,
// which sends and receives at the same time.
type Net struct {
	Name      string        // of the preset, "" without one
	Latency   time.Duration // L: from link to link
	Overhead  time.Duration // o: of the host, to send and to receive a message
	Gap       time.Duration // g: least time between the starts of two messages of a rank
	Bandwidth float64       // 1/G: bytes per second, per rank and direction; 0: unlimited
	NIC       bool          // messages advance by themselves; otherwise only while their ranks are in calls
}

var presets = map[string]Net{
	"none":   {},
	"gige":   {Name: "gige", Latency: 25 * time.Microsecond, Overhead: time.Microsecond, Gap: time.Microsecond, Bandwidth: 125e6},
	"10gige": {Name: "10gige", Latency: 10 * time.Microsecond, Overhead: time.Microsecond, Gap: time.Microsecond, Bandwidth: 1.25e9},
	"ib":     {Name: "ib", Latency: 1500 * time.Nanosecond, Overhead: 300 * time.Nanosecond, Gap: 200 * time.Nanosecond, Bandwidth: 12.5e9},
}

// ParseNet reads a network: a preset (none, gige, 10gige, ib) or L=20us,o=1us,g=1us,
// bw=1Gbit,progress=host|nic, or a preset followed by such settings. Durations have the form
// of time.ParseDuration; bandwidths are in bits per second (bit, kbit, Mbit, Gbit), 0 for
// unlimited. A missing setting is taken from the preset; without a preset it is 0, or host.
// ParseNet reads the text of [Net.String].
func ParseNet(text string) (Net, error) {
	var n Net
	given := map[string]bool{}
	for i, field := range strings.Split(text, ",") {
		name, value, setting := strings.Cut(strings.TrimSpace(field), "=")
		if !setting {
			p, known := presets[name]
			if i > 0 || !known {
				return Net{}, fmt.Errorf("network %q: %q is no preset at its beginning (none, gige, 10gige, ib) and no setting (L=, o=, g=, bw=, progress=)", text, field)
			}
			n = p
			continue
		}
		if given[name] {
			return Net{}, fmt.Errorf("network %q: %s is given twice", text, name)
		}
		given[name] = true
		if err := n.set(name, value); err != nil {
			return Net{}, fmt.Errorf("network %q: %w", text, err)
		}
	}
	return n, nil
}

func (n *Net) set(name, value string) (err error) {
	switch name {
	case "L":
		n.Latency, err = parseTime(value)
	case "o":
		n.Overhead, err = parseTime(value)
	case "g":
		n.Gap, err = parseTime(value)
	case "bw":
		n.Bandwidth, err = parseBandwidth(value)
	case "progress":
		n.NIC = value == "nic"
		if !n.NIC && value != "host" {
			err = fmt.Errorf("it is host or nic")
		}
	default:
		return fmt.Errorf("%q is no setting: there are L, o, g, bw and progress", name)
	}
	if err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return nil
}

// longestTime keeps sums of times from overflowing.
const longestTime = 24 * time.Hour

func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && (d < 0 || d > longestTime) {
		err = fmt.Errorf("a time is at least 0, and at most a day")
	}
	return d, err
}

var bitUnits = []struct {
	name string
	bits float64
}{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

// slowest is the least bandwidth in bits per second. It keeps wire times from overflowing.
const slowest = 1e3

func parseBandwidth(s string) (bytesPerSecond float64, err error) {
	number, unit := s, 1.0
	for _, u := range bitUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = n, u.bits
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	x *= unit
	if err == nil && (math.IsNaN(x) || x != 0 && x < slowest || x > 1e15) {
		err = fmt.Errorf("a bandwidth is 0 (unlimited) or from 1kbit to 1000000Gbit per second")
	}
	return x / 8, err
}

// String returns all values of the network in the form of ParseNet: "gige,L=25us,o=1us,
// g=1us,bw=1Gbit,progress=host".
func (n Net) String() string {
	name := n.Name
	if n == (Net{}) {
		return "none"
	}
	if name != "" {
		name += ","
	}
	progress := "host"
	if n.NIC {
		progress = "nic"
	}
	return fmt.Sprintf("%sL=%s,o=%s,g=%s,bw=%s,progress=%s", name, timeText(n.Latency), timeText(n.Overhead), timeText(n.Gap), bandwidthText(n.Bandwidth), progress)
}

// timeText is Duration.String in ASCII.
func timeText(d time.Duration) string { return strings.Replace(d.String(), "µs", "us", 1) }

func bandwidthText(bytesPerSecond float64) string {
	bits := bytesPerSecond * 8
	for _, u := range bitUnits {
		if bits >= u.bits {
			return strconv.FormatFloat(bits/u.bits, 'g', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(bits, 'g', -1, 64)
}

// Network puts a simulated network between the ranks.
func Network(n Net) Option {
	return func(w *World) error {
		if n.Latency < 0 || n.Overhead < 0 || n.Gap < 0 || n.Bandwidth < 0 || math.IsNaN(n.Bandwidth) || n.Bandwidth > 0 && n.Bandwidth < slowest/8 {
			return fmt.Errorf("mpi/local: network %v: times and bandwidth are at least 0", n)
		}
		w.net = n
		w.timed = w.timed || n != Net{}
		w.bypassRings = w.bypassRings || w.timed
		return nil
	}
}

// Nodes puts so many ranks on each node, one node filled after the other. The ranks of a node
// share its link to the network; among each other they have another network, inside, with a
// link each. Ranks of one node have the same host (mpi.Comm.SplitShared). The default is one
// node without a shared link: the network is between all ranks.
func Nodes(ranks int, inside Net) Option {
	return func(w *World) error {
		if ranks < 1 {
			return fmt.Errorf("mpi/local: %d ranks on a node: there is at least 1", ranks)
		}
		w.perNode, w.inside = ranks, inside
		return nil
	}
}

// wireTime returns n*G.
func (n *Net) wireTime(bytes int) int64 {
	if n.Bandwidth == 0 {
		return 0
	}
	return int64(float64(bytes) / n.Bandwidth * 1e9)
}
