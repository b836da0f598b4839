// Program program exchanges in several ways and prints all that came of it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func square(c *mpi.Cart, u []float64, n int) error {
	up, down := c.Shift(0, 1)
	left, right := c.Shift(1, 1)
	if _, err := c.Sendrecv(mpi.Of(u[n+1:2*n-1]), up, 0, mpi.Of(u[(n-1)*n+1:n*n-1]), down, 0); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Of(u[(n-2)*n+1:(n-1)*n-1]), down, 1, mpi.Of(u[1:n-1]), up, 1); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Strided(u[n+1:], n-2, 1, n), left, 2, mpi.Strided(u[2*n-1:], n-2, 1, n), right, 2); err != nil {
		return err
	}
	if _, err := c.Sendrecv(mpi.Strided(u[2*n-2:], n-2, 1, n), right, 3, mpi.Strided(u[n:], n-2, 1, n), left, 3); err != nil {
		return err
	}
	return nil
}

func told(c *mpi.Comm, out, in []int32, left, right int) (string, error) {
	st, err := c.Sendrecv(mpi.Of(out[:3]), right, 4, mpi.Of(in[:5]), left, 4)
	if err != nil {
		return "", fmt.Errorf("right: %w", err)
	}
	back, err := c.Sendrecv(mpi.Of(out[:2]), left, 5, mpi.Of(in[5:]), right, 5)
	if err != nil {
		return "", fmt.Errorf("left: %w", err)
	}
	return fmt.Sprint(st, back), nil
}

// long receives a message that is longer than its buffer, by the second call.
func long(c *mpi.Comm, out, in []int32, left, right int) (string, error) {
	if _, err := c.Sendrecv(mpi.Of(out[:2]), right, 6, mpi.Of(in[:2]), left, 6); err != nil {
		return "", fmt.Errorf("first: %w", err)
	}
	if _, err := c.Sendrecv(mpi.Of(out[:6]), left, 7, mpi.Of(in[2:4]), right, 7); err != nil {
		return "", fmt.Errorf("second: %w", err)
	}
	return "no error", nil
}

func pairs(c *mpi.Comm, out, in []int32) (st mpi.Status, err error) {
	peer := c.Rank() ^ 1
	e1 := c.Send(mpi.Of(out), peer, 8)
	st, e2 := c.Recv(mpi.Of(in), peer, 8)
	return st, errors.Join(e1, e2)
}

func body(w *mpi.Comm, text *string) error {
	c, err := w.Cart([]int{2, 2}, []bool{true, true})
	if err != nil {
		return err
	}
	const n = 8
	u, out, in := make([]float64, n*n), make([]int32, 8), make([]int32, 8)
	for i := range u {
		u[i] = float64(1000*c.Rank() + i)
	}
	for i := range out {
		out[i] = int32(100*c.Rank() + i)
	}
	left, right := (c.Rank()+3)%4, (c.Rank()+1)%4
	e1 := square(c, u, n)
	s2, e2 := told(c.Comm, out, in, left, right)
	*text = fmt.Sprintln(c.Rank(), u, e1, s2, e2, in)
	_, e3 := long(c.Comm, out, in, left, right)
	*text += fmt.Sprintln(e3, errors.Is(e3, mpi.ErrTruncate), strings.HasPrefix(fmt.Sprint(e3), "second"))
	s4, e4 := pairs(c.Comm, out, in)
	*text += fmt.Sprintln(s4, e4, in)
	return nil
}

func main() {
	texts := make([]string, 4)
	if err := local.Run(4, func(c *mpi.Comm) error { return body(c, &texts[c.Rank()]) }); err != nil {
		fmt.Println("FAILED:", err)
		os.Exit(1)
	}
	fmt.Print(strings.Join(texts, ""))
}
