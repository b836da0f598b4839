package mpitest

import (
	"testing"

	"github.com/weft-hpc/weft/mpi"
)

func TestRepro(t *testing.T) {
	bad := 0
	for range 3000 {
		err := onLocal(4)(func(c *mpi.Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			return d.Free()
		})
		if err != nil {
			bad++
			if bad < 3 {
				t.Error(err)
			}
		}
	}
	t.Log(bad, "of 3000")
}
