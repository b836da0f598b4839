package dataflow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// Programs of tasks that name regions of one slice up to four times each, in any mix of
// accesses, contradictory ones included. In every case, all tasks end, an error reports a
// wrong mix or access, and the runtime leaves no trace.

type mixedAccess struct {
	name string
	tasks.Access
}

var mixedAccesses = func() []mixedAccess {
	sum := func(dst, src []uint64) {
		for i := range dst {
			dst[i] += src[i]
		}
	}
	modes := []mixedAccess{
		{"in", tasks.Input}, {"out", tasks.Output}, {"inout", tasks.Inout}, {"concurrent", tasks.Concurrent}, {"commutative", tasks.Commutative},
		{"sum", tasks.Reduction(0, sum)}, {"sum2", tasks.Reduction(0, sum)},
	}
	for _, m := range modes {
		modes = append(modes, mixedAccess{"weak " + m.name, tasks.Weak(m.Access)})
	}
	return modes
}()

// A mixedDecl is a task that a mixedTask calls. Declarations stay for ever, so there is one for
// each mix that has been drawn.
type mixedDecl = tasks.Task6[[]uint64, []uint64, []uint64, []uint64, *mixedTask, *[8]uint64]

var mixedDecls = map[[4]string]*mixedDecl{}

// mixedTask is a task of four accesses, with the children that its body spawns. A part of
// length zero is no access.
type mixedTask struct {
	decl     *mixedDecl
	accs     [4]mixedAccess
	parts    [4][2]int
	children []*mixedTask
	waits    bool
	inPlace  bool
}

func (m *mixedTask) String() string {
	var b strings.Builder
	for i, a := range m.accs {
		if p := m.parts[i]; p[0] < p[1] {
			fmt.Fprintf(&b, "%s[%d:%d] ", a.name, p[0], p[1])
		}
	}
	return fmt.Sprintf("{%sin place %t, waits %t, %v}", b.String(), m.inPlace, m.waits, m.children)
}

func drawMixed(r *rand.Rand, depth int) *mixedTask {
	m := &mixedTask{waits: r.IntN(2) == 0, inPlace: r.IntN(8) == 0}
	for i := range m.accs {
		m.accs[i] = mixedAccesses[r.IntN(len(mixedAccesses))]
		if r.IntN(4) < 3 {
			first := 2 * r.IntN(4)
			m.parts[i] = [2]int{first, min(8, first+2*(1+r.IntN(3)))}
		}
	}
	key := namesOf(m.accs)
	if mixedDecls[key] == nil {
		mixedDecls[key] = tasks.DeclareCtx6("mixed", runMixed, m.accs[0], m.accs[1], m.accs[2], m.accs[3], tasks.Value, tasks.Value)
	}
	m.decl = mixedDecls[key]
	if depth > 0 {
		for range r.IntN(3) {
			m.children = append(m.children, drawMixed(r, depth-1))
		}
	}
	return m
}

func namesOf(accs [4]mixedAccess) (names [4]string) {
	for i, a := range accs {
		names[i] = a.name
	}
	return names
}

func (m *mixedTask) spawn(in tasks.Scope, x *[8]uint64) {
	part := func(i int) []uint64 { return x[m.parts[i][0]:m.parts[i][1]] }
	m.decl.Spawn(in, part(0), part(1), part(2), part(3), m, x, tasks.If(!m.inPlace))
}

func runMixed(ctx *tasks.Context, _, _, _, _ []uint64, m *mixedTask, x *[8]uint64) error {
	for _, c := range m.children {
		c.spawn(ctx, x)
	}
	if m.waits {
		return ctx.Wait()
	}
	return nil
}

// neverHangs runs random programs, drawn from a stream of seeds, in every mode. Each must end
// in time and leave no trace, and its error, if any, be an allowed one; Verify has others.
func neverHangs(t *testing.T, stream uint64, draw func(*rand.Rand) (program any, body func(*dataflow.Runtime) error), allowed func(error) bool) {
	programs := fewer(300) // the hangs that this test has found came at 5 and 298
	if long() {
		programs *= 100
	}
	modes := map[string][]dataflow.Option{"serial": {dataflow.Serial()}, "1 worker": {dataflow.Workers(1)}, "2 workers": {dataflow.Workers(2)},
		"little memory": {dataflow.Workers(1), dataflow.RenameBudget(64)}, "verify": {dataflow.Verify()}}
	for seed := range uint64(programs) {
		program, body := draw(rand.New(rand.NewPCG(seed, stream)))
		modes["seeded"] = []dataflow.Option{dataflow.Seeded(seed + 1)}
		for name, opts := range modes {
			guard := time.AfterFunc(patience, func() {
				fmt.Fprintf(os.Stderr, "seed %d, %s: stands still: %v\n", seed, name, program)
				os.Exit(3)
			})
			err, bad := inspected(body, opts...)
			guard.Stop()
			require.NoError(t, bad, "seed %d, %s: %v", seed, name, program)
			require.True(t, err == nil || name == "verify" || allowed(err), "seed %d, %s: %v: %v", seed, name, err, program)
		}
	}
}

// ofCover reports whether err says that a child has an access that its parent lacks.
func ofCover(err error) bool { return strings.Contains(err.Error(), "its parent \"mixed\"") }

func TestMixed_accesses_never_hang(t *testing.T) {
	neverHangs(t, 11, func(r *rand.Rand) (any, func(*dataflow.Runtime) error) {
		var program []*mixedTask
		for range 1 + r.IntN(8) {
			program = append(program, drawMixed(r, 2))
		}
		return program, func(rt *dataflow.Runtime) error {
			x := new([8]uint64)
			for _, m := range program {
				m.spawn(rt, x)
			}
			return rt.Wait()
		}
	}, func(err error) bool { return errors.Is(err, deps.ErrReductionMix) || ofCover(err) })
}
