//go:build linux && cgo

package dds

/*
#cgo CFLAGS: -O2 -Wall -Wextra
#include "thread.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/weft-hpc/weft/internal/lazypages"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

const canUffd = true

// Go and C use the same strips: unless the index is 0, this does not compile.
var (
	_ = [1]int{}[unsafe.Sizeof(strip{})-C.sizeof_dds_strip]
	_ = [1]int{}[C.DDS_STRIPS-maxStrips]
	_ = [1]int{}[C.DDS_STALLED-stalled]
)

// uffd is the back end whose pages userfaultfd controls, and whose strips a thread in C
// retires.
type uffd struct {
	a    *Arena
	k    *C.dds_thread
	mu   sync.Mutex
	live atomic.Pointer[[]*guard] // receives in progress; replaced under mu

	userOnly bool // system calls on armed pages fail
	observes bool // touches are recorded, and the kernel's are answered

	closed bool   // guarded by mu
	last   Counts // guarded by mu: the totals at close
}

// guard is Touch's view of a receive. Its strips are memory of C, which is reused for other
// transfers but freed only with the arena: a late reader waits for nothing that is missing,
// or for something else.
type guard struct {
	t      *Transfer
	strips []strip
	from   int
	to     int
	order  Direction
}

// way is a way to get a descriptor of userfaultfd.
type way struct {
	id   C.int
	name string
}

var ways = [...]way{
	{C.DDS_FULL, "the system call, with faults of the kernel"},
	{C.DDS_DEVICE, "/dev/userfaultfd, with faults of the kernel"},
	{C.DDS_USER_ONLY, "the system call, faults of user code only: system calls on armed pages fail with EFAULT"},
}

// newUffd starts the back end in the first way whose probe succeeds.
func newUffd(a *Arena, o *options) (backend, string, error) {
	w, err := probe(&o.forbid)
	if err != nil {
		return nil, "", err
	}
	setClock()
	u := &uffd{a: a, userOnly: w.id == C.DDS_USER_ONLY, observes: o.trace && w.id != C.DDS_USER_ONLY}
	u.live.Store(new([]*guard))
	mask, trace := words(o.cores), C.int(0)
	if o.trace {
		trace = 1
	}
	if err := inherit(false, a.app, a.comm); err != nil {
		return nil, "", fmt.Errorf("userfaultfd works, but children would see this arena: %w", err)
	}
	app, comm := (*C.char)(unsafe.Pointer(&a.app[0])), (*C.char)(unsafe.Pointer(&a.comm[0]))
	if errno := C.dds_open(app, comm, C.uint64_t(len(a.app)), w.id, &mask[0], C.int(len(mask)), trace, &u.k); errno != 0 {
		err := fmt.Errorf("userfaultfd works, but not for this arena: %w", syscall.Errno(errno))
		return nil, "", joined(err, inherit(true, a.app, a.comm)) // the arena works without
	}
	return u, "the probe succeeded by " + w.name, nil
}

// words returns the bits of a set of cores.
func words(set osthread.CPUSet) []C.uint64_t {
	w := make([]C.uint64_t, osthread.MaxCPUs/64)
	for _, cpu := range set.List() {
		w[cpu/64] |= 1 << (cpu % 64)
	}
	return w
}

// probed is the result of the first probe without restrictions.
var probed = sync.OnceValues(func() (way, error) { return probeWays(&forbidden{}) })

func probe(f *forbidden) (way, error) {
	if *f == (forbidden{}) {
		return probed()
	}
	return probeWays(f)
}

var setClock = sync.OnceFunc(func() {
	for range 100 {
		C.dds_set_clock(C.int64_t(osthread.Nanotime()))
	}
})

// probeWays returns the first way that works, or the errors of all.
func probeWays(f *forbidden) (way, error) {
	var all []error
	for i, w := range ways {
		if f.ways[i] {
			continue
		}
		var what [128]C.char
		minor := C.int(0)
		if f.minor {
			minor = 1
		}
		errno := C.dds_probe(w.id, minor, &what[0], C.int(len(what)))
		if errno == 0 {
			return w, nil
		}
		all = append(all, fmt.Errorf("by %s: %s: %w", w.name, C.GoString(&what[0]), syscall.Errno(errno)))
	}
	return way{}, fmt.Errorf("userfaultfd cannot be used here (Linux 5.19, and CAP_SYS_PTRACE, vm.unprivileged_userfaultfd=1, access to its device, or user mode only): %w", errors.Join(all...))
}

func (*uffd) name() string { return Uffd }

func (*uffd) guards(bool) bool { return true }

func (u *uffd) begin(t *Transfer) {
	flags := C.int(0)
	if t.send {
		flags |= C.DDS_SEND
	} else if t.hints.order != AnyOrder {
		if flags |= C.DDS_FIRST; t.hints.order == Down {
			flags |= C.DDS_DOWN
		}
	}
	var strips *C.dds_strip
	n := len(t.cuts) - 1
	h := C.dds_begin(u.k, C.int(n), (*C.uint64_t)(&t.cuts[0]), flags, &strips)
	if h == nil { // no memory: no reader can wait
		t.back = bareMemory
		t.back.begin(t)
		return
	}
	t.handle, t.strips = unsafe.Pointer(h), unsafe.Slice((*strip)(unsafe.Pointer(strips)), n)
	if !t.send {
		s := &guard{t: t, strips: t.strips, from: int(t.cuts[0]), to: int(t.cuts[n]), order: t.hints.order}
		u.mu.Lock()
		live := append(slices.Clone(*u.live.Load()), s)
		u.live.Store(&live)
		u.mu.Unlock()
	}
}

func handleOf(t *Transfer) *C.dds_transfer { return (*C.dds_transfer)(t.handle) }

func (u *uffd) arm(t *Transfer) bool {
	if u.userOnly {
		cautioned.Do(func() { _, _ = io.WriteString(cautions, caution) })
	}
	return C.dds_arm(handleOf(t)) > 0
}

// cautions receives, once, a warning for programs of an ordinary user.
var (
	cautions  io.Writer = os.Stderr
	cautioned sync.Once
)

const caution = "dds: this user's processes cannot make the kernel wait for messages: Read and Write of an os.File, a pipe or a socket fail with EFAULT (bad address) " +
	"on buffers whose message is still arriving, or being sent: call dds.Touch before them; or allow it: access to /dev/userfaultfd, CAP_SYS_PTRACE, or sysctl vm.unprivileged_userfaultfd=1\n"

func (u *uffd) follow(t, leader *Transfer) bool {
	return C.dds_follow(handleOf(t), handleOf(leader)) != 0
}

func (u *uffd) land(t *Transfer, i int) {
	if !t.strips[i].is(landed) {
		C.dds_land(handleOf(t), C.int(i))
	}
}

func (u *uffd) abandon(t *Transfer) { C.dds_abandon(handleOf(t)) }

func (u *uffd) end(t *Transfer) {
	strips := make([]strip, len(t.strips))
	C.dds_end(handleOf(t), (*C.dds_strip)(unsafe.Pointer(&strips[0])))
	t.strips, t.handle = strips, nil
	u.mu.Lock()
	defer u.mu.Unlock()
	live := slices.DeleteFunc(slices.Clone(*u.live.Load()), func(s *guard) bool { return s.t == t })
	u.live.Store(&live)
}

func (u *uffd) busy(from, to int) bool {
	return C.dds_busy(u.k, C.uint64_t(from), C.uint64_t(to)) != 0
}

func (u *uffd) touch(a *Arena, at, n int) {
	for _, s := range *u.live.Load() {
		if at < s.to && s.from < at+n {
			if s.armed(at, at+n) {
				C.dds_help(u.k)
			}
			s.wait(a.app, at, at+n)
		}
	}
}

// armed reports whether a strip of [from, to) may be armed.
func (s *guard) armed(from, to int) bool {
	for i := range s.strips {
		if x := &s.strips[i]; int(x.from) < to && from < int(x.to) && x.load()&(landed|armed) != landed {
			return true
		}
	}
	return false
}

// wait touches the armed pages of [from, to), first the pages on which the others depend.
func (s *guard) wait(app []byte, from, to int) {
	size := pages.Size()
	from, to = from/size*size, min((to+size-1)/size*size, len(app))
	for i := range s.strips {
		x := &s.strips[i]
		if int(x.to) <= from || to <= int(x.from) {
			continue
		}
		if atomic.LoadInt64(&x.touchedAt) == 0 {
			x.touch(osthread.Nanotime())
		}
		if s.order != AnyOrder {
			s.approach(app, i)
			continue
		}
		for p := max(from, int(x.from)/size*size); p < min(to, int(x.to)) && x.is(armed); p += size {
			load(&app[p])
		}
	}
}

// approach waits for strip i; only its first page is armed, perhaps after the strips before
// it have arrived.
func (s *guard) approach(app []byte, i int) {
	for s.strips[i].load()&(landed|armed) != landed {
		for j := range s.strips {
			y := &s.strips[j]
			if !y.is(armed) || j != i && s.strips[i].is(armed) {
				continue
			}
			if s.order == Down {
				load(&app[y.to-1])
			} else {
				load(&app[y.from])
			}
		}
		osthread.Relax()
	}
}

func (u *uffd) move(dst, src unsafe.Pointer, n int, due int64) (*uint32, uint32) {
	at, ok := within(u.a.comm, dst, n)
	if !ok {
		return nil, 0
	}
	var from *C.dds_thread
	source := 0
	if src != nil {
		b, i := findComm(src, n)
		v, is := b.back.(*uffd)
		if !is {
			return nil, 0
		}
		from, source = v.k, i
	}
	var was C.uint32_t
	word := C.dds_move(u.k, C.uint64_t(at), from, C.uint64_t(source), C.uint64_t(n), C.int64_t(due), &was)
	return (*uint32)(unsafe.Pointer(word)), uint32(was)
}

// completer returns the completion function and the cookie of the strip at dst.
func completer(dst unsafe.Pointer, n int) (fn, cookie unsafe.Pointer) {
	a, at := findComm(dst, n)
	if a == nil {
		return nil, nil
	}
	u, is := a.back.(*uffd)
	if !is {
		return nil, nil
	}
	if cookie = C.dds_cookie(u.k, C.uint64_t(at), C.uint64_t(n)); cookie == nil {
		return nil, nil
	}
	return unsafe.Pointer(C.dds_complete), cookie
}

func (u *uffd) counts() Counts {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return u.last
	}
	return u.count()
}

// count reads the totals of the thread. The caller holds the mutex.
func (u *uffd) count() Counts {
	var c C.dds_counts
	C.dds_count(u.k, &c)
	return Counts{Strips: int64(c.strips), Faults: int64(c.faults), Stalls: int64(c.stalls), Stray: int64(c.stray),
		Retired: int64(c.retired), Pages: int64(c.pages), Moved: int64(c.moved)}
}

func (u *uffd) pages() []lazypages.Access {
	var numbers [1024]C.uint64_t
	var times [1024]C.int64_t
	var all []lazypages.Access
	u.mu.Lock()
	defer u.mu.Unlock()
	for !u.closed {
		n := C.dds_touched(u.k, &numbers[0], &times[0], C.int(len(numbers)))
		if n == 0 {
			break
		}
		for i := range numbers[:n] {
			all = append(all, lazypages.Access{Page: int(numbers[i]), At: int64(times[i])})
		}
	}
	return all
}

// close saves the totals, because the thread ends.
func (u *uffd) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last, u.closed = u.count(), true
	C.dds_close(u.k)
}
