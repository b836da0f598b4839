package distributed_test

import (
	"fmt"

	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// A wave along the last axis has one coefficient; the rank that has it prints it.
func ExamplePlan() {
	err := local.Run(2, func(c *mpi.Comm) error {
		p, err := distributed.New(c, distributed.Config{Dims: [3]int{8, 8, 4}, Form: distributed.Slabs})
		if err != nil {
			return err
		}
		in, out := p.Input(), p.Output()
		src, dst := make([]complex128, in.Len), make([]complex128, out.Len)
		wave := []complex128{1, 1i, -1, -1i} // exp(2 pi i k / 4)
		for i := range in.Extent[0] {
			for j := range in.Extent[1] {
				copy(in.Row(src, i, j), wave)
			}
		}
		if err := p.Forward(dst, src); err != nil {
			return err
		}
		if at, here := out.At([3]int{0, 0, 1}); here {
			fmt.Printf("rank %d: %.0f\n", c.Rank(), real(dst[at]))
		}
		return p.Close()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 0: 256
}
