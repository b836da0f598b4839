// Program of the tests of package world: C learns of the end of receives without Go.
package main

/*
#include <stdint.h>
typedef struct { int32_t started, calls, errors, stop; int64_t bytes; } tally;
static tally all;
static tally *everything(void) { return &all; }
static void complete(void *cookie, int64_t bytes, int32_t err) {
	tally *t = cookie;
	if (bytes < 0) { // it has started
		t->started++;
		return;
	}
	t->calls++;
	t->bytes += bytes;
	t->errors += err != 0;
	__atomic_store_n(&t->stop, t->calls == 100, __ATOMIC_RELEASE);
}
static void *completer(void) { return complete; }
*/
import "C"

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// mover has C told of every receive into a buffer of 80 bytes.
type mover struct{}

func (mover) Move(_, _ unsafe.Pointer, _ int, _ int64) (*uint32, uint32) { return nil, 0 }

func (mover) Completer(_ unsafe.Pointer, n int) (fn, cookie unsafe.Pointer) {
	if n != 80 {
		return nil, nil
	}
	return C.completer(), unsafe.Pointer(C.everything())
}

// receive receives 100 messages, all but one of which fit.
func receive(c *mpi.Comm) error {
	all := C.everything()
	(*engine.Comm)(c).Engine().(engine.Carrier).Carry(mover{})
	calls := make([]*engine.Call, 100)
	for i := range calls {
		calls[i] = &engine.Call{Kind: engine.CallRecv, Comm: (*engine.Comm)(c), Peer: 0, Tag: i, Recv: engine.Buffer(mpi.Of(make([]int64, 10)))}
	}
	(*engine.Comm)(c).Engine().Post(calls)
	if err := c.Barrier(); err != nil {
		return err
	}
	stop := (*int32)(&all.stop)
	for end := time.Now().Add(time.Minute); atomic.LoadInt32(stop) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // no call of the engine
	}
	if all.started != 100 || all.calls != 100 || all.errors != 1 {
		return fmt.Errorf("C was called %d times at the start and %d at the end, with %d errors", all.started, all.calls, all.errors)
	}
	(*engine.Comm)(c).Engine().Poll()
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
