// Program of the tests of package dds: two ranks, which are processes, send each other
// messages that are read while they arrive, under collections.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

const length = 1 << 22

func value(i, round int) byte { return byte(i*31 + i>>8 + round*7) }

// exchange sends and receives in turns, and reads what it receives at once.
func exchange(c *mpi.Comm, e *dds.Endpoint, x []byte, round int) error {
	if c.Rank() == round%2 {
		for i := range x {
			x[i] = value(i, round)
		}
		t, err := e.Send(mpi.Of(x), 1-c.Rank(), 5)
		if err != nil {
			return err
		}
		for i := range x { // waits where bytes have not left
			x[i] = 0
		}
		return t.Wait()
	}
	t, err := e.Recv(mpi.Of(x), mpi.AnySource, 5)
	if err != nil {
		return err
	}
	y := make([]byte, len(x))
	copy(y, x) // in assembly, as far as it goes
	for i, b := range y {
		if b != value(i, round) {
			return fmt.Errorf("round %d: byte %d is %d and not %d; %v", round, i, b, value(i, round), t.Strips())
		}
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("round %d: read twice, and differently", round)
	}
	return t.Wait()
}

func body(c *mpi.Comm) error {
	a, err := dds.NewArena(2 * length)
	if err != nil {
		return err
	}
	e, err := dds.Open(c, dds.Strips(16))
	if err != nil {
		return err
	}
	x, err := dds.Make[byte](a, length)
	if err != nil {
		return err
	}
	for round := range 12 {
		if err := exchange(c, e, x, round); err != nil {
			return err
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	n := a.Counts()
	name, reason := a.Backend()
	armed := []int64{n.Strips}
	if err := c.Allreduce(mpi.InPlace, mpi.Of(armed), mpi.Sum); err != nil {
		return err
	}
	if c.Rank() == 0 {
		fmt.Printf("result backend=%s strips=%d faults=%d stalls=%d reason=%q\n", name, armed[0], n.Faults, n.Stalls, reason)
	}
	return a.Close()
}

func main() {
	var done atomic.Bool
	debug.SetGCPercent(10)
	go func() {
		for !done.Load() {
			runtime.GC()
		}
	}()
	err := world.Run(body)
	done.Store(true)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	world.Exit(err)
}
