package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// rank is the argument of the body of a case: a communicator, and methods that fail. A
// failure ends the body, like FailNow of package testing.
type rank struct {
	*mpi.Comm
	*state
}

// state is the state of a rank during one case, common to all its communicators.
type state struct {
	long    bool
	seed    uint64
	derived []*mpi.Comm // made during the case, and not freed
	stage   atomic.Pointer[string]
}

// failure is the value of the panic that ends a body.
type failure struct{ text string }

// run runs the body of the case and returns the failure of this rank, "" if there is none.
func (k *Case) run(r *rank) (text string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			text = p.text
		default:
			text = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	k.body(r)
	return ""
}

// inner returns the communicator as engines see it.
func (r *rank) inner() *engine.Comm { return (*engine.Comm)(r.Comm) }

// on returns r with another communicator.
func (r *rank) on(c *mpi.Comm) *rank { return &rank{c, r.state} }

// at sets the stage of the case, for failures and for the guard.
func (r *rank) at(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	r.stage.Store(&s)
}

func (r *rank) failf(format string, args ...any) {
	text := caller() + ": " + fmt.Sprintf(format, args...)
	if s := r.stage.Load(); s != nil {
		text += " (" + *s + ")"
	}
	panic(failure{text})
}

// caller returns file and line of the innermost caller in a file of cases.
func caller() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		base := filepath.Base(f.File)
		if !slices.Contains([]string{"rank.go", "pattern.go", "layout.go"}, base) || !more {
			return fmt.Sprintf("%s:%d", base, f.Line)
		}
	}
}

// must ends the case if err is not nil.
func (r *rank) must(err error) {
	if err != nil {
		r.failf("%v", err)
	}
}

// wants ends the case if err is not of the class.
func (r *rank) wants(err, class error, what string) {
	if !errors.Is(err, class) {
		r.failf("%s: got %v, and not %q", what, err, class)
	}
}

func (r *rank) equal(what string, got, want any) {
	if got != want {
		r.failf("%s: got %v, and not %v", what, got, want)
	}
}

func (r *rank) right() int { return (r.Rank() + 1) % r.Size() }
func (r *rank) left() int  { return (r.Rank() + r.Size() - 1) % r.Size() }

// dice returns random numbers: the same on all ranks for the same purpose.
func (r *rank) dice(purpose ...int) *rand.Rand {
	return rand.New(rand.NewPCG(r.seed, uint64(seedOf(purpose...))))
}

// recv receives, and checks the status.
func (r *rank) recv(b mpi.Buffer, src, tag int) {
	st, err := r.Recv(b, src, tag)
	r.must(err)
	r.status(st, src, tag, b.Bytes())
}

func (r *rank) status(st mpi.Status, src, tag, bytes int) {
	if want := (mpi.Status{Source: src, Tag: tag, Bytes: bytes}); st != want {
		r.failf("status is %+v, and not %+v", st, want)
	}
}

// wait waits for a request, for its error.
func wait(q *mpi.Request) error {
	_, err := q.Wait()
	return err
}

// keep checks that c was made, and frees it at the end of the case.
func (r *rank) keep(c *mpi.Comm, err error) *rank {
	r.must(err)
	if c == nil {
		r.failf("no communicator")
	}
	r.derived = append(r.derived, c)
	return r.on(c)
}

// drop frees a communicator of keep.
func (r *rank) drop() {
	r.derived = slices.DeleteFunc(r.derived, func(c *mpi.Comm) bool { return c == r.Comm })
	r.must(r.Free())
}

// usable checks that the communicator still works: a message around the ring, and
// a sum.
func (r *rank) usable() {
	const tag = 12321
	got := make([]int64, 3)
	_, err := r.Sendrecv(mpi.Of(words(seedOf(r.Rank()), 3)), r.right(), tag, mpi.Of(got), r.left(), tag)
	r.must(err)
	same(r, "message around the ring", got, words(seedOf(r.left()), 3))
	sum := []int64{int64(r.Rank())}
	r.must(r.Allreduce(mpi.InPlace, mpi.Of(sum), mpi.Sum))
	r.equal("sum of the ranks", sum[0], int64(r.Size()*(r.Size()-1)/2))
}

// gatherAll returns x of all ranks on every rank.
func (r *rank) gatherAll(x int64) []int64 {
	all := make([]int64, r.Size())
	r.must(r.Allgather(mpi.One(&x), mpi.Of(all)))
	return all
}

// yield lets other ranks run between two tests of a request: there may be more ranks than
// cores.
func (r *rank) yield() {
	runtime.Gosched()
	osthread.Relax() // where only this lets time pass
}
