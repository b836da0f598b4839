package main

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/weft-hpc/weft/bench/advise/testdata/corpus/faces"
	"github.com/weft-hpc/weft/mpi"
)

// passing: what came is sent on.
func passing(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 1, mpi.Of(t.part(2)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// swapped: the names change between the calls.
func swapped(t *task) error {
	a, b := t.part(0), t.part(1)
	if _, err := t.c.Sendrecv(mpi.Of(a), t.left, 0, mpi.Of(b), t.right, 0); err != nil {
		return err
	}
	a, b = b, a
	if _, err := t.c.Sendrecv(mpi.Of(a), t.left, 1, mpi.Of(b), t.right, 1); err != nil {
		return err
	}
	return nil
}

// sometimes: from step 8 on, the second call sends what the first one receives.
func sometimes(t *task) error {
	n, src := t.n, 1
	if t.step >= 8 {
		src = 3
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.u[:n]), t.left, 0, mpi.Of(t.u[3*n:4*n]), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.u[src*n:(src+1)*n]), t.right, 1, mpi.Of(t.u[5*n:6*n]), t.left, 1); err != nil {
		return err
	}
	return nil
}

// byStep: a place that moves with the steps meets the other call's.
func byStep(t *task) error {
	at := t.step % 4 * t.n
	if _, err := t.c.Sendrecv(mpi.Of(t.part(8)), t.left, 0, mpi.Of(t.part(2)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.u[at:at+t.n]), t.right, 1, mpi.Of(t.part(9)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// unpacked: what came is copied before it is sent on.
func unpacked(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	copy(t.part(2), t.part(1))
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// summed: a loop between the calls reads what came.
func summed(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	for i, x := range t.part(1) {
		t.part(2)[i] += x
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

type view struct{ in, out []float64 }

// byField: fields of two values are the same memory.
func byField(t *task) error {
	a, b := view{in: t.part(1), out: t.part(0)}, view{in: t.part(2), out: t.part(1)}
	if _, err := t.c.Sendrecv(mpi.Of(a.out), t.left, 0, mpi.Of(a.in), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(b.out), t.left, 1, mpi.Of(b.in), t.right, 1); err != nil {
		return err
	}
	return nil
}

// byValue: an array of slices has one of them twice.
func byValue(t *task) error {
	parts := [...][]float64{t.part(0), t.part(1), t.part(1), t.part(2)}
	if _, err := t.c.Sendrecv(mpi.Of(parts[0]), t.left, 0, mpi.Of(parts[1]), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(parts[2]), t.left, 1, mpi.Of(parts[3]), t.right, 1); err != nil {
		return err
	}
	return nil
}

// byFunction: a function returns the same memory for two arguments.
func byFunction(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.folded(0)), t.left, 0, mpi.Of(t.folded(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.folded(5)), t.left, 1, mpi.Of(t.folded(2)), t.right, 1); err != nil {
		return err
	}
	return nil
}

func (t *task) folded(i int) []float64 { return t.part(i % 4) }

// growing: between the calls an append moves the slice, or does not.
func growing(t *task) error {
	x := t.u[: 2*t.n : 3*t.n]
	if _, err := t.c.Sendrecv(mpi.Of(x[:t.n]), t.left, 0, mpi.Of(x[t.n:]), t.right, 0); err != nil {
		return err
	}
	x = append(x, x[t.n])
	if _, err := t.c.Sendrecv(mpi.Of(x[t.n:2*t.n]), t.left, 1, mpi.Of(t.part(5)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// pipeline: a rank sends on what the rank before has sent it.
func pipeline(t *task) error {
	if t.c.Rank() > 0 {
		if _, err := t.c.Recv(mpi.Of(t.part(0)), t.left, 0); err != nil {
			return err
		}
	}
	if t.c.Rank() < t.c.Size()-1 {
		return t.c.Send(mpi.Of(t.part(0)), t.right, 0)
	}
	return nil
}

// wavefront: the row above comes, the own one is computed from it and sent down.
func wavefront(t *task) error {
	if t.c.Rank() > 0 {
		if _, err := t.c.Recv(mpi.Of(t.part(0)), t.left, 0); err != nil {
			return err
		}
	}
	for i := range t.n {
		t.part(1)[i] += t.part(0)[i] / 2
	}
	if t.c.Rank() < t.c.Size()-1 {
		return t.c.Send(mpi.Of(t.part(1)), t.right, 0)
	}
	return nil
}

// status: the second message is as long as the first one was.
func status(t *task) error {
	st, err := t.c.Sendrecv(mpi.Of(t.u[:1+t.n/2]), t.left, 0, mpi.Of(t.part(1)), t.right, 0)
	if err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)[:st.Bytes/8]), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// goingOn: the program goes on after an error.
func goingOn(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		t.u[0] = -1
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		t.u[0] = -2
	}
	return nil
}

// channel: another goroutine works on what came.
func channel(t *task) error {
	in, out := make(chan []float64), make(chan float64)
	go func() {
		sum := 0.0
		for _, x := range <-in {
			sum += x
		}
		out <- sum
	}()
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	in <- t.part(1)
	t.part(2)[0] = <-out
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// goroutine: one is started between the calls.
func goroutine(t *task) error {
	var g sync.WaitGroup
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	g.Go(func() { t.part(4)[0] = t.part(1)[0] })
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	g.Wait()
	return nil
}

// deferring: a deferred function reads what came, also after a panic.
func deferring(t *task) error {
	defer func() { t.u[15*t.n] += t.part(1)[0] }()
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// anyone: the second receive takes what comes first.
func anyone(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), mpi.AnySource, 1); err != nil {
		return err
	}
	return nil
}

// rounds: a loop of exchanges, each of which sends what the one before received.
func rounds(t *task) error {
	for i := range 3 {
		if _, err := t.c.Sendrecv(mpi.Of(t.part(i)), t.left, i, mpi.Of(t.part(i+1)), t.right, i); err != nil {
			return err
		}
	}
	return nil
}

// replaced: one buffer for both.
func replaced(t *task) error {
	if _, err := t.c.SendrecvReplace(mpi.Of(t.part(0)), t.left, 0, t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.SendrecvReplace(mpi.Of(t.part(0)), t.left, 1, t.right, 1); err != nil {
		return err
	}
	return nil
}

// printed: a function of another module reads what came.
func printed(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	fmt.Fprintln(io.Discard, t.part(1)[0])
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// closure: a function literal called between the calls works on what came.
func closure(t *task) error {
	halve := func() {
		for i := range t.part(1) {
			t.part(1)[i] /= 2
		}
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	halve()
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// addressed: what came says which part is sent next.
func addressed(t *task) error {
	t.part(0)[0] = float64(t.c.Rank() % 3)
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(4+int(t.part(1)[0]))), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// addressedElsewhere: a method of another package reads what came.
func addressedElsewhere(t *task) error {
	f := &faces.Field{Data: t.u, Columns: t.n}
	f.Data[0] = float64(t.c.Rank() % 3)
	if _, err := t.c.Sendrecv(f.Row(0), t.left, 0, f.Row(1), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(f.Row(4+f.First(1)), t.left, 1, f.Row(3), t.right, 1); err != nil {
		return err
	}
	return nil
}

// throughPointer: a pointer into the buffer is read.
func throughPointer(t *task) error {
	p := &t.part(1)[0]
	t.part(0)[0] = float64(t.c.Rank() % 3)
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	at := 4 + int(*p)
	if _, err := t.c.Sendrecv(mpi.Of(t.part(at)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// reduced: a collective operation stands between.
func reduced(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if err := t.c.Allreduce(mpi.InPlace, mpi.Of(t.part(1)), mpi.Max); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// locked: a lock guards the array between the calls.
func locked(t *task) error {
	var mu sync.Mutex
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	mu.Lock()
	t.part(2)[0] = t.part(1)[0]
	mu.Unlock()
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

var errEnough = errors.New("enough")

// stopping: the function may return between the calls, for what came.
func stopping(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if t.part(1)[0] > 1e9 {
		return errEnough
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 1, mpi.Of(t.part(3)), t.right, 1); err != nil {
		return err
	}
	return nil
}

// butterfly: the peers change from round to round, and each round sends what came before.
func butterfly(t *task) error {
	for d := 1; d < t.c.Size(); d *= 2 {
		peer := t.c.Rank() ^ d
		if peer >= t.c.Size() {
			continue
		}
		if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), peer, 0, mpi.Of(t.part(1)), peer, 0); err != nil {
			return err
		}
		for i, x := range t.part(1) {
			t.part(0)[i] += x
		}
	}
	return nil
}
