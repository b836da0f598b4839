package dense

import (
	"fmt"
	"sync"
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/tasks"
)

// Solver computes with one set of kernels on the workers of one runtime. Its methods belong
// to the goroutine of the runtime, outside of tasks; they block until the result is there,
// and run tasks meanwhile. Arguments must not overlap, unless a method says so. Errors:
// arguments that do not fit each other, and those of Runtime.Wait.
type Solver struct {
	rt *dataflow.Runtime // nil: each call runs in place
	k  blas.Kernels
}

// NewSolver returns a solver on rt. With nil in place of a runtime, it computes on the
// goroutine that calls its methods, any one at a time.
func NewSolver(rt *dataflow.Runtime, k blas.Kernels) *Solver { return &Solver{rt: rt, k: k} }

// workers returns the number of cores that compute.
func (s *Solver) workers() int {
	if s.rt == nil {
		return 1
	}
	return s.rt.Workers()
}

// wait returns when all tasks have ended.
func (s *Solver) wait() error {
	if s.rt == nil {
		return nil
	}
	return s.rt.Wait()
}

// call2 is a function as a task of a solver with two arguments that have memory; call3 and
// call4 with more. The declaration is made where the variable is: traces name that line.
type call2[A, B any] struct {
	body func(*Solver, A, B)
	task *tasks.Task3[*Solver, A, B]
}

func call2Of[A, B any](body func(*Solver, A, B), task *tasks.Task3[*Solver, A, B]) call2[A, B] {
	return call2[A, B]{body, task}
}

// spawn spawns the call; without a runtime it is the call.
func (c call2[A, B]) spawn(s *Solver, a A, b B, cl ...tasks.Clause) {
	if s.rt == nil {
		c.body(s, a, b)
		return
	}
	c.task.Spawn(s.rt, s, a, b, cl...)
}

type call3[A, B, C any] struct {
	body func(*Solver, A, B, C)
	task *tasks.Task4[*Solver, A, B, C]
}

func call3Of[A, B, C any](body func(*Solver, A, B, C), task *tasks.Task4[*Solver, A, B, C]) call3[A, B, C] {
	return call3[A, B, C]{body, task}
}

func (c call3[A, B, C]) spawn(s *Solver, a A, b B, x C, cl ...tasks.Clause) {
	if s.rt == nil {
		c.body(s, a, b, x)
		return
	}
	c.task.Spawn(s.rt, s, a, b, x, cl...)
}

type call4[A, B, C, D any] struct {
	body func(*Solver, A, B, C, D)
	task *tasks.Task5[*Solver, A, B, C, D]
}

func call4Of[A, B, C, D any](body func(*Solver, A, B, C, D), task *tasks.Task5[*Solver, A, B, C, D]) call4[A, B, C, D] {
	return call4[A, B, C, D]{body, task}
}

func (c call4[A, B, C, D]) spawn(s *Solver, a A, b B, x C, y D, cl ...tasks.Clause) {
	if s.rt == nil {
		c.body(s, a, b, x, y)
		return
	}
	c.task.Spawn(s.rt, s, a, b, x, y, cl...)
}

// urgent is the priority of an update that the next panel needs.
func urgent(next bool) tasks.Clause {
	if next {
		return tasks.HighPriority
	}
	return tasks.Clause{}
}

// lasts tells the length of a task of m*n*k multiplications in products: a long one starts the
// other workers at once. The rates, in multiplications per nanosecond, are those of one core of
// an AMD EPYC (Zen 4) at order 1000.
func lasts(m, n, k int) tasks.Clause { return lastsAt(26, m, n, k) }

// panelLasts is lasts for a panel of m x n of LU and Cholesky, reflectLasts for one of QR.
func panelLasts(m, n int) tasks.Clause   { return lastsAt(12, m, n, n) }
func reflectLasts(m, n int) tasks.Clause { return lastsAt(3, m, n, n) }

func lastsAt(rate float64, m, n, k int) tasks.Clause {
	return tasks.Cost(time.Duration(float64(m) * float64(n) * float64(k) / rate))
}

// blockSize returns the width of the panels for a matrix of order n: multiples of 24, the
// common multiple of the strips of all kernels. On two Zen 4 cores with AVX-512, orders 200 to 2000,
// they were within 4 % of the best of 24, 48, 72, 96 and 144.
func blockSize(n int) int {
	switch {
	case n <= 600:
		return 48
	case n <= 1400:
		return 72
	default:
		return 96
	}
}

// blockWidth returns the width of the block column at column c. The first mn columns, and
// the others, are cut from their beginnings on, so that all tasks have the same blocks.
func blockWidth(c, mn, nb int) int {
	if c < mn {
		return min(nb, mn-c)
	}
	return nb
}

// panelsInFlight is the number of panels that have memory.
const panelsInFlight = 4

// memory is workspace as an argument of tasks.
type memory struct{ data []float64 }

// Region is the whole of it.
func (m *memory) Region() deps.Region { return deps.Slice(m.data) }

// pool has workspace by the logarithm of its length.
var pool [48]sync.Pool

// take returns workspace of n numbers, of any value. Any goroutine.
func take(n int) *memory {
	class := 8
	for 1<<class < n {
		class++
	}
	m, ok := pool[class].Get().(*memory)
	if !ok {
		m = &memory{data: make([]float64, 1<<class)}
	}
	m.data = m.data[:n]
	return m
}

// give returns workspace that nobody uses any more.
func (m *memory) give() {
	m.data = m.data[:cap(m.data)]
	class := 8
	for 1<<class < len(m.data) {
		class++
	}
	pool[class].Put(m)
}

// carve cuts the next n numbers off rest, starting at a cache line of it.
func carve(rest *[]float64, n int) []float64 {
	whole := (n + 7) / 8 * 8
	part := (*rest)[:n:n]
	*rest = (*rest)[whole:]
	return part
}

// room returns what carve takes for n numbers.
func room(n int) int { return (n + 7) / 8 * 8 }

// checkVector returns an error unless x has n elements.
func checkVector[T any](call, name string, x []T, n int) error {
	if len(x) != n {
		return fmt.Errorf("dense: %s: %s has %d elements: make it %d", call, name, len(x), n)
	}
	return nil
}
