// Temporary driver.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime/pprof"
	"time"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
)

func pingpong(c *mpi.Comm, n, reps int) float64 {
	x := mpi.Alloc[byte](n)
	var t time.Time
	for i := 0; i < reps+reps/10; i++ {
		if i == reps/10 {
			t = time.Now()
		}
		if c.Rank() == 0 {
			c.Send(mpi.Of(x), 1, 1)
			c.Recv(mpi.Of(x), 1, 1)
		} else {
			c.Recv(mpi.Of(x), 0, 1)
			c.Send(mpi.Of(x), 0, 1)
		}
	}
	return float64(time.Since(t).Nanoseconds()) / float64(reps) / 2000
}

func flight(c *mpi.Comm, n, total int) float64 {
	x := make([]int64, n)
	order := rand.New(rand.NewSource(1))
	c.Barrier()
	t := time.Now()
	for done := 0; done < total; done += n {
		if c.Rank() == 0 {
			rs := make([]*mpi.Request, n)
			for i := range rs {
				rs[i] = c.Irecv(mpi.Of(x[i:i+1]), 1, i)
			}
			c.Barrier()
			if err := mpi.Waitall(rs...); err != nil {
				panic(err)
			}
		} else {
			c.Barrier()
			for _, i := range order.Perm(n) {
				c.Send(mpi.Of(x[i:i+1]), 0, i)
			}
		}
	}
	return float64(time.Since(t).Nanoseconds()) / float64(total) / 1000
}

func main() {
	c, err := system.Init()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if c.Rank() == 0 && os.Getenv("PROF") != "" {
		f, _ := os.Create(os.Getenv("PROF"))
		pprof.StartCPUProfile(f)
		pingpong(c, 8, 3000000)
		pprof.StopCPUProfile()
	} else if os.Getenv("PROF") != "" {
		pingpong(c, 8, 3000000)
	}
	for _, n := range []int{8, 65536, 1 << 20} {
		l := pingpong(c, n, 200000/(1+n/100))
		if c.Rank() == 0 {
			fmt.Printf("go %d B: %.3f us %.2f GB/s\n", n, l, float64(n)/l/1000)
		}
	}
	for _, n := range []int{10, 1000, 10000} {
		l := flight(c, n, 20000)
		if c.Rank() == 0 {
			fmt.Printf("go %d in flight: %.3f us per completion\n", n, l)
		}
	}
	if err := c.Engine().Finalize(); err != nil {
		fmt.Println("finalize:", err)
		os.Exit(1)
	}
}
