package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/advise/testdata/corpus/faces"
	"github.com/weft-hpc/weft/mpi"
)

// rows: the halo of a field cut into strips.
func rows(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// square: rows and columns of a field, on a grid of ranks.
func square(t *task) error {
	g, err := t.c.Cart([]int{t.c.Size(), 1}, []bool{true, true})
	if err != nil {
		return err
	}
	defer g.Free()
	return squareOn(g, t.u, t.n)
}

func squareOn(g *mpi.Cart, u []float64, n int) error {
	up, down := g.Shift(0, 1)
	left, right := g.Shift(1, 1)
	if _, err := g.Sendrecv(mpi.Of(u[n+1:2*n-1]), up, 0, mpi.Of(u[15*n+1:16*n-1]), down, 0); err != nil {
		return err
	}
	if _, err := g.Sendrecv(mpi.Of(u[14*n+1:15*n-1]), down, 1, mpi.Of(u[1:n-1]), up, 1); err != nil {
		return err
	}
	if _, err := g.Sendrecv(mpi.Strided(u[n+1:], 14, 1, n), left, 2, mpi.Strided(u[2*n-1:], 14, 1, n), right, 2); err != nil {
		return err
	}
	if _, err := g.Sendrecv(mpi.Strided(u[2*n-2:], 14, 1, n), right, 3, mpi.Strided(u[n:], 14, 1, n), left, 3); err != nil {
		return err
	}
	return nil
}

type field struct {
	u []float64
	n int
}

func (f *field) row(i int) mpi.Buffer { return mpi.Of(f.u[i*f.n : (i+1)*f.n]) }

// accessors: buffers come from methods.
func accessors(t *task) error {
	f := &field{t.u, t.n}
	if _, err := t.c.Sendrecv(f.row(1), t.left, 0, f.row(15), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(f.row(14), t.right, 1, f.row(0), t.left, 1); err != nil {
		return err
	}
	return nil
}

// elsewhere: buffers come from methods of another package.
func elsewhere(t *task) error {
	f := &faces.Field{Data: t.u, Columns: t.n}
	if _, err := t.c.Sendrecv(f.Row(1), t.left, 0, f.Row(15), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(f.Row(14), t.right, 1, f.Row(0), t.left, 1); err != nil {
		return err
	}
	return nil
}

// columnsElsewhere: the same, with columns.
func columnsElsewhere(t *task) error {
	f := &faces.Field{Data: t.u, Columns: t.n}
	if _, err := t.c.Sendrecv(f.Column(1), t.left, 0, f.Column(t.n-1), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(f.Column(t.n-2), t.right, 1, f.Column(0), t.left, 1); err != nil {
		return err
	}
	return nil
}

// genericElsewhere: a generic function of another package.
func genericElsewhere(t *task) error {
	if _, err := t.c.Sendrecv(faces.Of(t.u, t.n, 2), t.left, 0, faces.Of(t.u, t.n, 12), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(faces.Of(t.counts, t.n, 3), t.right, 1, faces.Of(t.counts, t.n, 5), t.left, 1); err != nil {
		return err
	}
	return nil
}

// joined: errors are kept for the end.
func joined(t *task) error {
	_, e1 := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0)
	_, e2 := t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1)
	return errors.Join(e1, e2)
}

// dropped: nobody looks at the errors.
func dropped(t *task) error {
	t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0)
	t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1)
	return nil
}

// statuses: both are used after the calls.
func statuses(t *task) error {
	first, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0)
	if err != nil {
		return fmt.Errorf("to the left: %w", err)
	}
	second, err := t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1)
	if err != nil {
		return fmt.Errorf("to the right: %w", err)
	}
	t.counts[0] = int32(first.Source*10 + second.Source)
	return nil
}

// between: numbers are computed between the calls.
func between(t *task) error {
	first, last := t.n, 15*t.n
	if _, err := t.c.Sendrecv(mpi.Of(t.u[first:first+t.n]), t.left, 0, mpi.Of(t.u[last:]), t.right, 0); err != nil {
		return err
	}
	first, last = last-t.n, 0
	if _, err := t.c.Sendrecv(mpi.Of(t.u[first:first+t.n]), t.right, 1, mpi.Of(t.u[last:last+t.n]), t.left, 1); err != nil {
		return err
	}
	return nil
}

// named: the errors are results with a name.
func named(t *task) (err error) {
	_, err = t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0)
	if err != nil {
		return err
	}
	_, err = t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1)
	if err != nil {
		return err
	}
	return nil
}

// exchange is a method of the program's own type.
func (t *task) exchange() error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(3)), t.left, 0, mpi.Of(t.part(4)), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(t.part(5)), t.right, 1, mpi.Of(t.part(6)), t.left, 1); err != nil {
		return err
	}
	return nil
}

func method(t *task) error { return t.exchange() }

// cases: the calls stand in a case.
func cases(t *task) error {
	switch {
	case t.n > 0:
		if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0); err != nil {
			return err
		}
		if _, err := t.c.Sendrecv(mpi.Of(t.part(14)), t.right, 1, mpi.Of(t.part(0)), t.left, 1); err != nil {
			return err
		}
	default:
		return errors.New("nothing to send")
	}
	return nil
}

// three: the faces of a box.
func three(t *task) error {
	u, n := t.u, t.n
	if _, err := t.c.Sendrecv(mpi.Of(u[n:2*n]), t.left, 0, mpi.Of(u[15*n:]), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Of(u[14*n:15*n]), t.right, 1, mpi.Of(u[:n]), t.left, 1); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Strided(u[2*n+1:], 4, 2, n), t.left, 2, mpi.Strided(u[3*n-2:], 4, 2, n), t.right, 2); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.Strided(u[3*n-4:], 4, 2, n), t.right, 3, mpi.Strided(u[8*n:], 4, 2, n), t.left, 3); err != nil {
		return err
	}
	return nil
}

