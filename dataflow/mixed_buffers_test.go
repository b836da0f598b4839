package dataflow_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

type bufferDecl = tasks.Task5[*tasks.Buffer[uint64], *tasks.Buffer[uint64], *tasks.Buffer[uint64], *tasks.Buffer[uint64], *bufferTask]

var bufferDecls = map[[4]string]*bufferDecl{} // as mixedDecls

// bufferTask is a task that gets up to four of three buffers, one of them perhaps several times.
type bufferTask struct {
	decl     *bufferDecl
	accs     [4]mixedAccess
	which    [4]int // -1: none
	children []*bufferTask
	waits    bool
	inPlace  bool
	fails    bool
}

func (m *bufferTask) String() string {
	s := ""
	for i, a := range m.accs {
		if m.which[i] >= 0 {
			s += fmt.Sprintf("%s %d, ", a.name, m.which[i])
		}
	}
	return fmt.Sprintf("{%sin place %t, waits %t, fails %t, %v}", s, m.inPlace, m.waits, m.fails, m.children)
}

var bufferAccesses = func() (some []mixedAccess) {
	for _, a := range mixedAccesses {
		switch a.name {
		case "sum", "sum2", "weak sum", "weak sum2":
		default:
			some = append(some, a)
		}
	}
	return some
}()

func drawBuffers(r *rand.Rand, depth int) *bufferTask {
	m := &bufferTask{waits: r.IntN(2) == 0, inPlace: r.IntN(8) == 0, fails: r.IntN(16) == 0}
	for i := range m.accs {
		m.accs[i], m.which[i] = bufferAccesses[r.IntN(len(bufferAccesses))], r.IntN(5)-2
		m.which[i] = max(m.which[i], -1)
	}
	key := namesOf(m.accs)
	if bufferDecls[key] == nil {
		bufferDecls[key] = tasks.DeclareCtx5("mixed", runBuffers, m.accs[0], m.accs[1], m.accs[2], m.accs[3], tasks.Value)
	}
	m.decl = bufferDecls[key]
	if depth > 0 {
		for range r.IntN(3) {
			m.children = append(m.children, drawBuffers(r, depth-1))
		}
	}
	return m
}

func (m *bufferTask) spawn(in tasks.Scope, bufs [3]*tasks.Buffer[uint64]) {
	at := func(i int) *tasks.Buffer[uint64] {
		if m.which[i] < 0 {
			return nil
		}
		return bufs[m.which[i]]
	}
	m.decl.Spawn(in, at(0), at(1), at(2), at(3), m, tasks.If(!m.inPlace))
}

func runBuffers(ctx *tasks.Context, a, b, c, d *tasks.Buffer[uint64], m *bufferTask) error {
	var own [3]*tasks.Buffer[uint64] // a buffer belongs to its spawner: children get versions of the task
	for i, x := range []*tasks.Buffer[uint64]{a, b, c, d} {
		if x != nil {
			own[m.which[i]] = x
		}
	}
	for _, c := range m.children {
		c.spawn(ctx, own)
	}
	if m.waits {
		if err := ctx.Wait(); err != nil {
			return err
		}
	}
	if m.fails {
		return errChild
	}
	return nil
}

func TestMixed_buffers_never_hang(t *testing.T) {
	neverHangs(t, 12, func(r *rand.Rand) (any, func(*dataflow.Runtime) error) {
		var program []*bufferTask
		for range 1 + r.IntN(8) {
			program = append(program, drawBuffers(r, 2))
		}
		return program, func(rt *dataflow.Runtime) error {
			var bufs [3]*tasks.Buffer[uint64]
			for i := range bufs {
				bufs[i] = tasks.NewBuffer[uint64](4)
			}
			for _, m := range program {
				m.spawn(rt, bufs)
			}
			return rt.Wait()
		}
	}, func(err error) bool { return errors.Is(err, errChild) || ofCover(err) })
}
