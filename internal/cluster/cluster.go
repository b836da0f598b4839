// Package cluster describes simulated machines: how many nodes and cores there are, how fast
// the cores compute, and what the network costs. A description is a preset or a machine file,
// JSON with the fields of [Machine]:
//
//	{
//	  "name": "two racks",
//	  "source": "measured on 3 March",
//	  "nodes": 16, "cores": 8,
//	  "network": "L=2us,o=300ns,g=200ns,bw=100Gbit,progress=nic",
//	  "inside": "L=400ns,o=200ns,g=0s,bw=80Gbit,progress=host",
//	  "eager": 16384,
//	  "speed": 1,
//	  "kernels": {"gflops": 40, "efficiency": 0.9, "half": 12, "memory": 10,
//	              "cache": 1, "cached": 40, "line": 4, "call": 0.1, "fft": 30}
//	}
//
// The fields nodes, cores and network are required.
//
// Not simulated: workers that make MPI calls in place of the communication thread (the lease). Where
// a rank's workers have a core each, a real run makes them and a simulated one does not, and
// messages in tasks are predicted cheaper than they are.
package cluster

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/mpi/local"
)

// Machine describes a simulated machine.
type Machine struct {
	Name   string `json:"name"`   // for the first line of an output; default: the name of the file
	Source string `json:"source"` // where the numbers come from

	Nodes int `json:"nodes"` // computers, from 1 on
	Cores int `json:"cores"` // of each node, from 1 to 1024

	Network Net     `json:"network"` // between nodes: all ranks of a node share its link
	Inside  Net     `json:"inside"`  // between ranks of a node, each with its own link; default: no time
	Copy    float64 `json:"copy"`    // rate in 1e9 bytes per second at which cores copy messages whose data are modelled, or move them over TCP; default: adapters move them
	Eager   *int    `json:"eager"`   // messages up to this many bytes do not wait for their receive; default: the engine's limit

	// Computation takes its time on this machine, multiplied by Speed; default 1. With 0, only
	// the kernels take time.
	Speed *float64 `json:"speed"`

	// The speeds of the cores, node by node, as multiples of what kernels and speed say; with fewer than
	// there are cores, from the first one again. Default: 1.
	Speeds []float64 `json:"speeds,omitempty"`

	// A thread that computes loses its core to the system for noise_length in every noise_every.
	// Default: no noise.
	NoiseEvery  Duration `json:"noise_every"`
	NoiseLength Duration `json:"noise_length"`

	// The wake-up of a thread that has slept for longer than threads spin (100 us): the cost to
	// the waker, and the delay of the sleeper. Default: nothing.
	Waker   Duration `json:"waker"`
	Sleeper Duration `json:"sleeper"`
	// What a core loses when a thread that has slept goes on there after another one. Default: nothing.
	Switch Duration `json:"switch"`

	// The runtime's work for a task, where computing is not timed: to spawn it, and to start and
	// end it. Default: no time.
	Spawn Duration `json:"spawn"`
	Task  Duration `json:"task"`

	Kernels Kernels `json:"kernels"` // of a core, for programs that do not compute but only take the time
}

// Kernels is a model of the numerical kernels on a core.
type Kernels struct {
	GFlops     float64 `json:"gflops"`     // peak rate in 1e9 operations per second
	Efficiency float64 `json:"efficiency"` // of a large matrix product, from 0 to 1
	Half       float64 `json:"half"`       // a product has half of its rate if its inner dimension is this
	SolveHalf  float64 `json:"solve_half"` // a triangular solve has half of its rate if its order is this; default: half
	Memory     float64 `json:"memory"`     // memory bandwidth of a core in 1e9 bytes per second
	Cache      float64 `json:"cache"`      // memory of the core's own cache in 1e6 bytes
	Cached     float64 `json:"cached"`     // bandwidth of operands that fit in there, in 1e9 bytes per second
	Handed     float64 `json:"handed"`     // the same of operands that another core has just written; default: cached
	Claimed    float64 `json:"claimed"`    // of memory that is written after another core has read it; default: handed
	Line       float64 `json:"line"`       // of an element of a row, each in its own cache line, in ns
	Call       float64 `json:"call"`       // of each call, in us
	FFT        float64 `json:"fft"`        // rate of Fourier transforms of grids in the cache, in 1e9 operations per second of 5 n log2 n; default: none

	// Transforms of arrays larger than fft_cache, in 1e6 bytes, move them at this rate, in 1e9 bytes per
	// second. A program has about three such arrays, which share the cache. Default: cache and memory.
	FFTCache  float64 `json:"fft_cache"`
	FFTMemory float64 `json:"fft_memory"`

	// Products that pack their operands, as in panels. Default: efficiency and half.
	PackEfficiency float64 `json:"pack_efficiency"`
	PackHalf       float64 `json:"pack_half"`

	// Rows of a matrix that is larger than a core's share of the largest cache, in 1e6 bytes: an
	// element in memory, in ns; and one of a row that is copied alone. Default: as line.
	Shared     float64 `json:"shared"`
	LineMemory float64 `json:"line_memory"`
	Row        float64 `json:"row"`
	Scatter    float64 `json:"scatter"`  // time of an element that is written to a row, as a multiple of one that is read; default 1
	Exchange   float64 `json:"exchange"` // the same of one that is exchanged with an element of another row; default 1

	Spread float64 `json:"spread"` // standard deviation of the time of a large product, as a part of it; default: none
}

