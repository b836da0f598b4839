package main

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"runtime"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/pages"
)

// job is one transform to be measured.
type job struct {
	c        *config
	src, dst []complex128
	forward  func(rt *dataflow.Runtime) error
	inverse  func(rt *dataflow.Runtime) error
	rounds   int // transforms per repetition
}

// measurement is the seconds of one forward transform, in each repetition, and the
// largest relative error of a round trip.
type measurement struct {
	seconds, peer []float64
	roundTrip     float64
}

// repetition is about how long a repetition should last, flopsPerSecond what to expect of a
// transform, and callFlops what could be computed in the time of a call that does nothing.
const (
	repetition     = 2 * time.Millisecond
	flopsPerSecond = 3e10
	callFlops      = 1000
)

func newJob(c *config) (*job, error) {
	j := &job{c: c, rounds: max(1, int(repetition.Seconds()*flopsPerSecond/max(c.flops(), callFlops)))}
	var err error
	if j.src, err = array(c.points()); err != nil {
		return nil, err
	}
	j.dst = j.src
	if !c.inPlace {
		if j.dst, err = array(c.points()); err != nil {
			return nil, err
		}
	}
	if c.dims != nil {
		return j, j.planGrid()
	}
	p, err := fft.NewMany(c.n, c.batch, c.placement(), c.placement(), fft.Kernels(c.set))
	if err != nil {
		return nil, err
	}
	j.forward = func(*dataflow.Runtime) error { return p.Forward(j.dst, j.src) }
	j.inverse = func(*dataflow.Runtime) error { return p.Inverse(j.src, j.dst) }
	return j, nil
}

func (j *job) planGrid() error {
	g, err := fft.NewGrid(j.c.dims, fft.Kernels(j.c.set))
	if err != nil {
		return err
	}
	j.forward = func(*dataflow.Runtime) error { return g.Forward(j.dst, j.src) }
	j.inverse = func(*dataflow.Runtime) error { return g.Inverse(j.src, j.dst) }
	if j.c.workers > 1 {
		tasks := func(spawn func(rt *dataflow.Runtime) error) func(rt *dataflow.Runtime) error {
			return func(rt *dataflow.Runtime) error {
				if err := spawn(rt); err != nil {
					return err
				}
				return rt.Wait()
			}
		}
		j.forward = tasks(func(rt *dataflow.Runtime) error { return g.SpawnForward(rt, j.dst, j.src) })
		j.inverse = tasks(func(rt *dataflow.Runtime) error { return g.SpawnInverse(rt, j.src, j.dst) })
	}
	return nil
}

// array returns n numbers in pages of their own, huge ones if the system has them.
func array(n int) ([]complex128, error) {
	b, err := pages.Map(16*n, true)
	if err != nil {
		return nil, err
	}
	pages.Prefault(b)
	return unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}

// run measures, and checks a round trip first.
func (j *job) run(tamper func([]complex128), other *peer) (m *measurement, err error) {
	if j.c.workers == 1 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return j.repeat(nil, tamper, other)
	}
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		m, err = j.repeat(rt, tamper, other)
		return err
	}, dataflow.Workers(j.c.workers))
	return m, err
}

func (j *job) repeat(rt *dataflow.Runtime, tamper func([]complex128), other *peer) (*measurement, error) {
	m := &measurement{}
	var err error
	if m.roundTrip, err = j.roundTrip(rt, tamper); err != nil {
		return nil, err
	}
	clear(j.src) // zeros: repeated transforms in place would overflow
	for range j.c.reps {
		start := time.Now()
		for range j.rounds {
			if err := j.forward(rt); err != nil {
				return nil, err
			}
		}
		m.seconds = append(m.seconds, time.Since(start).Seconds()/float64(j.rounds))
		if other != nil {
			seconds, err := other.play()
			if err != nil {
				return nil, err
			}
			m.peer = append(m.peer, seconds)
		}
	}
	return m, nil
}

// roundTrip transforms random numbers forth and back, and returns the largest
// difference relative to their root mean square.
func (j *job) roundTrip(rt *dataflow.Runtime, tamper func([]complex128)) (float64, error) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range j.src {
		j.src[i] = complex(random.Float64()-0.5, random.Float64()-0.5)
	}
	if err := j.forward(rt); err != nil {
		return 0, fmt.Errorf("forward: %w", err)
	}
	if tamper != nil {
		tamper(j.dst)
	}
	if err := j.inverse(rt); err != nil {
		return 0, fmt.Errorf("inverse: %w", err)
	}
	n := j.c.n
	if j.c.dims != nil {
		n = j.c.points()
	}
	random = rand.New(rand.NewPCG(1, 2))
	worst, sum := 0.0, 0.0
	for _, v := range j.src {
		want := complex(random.Float64()-0.5, random.Float64()-0.5)
		sum += real(want)*real(want) + imag(want)*imag(want)
		d := cmplx.Abs(v/complex(float64(n), 0) - want)
		if !(d <= worst) {
			worst = d
		}
	}
	return worst / math.Sqrt(sum/float64(len(j.src))), nil
}
