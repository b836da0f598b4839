// Temporary driver.
package main

import (
	"fmt"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
)

func main() {
	c, _ := system.Init()
	for rep := range 4 {
		mem, x := make([]int32, 6), make([]int32, 6)
		for i := range mem {
			mem[i], x[i] = int32(100*(c.Rank()+1)+i), int32(100*(c.Rank()+1)+i)
		}
		w, err := c.NewWin(mpi.Of(mem))
		if err != nil {
			panic(err)
		}
		op := mpi.Sum
		if rep%2 == 1 {
			op = mpi.Max
		}
		fmt.Println(rep, w.Accumulate(mpi.Of(x), op, (c.Rank()+1)%2, 0))
		fmt.Println(w.Fence())
		fmt.Println(c.Rank(), mem)
		w.Free()
	}
	fmt.Println(c.Engine().Finalize())
}
