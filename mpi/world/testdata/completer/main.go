// Program of the tests of package world: C learns of the end of receives without Go.
package main

/*
#include <stdint.h>
typedef struct { int32_t calls, errors, stop; int64_t bytes; } tally;
static tally all;
static tally *everything(void) { return &all; }
static void complete(void *cookie, int64_t bytes, int32_t err) {
	tally *t = cookie;
	t->calls++;
	t->bytes += bytes;
	t->errors += err != 0;
	t->stop = t->calls == 100;
}
static void *completer(void) { return complete; }
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

// receive receives 100 messages, all but one of which fit.
func receive(c *mpi.Comm) error {
	e := c.Engine().(system.CCompleter)
	all := C.everything()
	calls := make([]*mpi.Call, 100)
	for i := range calls {
		calls[i] = &mpi.Call{Kind: mpi.CallRecv, Comm: c, Peer: 0, Tag: i, Recv: mpi.Of(make([]int64, 10))}
	}
	c.Engine().Post(calls)
	for _, k := range calls {
		e.OnComplete(k, C.completer(), unsafe.Pointer(all))
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); all.stop == 0 && time.Now().Before(end); {
		e.Progress(10*time.Second, (*int32)(&all.stop))
	}
	if all.calls != 100 || all.errors != 1 {
		return fmt.Errorf("C was called %d times, with %d errors", all.calls, all.errors)
	}
	for i, k := range calls {
		if !k.Done() || (k.Err != nil) != (i == 50) {
			return fmt.Errorf("message %d: done %v, error %v", i, k.Done(), k.Err)
		}
	}
	return nil
}

func send(c *mpi.Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	for i := range 100 {
		n := 10
		if i == 50 {
			n = 11
		}
		if err := c.Send(mpi.Of(make([]int64, n)), 1, i); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	world.Exit(world.Run(func(c *mpi.Comm) error {
		if c.Rank() == 0 {
			return send(c)
		}
		return receive(c)
	}))
}
