package fft

import "github.com/weft-hpc/weft/tasks"

// A transform as tasks: one for every piece, which declares the memory that the piece reads
// and writes. So the tasks of one phase run in parallel, and a piece of the next phase
// starts when its input is ready. A transform is ordered with all other tasks on the same
// arrays.

// work is the Value argument of a task: its piece, besides its memory.
type work struct {
	g       *Grid
	phase   int
	piece   int
	inverse bool
	dst     []complex128
	src     []complex128
}

func (w work) do() {
	f := &w.g.phases[w.phase]
	w.g.do(f, f.pieces[w.piece], w.dst, w.src, w.inverse)
}

type stretch = []complex128
type strip = tasks.Tile[complex128]

var (
	moveTask    = tasks.Declare3("fft", func(w work, _, _ stretch) { w.do() }, tasks.Value, tasks.Output, tasks.Input)
	stretchTask = tasks.Declare2("fft", func(w work, _ stretch) { w.do() }, tasks.Value, tasks.Inout)
	stripTask   = tasks.Declare2("fft columns", func(w work, _ strip) { w.do() }, tasks.Value, tasks.Inout)
)

// SpawnForward spawns Forward as tasks in a scope (a *dataflow.Runtime, or the
// context of a task) and returns at once; the arrays belong to the tasks until
// the scope's Wait. Tasks of the program that declare parts of the arrays are ordered by
// these parts with the tasks of the transform.
//
// Only the goroutine that may spawn in the scope calls it. It spawns a hundred tasks or two.
// Errors are as with Forward; then it has spawned nothing.
func (g *Grid) SpawnForward(in tasks.Scope, dst, src []complex128) error {
	return g.spawn(in, dst, src, false)
}

// SpawnInverse spawns Inverse as tasks; all else is as with SpawnForward.
func (g *Grid) SpawnInverse(in tasks.Scope, dst, src []complex128) error {
	return g.spawn(in, dst, src, true)
}

func (g *Grid) spawn(in tasks.Scope, dst, src []complex128, inverse bool) error {
	if err := g.check(dst, src); err != nil {
		return err
	}
	dst, src = dst[:g.total], src[:g.total]
	for i := range g.phases {
		for j, p := range g.phases[i].pieces {
			w := work{g, i, j, inverse, dst, src}
			to, end := dst[p.start:], p.start+p.length
			switch {
			case g.phases[i].kind == columnsPhase:
				stripTask.Spawn(in, w, strip{Data: to, Rows: p.length, Cols: p.count, LD: p.step})
			case &dst[0] != &src[0]:
				moveTask.Spawn(in, w, dst[p.start:end], src[p.start:end])
			default:
				stretchTask.Spawn(in, w, dst[p.start:end])
			}
		}
		src = dst
	}
	return nil
}
