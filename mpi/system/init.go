//go:build mpi && cgo

package system

/*
#cgo linux LDFLAGS: -Wl,--export-dynamic
#cgo CFLAGS: -O2 -D_GNU_SOURCE -Wno-unused-result
#cgo noescape weft_do
#cgo nocallback weft_do
#cgo noescape weft_do_on
#cgo nocallback weft_do_on
#cgo nocallback weft_post
#cgo nocallback weft_post_wait
#cgo nocallback weft_poll
#cgo nocallback weft_wait
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/internal/schedule"
)

// ErrNotBuilt is the error of [Init] in builds without MPI.
var ErrNotBuilt = errors.New("mpi/system: this program was built without MPI")

// Available reports whether this build has the engine.
func Available() bool { return true }

// Library returns the name and version of the MPI library that the program was built with:
// "Open MPI 4.1.4". Any goroutine.
func Library() string { return cText(func(p *C.char, n C.int) { C.weft_built(p, n) }) }

// cText returns the text that C writes into a buffer.
func cText(fill func(p *C.char, n C.int)) string {
	const room = 4096
	p := (*C.char)(C.calloc(1, room))
	defer C.free(unsafe.Pointer(p))
	fill(p, room)
	return C.GoString(p)
}

var started atomic.Bool

// Init starts MPI with MPI_THREAD_SERIALIZED and returns the world communicator. Any
// goroutine may call it, once in the life of a process, before threads are pinned, because
// the library's threads inherit the mask. It blocks until all ranks have called it. It
// removes signal handlers that the library installs over Go's, and gives the monitor thread of
// the Go runtime the policy SCHED_IDLE, for the life of the process. Errors: a second Init
// ([mpi.ErrState]); errors of MPI ([mpi.ErrEngine]). Without a launcher there is one rank.
func Init() (*mpi.Comm, error) {
	if !started.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("mpi/system: Init: %w: MPI is started once in the life of a process", engine.ErrState)
	}
	if err := prepare(); err != nil {
		return nil, fmt.Errorf("mpi/system: Init: %w", err)
	}
	running := cText(func(p *C.char, n C.int) { C.weft_running(p, n) })
	if family, _, _ := strings.Cut(Library(), " "); !strings.Contains(running, family) {
		return nil, fmt.Errorf("mpi/system: Init: %w: built for %s, but the library found at run time is %q: look at LD_LIBRARY_PATH", engine.ErrEngine, Library(), running)
	}
	checks, err := checksOrder()
	if err != nil {
		return nil, err
	}
	var rank, size, maxTag C.int
	e := &rankEngine{name: Library(), host: host(), checks: checks, types: map[layout]int32{}}
	if rc := C.weft_init(&rank, &size, &maxTag, &e.mem); rc != 0 {
		return nil, fmt.Errorf("mpi/system: Init: %w: %s", engine.ErrEngine, errorText(rc))
	}
	e.mem.long_wait = C.int64_t(longWait)
	e.limits = engine.Limits{MaxTag: int(maxTag), Eager: eager}
	e.unsignedOrder = C.weft_unsigned_order() != 0
	e.runner = schedule.NewRunner(e.Post, nil)
	world := make([]int, size)
	for i := range world {
		world[i] = i
	}
	e.enter(0, &communicator{rank: int(rank), world: world, key: 1})
	osthread.CalmMonitor() // beside a goroutine that waits in C it never rests
	return (*mpi.Comm)(engine.NewWorld(e)), nil
}

const singleCopy = "OMPI_MCA_btl_vader_single_copy_mechanism"

// settings are Open MPI settings that the engine needs; values in the environment take
// precedence.
var settings = map[string]string{
	// Signals belong to Go.
	"OMPI_MCA_opal_signal": "",
	// 4.1 writes a message that is too long for its receive past the end of the buffer if
	// the sender puts it there: to itself and over TCP, without these settings.
	"OMPI_MCA_btl_self_flags": "send,inplace",
	"OMPI_MCA_btl_tcp_flags":  "send,inplace",
	// Between processes of one machine, two simultaneous copies by fragments are faster
	// than the system's single one, which looks up every page: 1 MiB takes 30 to 45 us
	// instead of 90 to 110. With 16 fragments in flight a rank that polls rarely moves 0.5
	// MB at a time.
	singleCopy:                             "none",
	"OMPI_MCA_pml_ob1_send_pipeline_depth": "16",
}

// prepare sets up the environment for the library.
func prepare() error {
	var errs []error
	set := func(name, value string) {
		if _, there := os.LookupEnv(name); !there {
			errs = append(errs, os.Setenv(name, value))
		}
	}
	for name, value := range settings {
		set(name, value)
	}
	if value := os.Getenv(singleCopy); value != "none" && C.weft_guarded() == 0 {
		errs = append(errs, fmt.Errorf("%s=%s: this program is linked in a way that lets a message that is too long overwrite what lies behind its receive: leave the setting out", singleCopy, value))
	}
	if adapters, _ := os.ReadDir("/sys/class/infiniband"); len(adapters) == 0 {
		set("OMPI_MCA_osc", "^ucx") // UCX offers windows that it cannot create
		if severalHosts(os.Getenv) {
			// Over TCP, handshakes seem to wait behind the data of other messages: NAS FT class A as
			// slabs, in messages of 512 KB, took 3.8 s instead of 2.4.
			set("UCX_RNDV_THRESH", "1m")
		}
	}
	return errors.Join(errs...)
}

// eager is the size of messages that both libraries send at once, over every transport.
const eager = 1024

func errorText(rc C.int) string {
	return cText(func(p *C.char, n C.int) { C.weft_text(rc, p, n) })
}

// host identifies the machine and its present boot.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown host"
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return name
	}
	return name + " " + strings.TrimSpace(string(boot))
}
