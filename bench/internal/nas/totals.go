package nas

import (
	"math"

	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
)

// Totals sums the costs of a run's transforms over all ranks.
type Totals struct {
	Communication float64 // seconds in communication calls (distributed.Stats): mean of the ranks
	Messages      int     // of the rank that sent most
	Bytes         float64 // of all ranks
	Smallest      int     // message in bytes, 0 if there was none
	Largest       int
	Stage         int // bytes of planes waiting for their transfer: most of a rank
}

// totals adds up the costs of the ranks, for all of them. Collective.
func totals(c *mpi.Comm, st distributed.Stats) (t Totals, err error) {
	sums := []float64{st.Communication.Seconds(), float64(st.Bytes)}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(sums), mpi.Sum); err != nil {
		return t, err
	}
	smallest := -st.Smallest
	if st.Messages == 0 {
		smallest = math.MinInt // the others decide
	}
	most := []int{st.Messages, smallest, st.Largest, st.Stage}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(most), mpi.Max); err != nil {
		return t, err
	}
	t = Totals{Communication: sums[0] / float64(c.Size()), Bytes: sums[1], Messages: most[0], Largest: most[2], Stage: most[3]}
	if t.Messages > 0 {
		t.Smallest = -most[1]
	}
	return t, nil
}
