package main

import (
	"bytes"
	"sync"
)

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// damages are ways to break a graph after it was built.
var damages = map[string]struct {
	damage  func(*graph)
	message string
}{
	"dropped dependence": {
		func(g *graph) { r := g.record(3, 2); r.in = r.in[: len(r.in)-1 : len(r.in)-1] },
		`^graph 0, timestep \d, point 2: has \d inputs, the pattern gives it \d$`,
	},
	"input of another point": {
		func(g *graph) { r := g.record(3, 2); r.in[1] = r.in[0] },
		`^graph 0, timestep \d, point 2: input 1 holds \(timestep \d, point \d\) at pair 0 of 1, expected \(timestep \d, point \d\)$`,
	},
	"input of another timestep": {
		func(g *graph) { g.record(3, 2).in[0] = g.record(3, 1).out },
		`^graph 0, timestep \d, point 2: input 0 holds \(timestep -?\d, point -?\d\) at pair 0 of 1, expected \(timestep \d, point \d\)$`,
	},
	"wrong pair written": {
		func(g *graph) { g.record(3, 2).point = 77 },
		`^graph 0, timestep \d, point \d: input \d holds \(timestep \d, point 77\) at pair 0 of 1, expected \(timestep \d, point 2\)$`,
	},
}

// record returns the record of the task (t, p) of a graph that is not clipped. All
// timesteps with the same field and dependence set share it.
func (g *graph) record(t, p int) *record { return &g.row(t)[p] }
