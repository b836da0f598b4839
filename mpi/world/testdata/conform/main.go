// Temporary driver.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/weft-hpc/weft/mpi/mpitest"
	"github.com/weft-hpc/weft/mpi/system"
)

func main() {
	only := flag.String("run", "", "")
	hang := flag.Duration("hang", 15*time.Second, "")
	flag.Parse()
	c, err := system.Init()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	o := mpitest.Options{Out: os.Stdout, Hang: *hang, Lacks: mpitest.OrderCheck | mpitest.KeepsNaN}
	if *only != "" {
		o.Only = func(n string) bool { return strings.HasPrefix(n, *only) }
	}
	p, err := mpitest.Run(c, o)
	if err != nil {
		fmt.Println("run:", err)
	}
	if c.Rank() == 0 {
		fmt.Println(p.Counts())
	}
	if err := c.Engine().Finalize(); err != nil {
		fmt.Println("finalize:", err)
		os.Exit(1)
	}
}
