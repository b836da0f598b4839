package main

import "github.com/weft-hpc/weft/mpi"

// bySize: the two parts meet only where a part is longer than 100 numbers.
func bySize(t *task) error {
	n := t.n
	if _, err := t.c.Sendrecv(mpi.Of(t.u[:n]), t.left, 0, mpi.Of(t.u[2*n:3*n]), t.right, 0); err != nil {
		return err
	}
	from := max(4*n-2*max(n-100, 0)*2, 2*n)
	if _, err := t.c.Sendrecv(mpi.Of(t.u[from:from+n]), t.right, 1, mpi.Of(t.u[8*n:9*n]), t.left, 1); err != nil {
		return err
	}
	return nil
}

// byRanks: with an odd number of ranks, the second call receives where the first one sends.
func byRanks(t *task) error {
	to := 3 - t.c.Size()%2*3
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(2)), t.right, 1, mpi.Of(t.part(to)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// byData: the data decide where the second part begins; with the measured size it is far away.
func byData(t *task) error {
	at := 6
	if t.counts[0]+t.counts[1] < 3 && t.n != 64 {
		at = 1
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(1)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(at)), t.right, 1, mpi.Of(t.part(7)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// aliased: two slices that a function got are the same memory, for other sizes.
func aliased(t *task) error {
	x := t.part(1)
	if t.n%2 == 1 {
		return twoSlices(t, x, x)
	}
	return twoSlices(t, x, t.part(4))
}

func twoSlices(t *task, in, out []float64) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(in), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(out), t.right, 1, mpi.Of(t.part(2)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// helper: the blocking pair is in a function that is called twice.
func helper(t *task) error {
	if err := swap(t, 0, 1, t.left, t.right); err != nil {
		return err
	}
	return swap(t, 2, 3, t.right, t.left)
}

func swap(t *task, from, to, dst, src int) error {
	_, err := t.c.Sendrecv(mpi.Of(t.part(from)), dst, 0, mpi.Of(t.part(to)), src, 0)
	return err
}

// twice: two rounds of a loop that do not depend on each other.
func twice(t *task) error {
	for i := range 2 {
		if _, err := t.c.Sendrecv(mpi.Of(t.part(i)), t.left, i, mpi.Of(t.part(4+i)), t.right, i); err != nil {
			return err
		}
	}
	return nil
}
