package hpl

import (
	"fmt"
	"hash/fnv"

	"github.com/weft-hpc/weft/mpi"
)

// agree checks that all ranks of the grid run the same configuration: the format of a
// packed panel depends on it. It sets the cores of the division. Collective.
func (s *solver) agree() error {
	c := &s.cfg
	name := fnv.New32a()
	name.Write([]byte(s.kernels.Name()))
	fields := []struct {
		name  string
		value int64
	}{
		{"N", int64(c.N)}, {"NB", int64(c.NB)}, {"P", int64(c.P)}, {"Q", int64(c.Q)},
		{"ColumnMajor", number(c.ColumnMajor)}, {"Variant", int64(c.Variant)}, {"Depth", int64(c.Depth)},
		{"PFact", int64(c.PFact)}, {"RFact", int64(c.RFact)}, {"NBMin", int64(c.NBMin)}, {"NDiv", int64(c.NDiv)},
		{"Bcast", int64(c.Bcast)}, {"Swap", int64(c.Swap)}, {"SwapThreshold", int64(c.SwapThreshold)},
		{"L1NoTrans", number(c.L1NoTrans)}, {"NoEquil", number(c.NoEquil)}, {"Without", int64(c.Without)}, {"Seed", int64(c.Seed)},
		{"Kernels", int64(name.Sum32())},
	}
	least, most := make([]int64, len(fields), len(fields)+1), make([]int64, len(fields))
	for i, f := range fields {
		least[i], most[i] = f.value, f.value
	}
	least = append(least, int64(c.Workers))
	if err := s.grid.all.Allreduce(mpi.InPlace, mpi.Of(least), mpi.Min); err != nil {
		return err
	}
	s.division.cores = c.P * c.Q * int(least[len(fields)])
	if err := s.grid.all.Allreduce(mpi.InPlace, mpi.Of(most), mpi.Max); err != nil {
		return err
	}
	for i, f := range fields {
		if least[i] != most[i] {
			return fmt.Errorf("hpl: Config.%s differs between the ranks of the grid (kernels here: %s): give all of them the same", f.name, s.kernels.Name())
		}
	}
	return nil
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