// Complete returns k with its defaults.
func (k Kernels) Complete() Kernels {
	k.PackEfficiency = cmp.Or(k.PackEfficiency, k.Efficiency)
	k.PackHalf = cmp.Or(k.PackHalf, k.Half)
	k.SolveHalf = cmp.Or(k.SolveHalf, k.Half)
	k.Shared = cmp.Or(k.Shared, k.Cache)
	k.Handed = cmp.Or(k.Handed, k.Cached)
	k.Claimed = cmp.Or(k.Claimed, k.Handed)
	k.LineMemory = cmp.Or(k.LineMemory, k.Line)
	k.Row = cmp.Or(k.Row, k.Line)
	k.FFTCache = cmp.Or(k.FFTCache, k.Cache)
	k.FFTMemory = cmp.Or(k.FFTMemory, k.Memory)
	k.Scatter = cmp.Or(k.Scatter, 1)
	k.Exchange = cmp.Or(k.Exchange, 1)
	return k
}

// Duration is a time in the form of time.ParseDuration, such as "20us".
type Duration struct{ time.Duration }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	if d.Duration, err = time.ParseDuration(string(text)); err == nil && d.Duration < 0 {
		err = fmt.Errorf("time %q: it is at least 0", text)
	}
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Net is a network in the form of [local.ParseNet].
type Net struct{ local.Net }

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *Net) UnmarshalText(text []byte) (err error) {
	n.Net, err = local.ParseNet(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (n Net) MarshalText() ([]byte, error) { return []byte(n.Net.String()), nil }

// Load returns the preset of a name, or reads the machine file of a name with a dot or a
// slash.
func Load(name string) (*Machine, error) {
	if m := preset(name); m != nil {
		return m, nil
	}
	if !strings.ContainsAny(name, "./") {
		return nil, fmt.Errorf("machine %q: there is no such preset (%s); a machine file has a dot or a slash in its name", name, strings.Join(Presets(), ", "))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("machine file: %w", err)
	}
	m, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("machine file %s: %w", name, err)
	}
	if m.Name == "" {
		m.Name = name
	}
	return m, nil
}

// Parse reads the text of a machine file.
func Parse(text []byte) (*Machine, error) {
	m := &Machine{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, place(text, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something after the closing brace")
	}
	return m, m.check()
}

// place says in words of the file what an error of the decoder means, with the line if the decoder knows
// the place.
func place(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at, what := int64(-1), ""
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends before the closing brace")
	case errors.As(err, &syntax):
		at, what = syntax.Offset, syntax.Error()
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it is a JSON %s and not an object: {\"nodes\": ...}", kind.Value)
	case errors.As(err, &kind):
		at, what = kind.Offset, fmt.Sprintf("%q is a JSON %s: it is of type %v", kind.Field, kind.Value, kind.Type)
	default:
		field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
		if !unknown {
			return err
		}
		return fmt.Errorf("there is no field %s: go doc -u ./internal/cluster lists the fields", field)
	}
	return fmt.Errorf("line %d: %s", 1+bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")), what)
}

// check returns an error that names the first impossible field, its value and the possible values.
func (m *Machine) check() error {
	const most = 1 << 20 // ranks
	switch {
	case m.Nodes < 1 || m.Nodes > most:
		return fmt.Errorf(`"nodes" is %d: it is required, from 1 to %d`, m.Nodes, most)
	case m.Cores < 1 || m.Cores > 1024:
		return fmt.Errorf(`"cores" is %d: it is required, the cores of a node, from 1 to 1024`, m.Cores)
	case m.Network.Net == local.Net{}:
		return errors.New(`"network" is missing or none: it has the form of the flag -net, such as "L=2us,o=300ns,bw=100Gbit,progress=nic"`)
	case m.Eager != nil && *m.Eager < 0:
		return fmt.Errorf(`"eager" is %d: it is a number of bytes, at least 0`, *m.Eager)
	case m.NoiseLength.Duration > m.NoiseEvery.Duration/2:
		return fmt.Errorf(`"noise_length" is %v: it is at most half of "noise_every", %v`, m.NoiseLength, m.NoiseEvery)
	case !(m.Copy >= 0 && m.Copy <= 1e6):
		return fmt.Errorf(`"copy" is %g: it is from 0 to 1e6, in 1e9 bytes per second`, m.Copy)
	case m.Speed != nil && !(*m.Speed >= 0 && *m.Speed <= 1e6):
		return fmt.Errorf(`"speed" is %g: it is a factor from 0 to 1e6`, *m.Speed)
	}
	for _, s := range m.Speeds {
		if !(s >= 1e-3 && s <= 1e3) {
			return fmt.Errorf(`"speeds" has %g: a speed is from 0.001 to 1000`, s)
		}
	}
	for _, f := range []struct {
		name  string
		value Duration
	}{{"noise_every", m.NoiseEvery}, {"waker", m.Waker}, {"sleeper", m.Sleeper}, {"switch", m.Switch}, {"spawn", m.Spawn}, {"task", m.Task}} {
		if f.value.Duration > time.Hour {
			return fmt.Errorf("%q is %v: it is at most an hour", f.name, f.value)
		}
	}
	return m.Kernels.check()
}

func (k *Kernels) check() error {
	if *k == (Kernels{}) {
		return nil
	}
	for _, f := range []struct {
		name              string
		value, least, top float64
	}{
		{"gflops", k.GFlops, 1e-3, 1e6}, {"efficiency", k.Efficiency, 1e-3, 1},
		{"half", k.Half, 0, 1e6}, {"solve_half", k.SolveHalf, 0, 1e6},
		{"pack_efficiency", k.PackEfficiency, 0, 1}, {"pack_half", k.PackHalf, 0, 1e6},
		{"shared", k.Shared, 0, 1e6}, {"line_memory", k.LineMemory, 0, 1e6}, {"row", k.Row, 0, 1e6},
		{"scatter", k.Scatter, 0, 1e3}, {"exchange", k.Exchange, 0, 1e3}, {"spread", k.Spread, 0, 0.3}, {"memory", k.Memory, 1e-3, 1e6},
		{"cache", k.Cache, 0, 1e6}, {"cached", k.Cached, 1e-3, 1e6}, {"handed", k.Handed, 0, 1e6}, {"claimed", k.Claimed, 0, 1e6}, {"line", k.Line, 0, 1e6}, {"call", k.Call, 0, 1e6},
		{"fft", k.FFT, 0, 1e6}, {"fft_cache", k.FFTCache, 0, 1e6}, {"fft_memory", k.FFTMemory, 0, 1e6},
	} {
		if !(f.value >= f.least && f.value <= f.top) || math.IsNaN(f.value) {
			return fmt.Errorf(`"kernels": %q is %g: it is from %g to %g`, f.name, f.value, f.least, f.top)
		}
	}
	return nil
}

// Place returns how many of a number of ranks run on each node: ranks fill one node after the
// other. Errors: the ranks, with a number of cores each, do not fit.
func (m *Machine) Place(ranks, cores int) (perNode int, err error) {
	perNode = (ranks + m.Nodes - 1) / m.Nodes
	if perNode*cores > m.Cores {
		return 0, fmt.Errorf("%d ranks with %d cores each do not fit on machine %s, which has %d nodes with %d cores: use fewer ranks or cores per rank, or another machine", ranks, cores, m.Name, m.Nodes, m.Cores)
	}
	return perNode, nil
}

// String returns a description of the machine in a line.
func (m *Machine) String() string {
	return fmt.Sprintf("%s: %d nodes with %d cores, network %v", m.Name, m.Nodes, m.Cores, m.Network.Net)
}

// Presets returns the names of the presets.
func Presets() (names []string) {
	for _, m := range presets() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

func preset(name string) *Machine {
	for _, m := range presets() {
		if m.Name == name {
			return m
		}
	}
	return nil
}
