// You will see pairs of tasks, and for each pair whether the two ran side by side or
// one waited for the end of the other. That happens when they touch a common byte and
// one of them writes. The last line checks that every pair did what its regions say.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// pair is two tasks, spawned one after the other.
type pair struct {
	what          string
	first, second tasks.Clause // the regions of the tasks
	beside        bool         // what must happen
	met           bool         // what happened: both were running at the same time
}

func pairs() []*pair {
	vector := func() []float64 { return make([]float64, 100) }
	matrix := func() tasks.Tile[float64] {
		return tasks.Tile[float64]{Data: make([]float64, 64), Rows: 8, Cols: 8, LD: 8}
	}
	a, b, c, d := vector(), vector(), vector(), vector()
	m, o := matrix(), matrix()
	var point struct{ x, y float64 }
	in, inout, commutative := tasks.Reads, tasks.Updates, tasks.Commutative
	return []*pair{
		{what: "the halves of a slice", first: inout(a[:50]), second: inout(a[50:]), beside: true},
		{what: "a slice and a part of it", first: inout(b), second: inout(b[10:20])},
		{what: "a slice that both only read", first: in(c), second: in(c), beside: true},
		{what: "a slice in any order, but one at a time", first: tasks.With(commutative, d), second: tasks.With(commutative, d)},
		{what: "two fields of a struct", first: inout(&point.x), second: inout(&point.y), beside: true},
		{what: "upper and lower half of a matrix, interleaved in memory", first: inout(m.Sub(0, 0, 4, 8)), second: inout(m.Sub(4, 0, 4, 8)), beside: true},
		{what: "two tiles of a matrix that share a corner", first: inout(o.Sub(0, 0, 5, 5)), second: inout(o.Sub(4, 4, 4, 4))},
		{what: "two handles (names of something that is not memory)", first: inout(deps.Handle(1)), second: inout(deps.Handle(2)), beside: true},
		{what: "the same handle", first: inout(deps.Handle(3)), second: inout(deps.Handle(3))},
	}
}

// spawn submits the two tasks of p. Both want to meet the other on a channel, which
// only works while both are running, and give up after a while. They sleep inside
// Block, so they leave their cores to others, and even one worker is enough.
func (p *pair) spawn(rt *dataflow.Runtime, patience time.Duration) {
	door := make(chan struct{})
	meet := func(ctx *tasks.Context) error {
		ctx.Block(func() {
			select {
			case door <- struct{}{}:
			case <-door:
				p.met = true
			case <-time.After(patience):
			}
		})
		return nil
	}
	rt.Spawn("first", meet, p.first)
	rt.Spawn("second", meet, p.second)
}

func main() {
	o := parse()
	all := pairs()
	err := dataflow.Run(func(rt *dataflow.Runtime) error {
		for _, p := range all {
			p.spawn(rt, o.patience)
		}
		return rt.Wait()
	}, dataflow.Workers(o.workers))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	wrong := 0
	says := map[bool]string{true: "ran side by side", false: "one waited"}
	fmt.Printf("%-56s  %s\n", "two tasks that touch", "what they did")
	for _, p := range all {
		fmt.Printf("%-56s  %s\n", p.what, says[p.met])
		if p.met != p.beside {
			wrong++
		}
	}
	if wrong > 0 {
		fmt.Printf("FAILED: %d of %d pairs did not do what their regions say\n", wrong, len(all))
		os.Exit(1)
	}
	fmt.Printf("ok: all %d pairs did what their regions say\n", len(all))
}
