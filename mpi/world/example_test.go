package world_test

import (
	"flag"
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// The main function of a program. Under mpirun it runs as the number of ranks of -np,
// otherwise as two ranks in this process. A program ends with world.Exit(err).
func ExampleRun() {
	err := world.Run(func(c *mpi.Comm) error {
		sum, one := 0, 1
		if err := c.Reduce(mpi.One(&one), mpi.One(&sum), mpi.Sum, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(sum, "ranks")
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 2 ranks
	// <nil>
}

// The flags that all programs of weft have.
func ExampleFlags() {
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	w := world.Flags(fs)
	err := fs.Parse([]string{"-ranks", "3", "-net", "10gige"})
	fmt.Println(w.Ranks, w.Net.Name, err)
	// Output: 3 10gige <nil>
}