// types: while numbers arrive, counts of another type are read.
func types(t *task) error {
	if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0); err != nil {
		return err
	}
	at := int(t.counts[0])%3 + 4
	if _, err := t.c.Sendrecv(mpi.Of(t.u[at*t.n:(at+1)*t.n]), t.right, 1, mpi.Of(t.part(0)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// pair: neighbours by twos, receive after send of short messages.
func pair(t *task) error {
	peer := t.c.Rank() ^ 1
	if peer >= t.c.Size() {
		return nil
	}
	if err := t.c.Send(mpi.Of(t.u[:4]), peer, 0); err != nil {
		return err
	}
	if _, err := t.c.Recv(mpi.Of(t.u[8:12]), peer, 0); err != nil {
		return err
	}
	return nil
}

// collect: one rank receives from two others.
func collect(t *task) error {
	if t.c.Size() < 3 {
		return nil
	}
	switch t.c.Rank() {
	case 0:
		if _, err := t.c.Recv(mpi.Of(t.part(2)), 1, 0); err != nil {
			return err
		}
		if _, err := t.c.Recv(mpi.Of(t.part(3)), 2, 0); err != nil {
			return err
		}
	case 1, 2:
		return t.c.Send(mpi.Of(t.part(5)), 0, 0)
	}
	return nil
}

// spread: one rank sends the same to two others.
func spread(t *task) error {
	if t.c.Size() < 3 {
		return nil
	}
	if t.c.Rank() == 0 {
		if err := t.c.Ssend(mpi.Of(t.part(2)), 1, 0); err != nil {
			return err
		}
		if err := t.c.Ssend(mpi.Of(t.part(2)), 2, 0); err != nil {
			return err
		}
	} else if t.c.Rank() < 3 {
		_, err := t.c.Recv(mpi.Of(t.part(5)), 0, 0)
		return err
	}
	return nil
}

// eight: a long chain.
func eight(t *task) error {
	_, e0 := t.c.Sendrecv(mpi.Of(t.part(0)), t.left, 0, mpi.Of(t.part(8)), t.right, 0)
	_, e1 := t.c.Sendrecv(mpi.Of(t.part(1)), t.right, 1, mpi.Of(t.part(9)), t.left, 1)
	_, e2 := t.c.Sendrecv(mpi.Of(t.part(2)), t.left, 2, mpi.Of(t.part(10)), t.right, 2)
	_, e3 := t.c.Sendrecv(mpi.Of(t.part(3)), t.right, 3, mpi.Of(t.part(11)), t.left, 3)
	_, e4 := t.c.Sendrecv(mpi.Of(t.part(4)), t.left, 4, mpi.Of(t.part(12)), t.right, 4)
	_, e5 := t.c.Sendrecv(mpi.Of(t.part(5)), t.right, 5, mpi.Of(t.part(13)), t.left, 5)
	_, e6 := t.c.Sendrecv(mpi.Of(t.part(6)), t.left, 6, mpi.Of(t.part(14)), t.right, 6)
	_, e7 := t.c.Sendrecv(mpi.Of(t.part(7)), t.right, 7, mpi.Of(t.part(15)), t.left, 7)
	return errors.Join(e0, e1, e2, e3, e4, e5, e6, e7)
}

// scalar: single variables.
func scalar(t *task) error {
	a, b := t.u[3], t.u[4]
	var x, y float64
	if _, err := t.c.Sendrecv(mpi.One(&a), t.left, 0, mpi.One(&x), t.right, 0); err != nil {
		return err
	}
	if _, err := t.c.Sendrecv(mpi.One(&b), t.right, 1, mpi.One(&y), t.left, 1); err != nil {
		return err
	}
	t.u[5], t.u[6] = x, y
	return nil
}

// literal: the calls stand in a function literal.
func literal(t *task) error {
	do := func(a, b, x, y []float64) error {
		if _, err := t.c.Sendrecv(mpi.Of(a), t.left, 0, mpi.Of(b), t.right, 0); err != nil {
			return err
		}
		if _, err := t.c.Sendrecv(mpi.Of(x), t.right, 1, mpi.Of(y), t.left, 1); err != nil {
			return err
		}
		return nil
	}
	return do(t.part(1), t.part(15), t.part(14), t.part(0))
}

// prepared: a loop fills what the second call sends, from memory that nothing receives into.
func prepared(t *task) error {
	out := make([]float64, t.n)
	if _, err := t.c.Sendrecv(mpi.Of(t.part(1)), t.left, 0, mpi.Of(t.part(15)), t.right, 0); err != nil {
		return err
	}
	for i := range out {
		out[i] = float64(t.counts[i])
	}
	if _, err := t.c.Sendrecv(mpi.Of(out), t.right, 1, mpi.Of(t.part(0)), t.left, 1); err != nil {
		return err
	}
	return nil
}

// generic sends and receives any type.
func generic[T any](c *mpi.Comm, x []T, n, left, right int) error {
	if _, err := c.Sendrecv(mpi.Of(x[:n]), left, 0, mpi.Of(x[n:2*n]), right, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(x[2*n:3*n]), right, 1, mpi.Of(x[3*n:4*n]), left, 1); err != nil {
		return err
	}
	return nil
}

func generics(t *task) error { return generic(t.c, t.counts, t.n, t.left, t.right) }
