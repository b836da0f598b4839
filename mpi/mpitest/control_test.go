package mpitest

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
)

// broken is the engine of one rank with one fault: before may change every call that is
// posted, after every call that has completed.
type broken struct {
	engine.Engine
	before func(b *broken, k *engine.Call)
	after  func(k *engine.Call)
	held   []*engine.Call // receives that swap keeps back
	count  int
}

func (b *broken) enter(k *engine.Call) {
	if b.before != nil {
		b.before(b, k)
	}
	if user := k.OnDone; b.after != nil {
		k.OnDone = func(k *engine.Call) {
			k.OnDone = user
			b.after(k)
			if user != nil {
				user(k)
			}
		}
	}
}

func (b *broken) Post(calls []*engine.Call) {
	for _, k := range calls {
		b.enter(k)
	}
	b.Engine.Post(calls)
}

func (b *broken) Do(k *engine.Call) {
	b.enter(k)
	b.Engine.Do(k)
}

// swapper exchanges the order of two receives for one sender and tag, as if their messages
// had overtaken each other.
type swapper struct{ broken }

func (s *swapper) Post(calls []*engine.Call) {
	for _, k := range calls {
		if k.Kind != engine.CallRecv || k.Tag == mpi.AnyTag {
			s.flush()
			s.Engine.Post([]*engine.Call{k})
			continue
		}
		s.held = append(s.held, k)
		if len(s.held) == 2 {
			slices.Reverse(s.held)
			s.flush()
		}
	}
}

func (s *swapper) flush() {
	s.Engine.Post(s.held)
	s.held = nil
}

func (s *swapper) Do(k *engine.Call) { s.flush(); s.Engine.Do(k) }
func (s *swapper) Poll() int         { s.flush(); return s.Engine.Poll() }
func (s *swapper) Await(any bool, calls []*engine.Call) {
	s.flush()
	s.Engine.Await(any, calls)
}

// hasty completes receives when they are posted, before their data has arrived.
type hasty struct{ broken }

func (h *hasty) Post(calls []*engine.Call) {
	for _, k := range calls {
		if k.Kind == engine.CallRecv && k.Peer >= 0 && k.Tag >= 0 {
			room := make([]byte, k.Recv.Bytes())
			h.Engine.Post([]*engine.Call{{Kind: k.Kind, Comm: k.Comm, Peer: k.Peer, Tag: k.Tag, Recv: engine.Raw(unsafe.Pointer(unsafe.SliceData(room)), len(room), k.Recv)}})
			k.Complete(engine.Status{Source: k.Peer, Tag: k.Tag, Bytes: len(room)}, nil)
			continue
		}
		h.Engine.Post([]*engine.Call{k})
	}
}

// silent completes some calls without carrying them out.
type silent struct {
	broken
	kinds []engine.CallKind
}

func (s *silent) Do(k *engine.Call) {
	if slices.Contains(s.kinds, k.Kind) {
		k.Complete(engine.Status{}, nil)
		return
	}
	s.Engine.Do(k)
}

// forgetful lists no outstanding calls, and counts completions that did not happen.
type forgetful struct{ broken }

func (f *forgetful) Outstanding(func(*engine.Call)) {}
func (f *forgetful) Poll() int                      { return f.Engine.Poll() + 1 }

// flip changes one bit of the last element of a buffer.
func flip(b engine.Buffer) {
	if n := b.Len(); n > 0 {
		blocks, block, stride := b.Layout()
		last := (blocks-1)*stride + block - 1
		*(*byte)(unsafe.Add(b.Pointer(), last*b.ElemSize())) ^= 1
	}
}

// onKind returns a fault in calls of one kind only.
func onKind(kind engine.CallKind, fault func(b *broken, k *engine.Call)) func(engine.Engine) engine.Engine {
	return func(next engine.Engine) engine.Engine {
		return &broken{Engine: next, before: func(b *broken, k *engine.Call) {
			if k.Kind == kind {
				fault(b, k)
			}
		}}
	}
}

func afterKind(kind engine.CallKind, fault func(k *engine.Call)) func(engine.Engine) engine.Engine {
	return func(next engine.Engine) engine.Engine {
		return &broken{Engine: next, after: func(k *engine.Call) {
			if k.Kind == kind {
				fault(k)
			}
		}}
	}
}

// reversed returns op with exchanged operands.
func reversed(op *engine.Op) *engine.Op {
	r, _ := mpi.NewOp(op.Name(), false, func(acc, in []matrix) {
		for i := range acc {
			x := in[i]
			op.Apply(unsafe.Pointer(&x), unsafe.Pointer(&acc[i]), 1, engine.Buffer(mpi.Of(acc)))
			acc[i] = x
		}
	})
	return (*engine.Op)(r)
}

// faults are engines that break one promise each.
var faults = []struct {
	name  string
	wrap  func(next engine.Engine) engine.Engine
	cases []string // the cases that must fail
	races bool     // the fault is also a data race on the memory of a window
}{
	{"two messages of one sender and tag change places", func(next engine.Engine) engine.Engine { return &swapper{broken{Engine: next}} },
		[]string{"order/one tag"}, false},
	{"a bit of a received message is flipped", afterKind(engine.CallRecv, func(k *engine.Call) { flip(k.Recv) }),
		[]string{"transfer/sizes", "transfer/layouts", "transfer/kinds", "order/unexpected messages", "random/programs"}, false},
	{"a byte behind the message is written to", afterKind(engine.CallRecv, func(k *engine.Call) {
		if k.Recv.Contiguous() && k.Recv.Len() > 0 && k.Recv.ElemSize() == 1 {
			*(*byte)(unsafe.Add(k.Recv.Pointer(), k.Recv.Bytes())) = 0
		}
	}), []string{"transfer/sizes", "transfer/shorter than the buffer"}, false},
	{"the status is lost", afterKind(engine.CallRecv, func(k *engine.Call) { k.Status = engine.Status{} }),
		[]string{"transfer/sizes", "transfer/sendrecv", "order/any source", "request/waitany"}, false},
	{"the status tells the length of the buffer", afterKind(engine.CallRecv, func(k *engine.Call) { k.Status.Bytes = k.Recv.Bytes() }),
		[]string{"transfer/shorter than the buffer", "transfer/no bytes"}, false},
	{"messages go to the wrong rank", onKind(engine.CallSend, func(_ *broken, k *engine.Call) { k.Peer = (k.Peer + 1) % k.Comm.Size() }),
		[]string{"order/ring from any source", "transfer/sendrecv of different tags and sizes"}, false},
	{"a truncated message is not reported", afterKind(engine.CallRecv, func(k *engine.Call) { k.Err = nil }),
		[]string{"truncate/receive posted first", "truncate/one of many"}, false},
	{"synchronous sends do not wait", onKind(engine.CallSsend, func(_ *broken, k *engine.Call) { k.Kind = engine.CallSend }),
		[]string{"synchronous/waits for its receive", "synchronous/waits for its receive, to itself"}, false},
	{"receives complete too early", func(next engine.Engine) engine.Engine { return &hasty{broken{Engine: next}} },
		[]string{"transfer/sizes", "request/thousands in random order"}, false},
	{"calls complete twice", func(next engine.Engine) engine.Engine {
		return &broken{Engine: next, before: func(_ *broken, k *engine.Call) {
			if user := k.OnDone; user != nil {
				k.OnDone = func(k *engine.Call) { user(k); user(k) }
			}
		}}
	}, []string{"engine/every call completes once"}, false},
	{"in place is taken for a buffer of zeros", onKind(engine.CallAllreduce, func(_ *broken, k *engine.Call) {
		if k.Send.IsInPlace() && k.Recv.Bytes() > 0 {
			zeros := make([]byte, k.Recv.Bytes())
			k.Send = engine.Raw(unsafe.Pointer(&zeros[0]), len(zeros), k.Recv)
		}
	}), []string{"allreduce/sizes", "reductions/layouts"}, false},
	{"the root is another one", onKind(engine.CallBcast, func(_ *broken, k *engine.Call) { k.Peer = (k.Peer + 1) % k.Comm.Size() }),
		[]string{"bcast/every root and size", "bcast/one after another", "bcast/layouts differ"}, false},
	{"a sum is off by a bit", afterKind(engine.CallAllreduce, func(k *engine.Call) { flip(k.Recv) }),
		[]string{"allreduce/sizes", "operation/predefined on integers", "operation/of the user, commutative"}, false},
	{"exscan writes on rank 0", afterKind(engine.CallExscan, func(k *engine.Call) {
		if k.Comm.Rank() == 0 {
			flip(k.Recv)
		}
	}), []string{"scan/sizes"}, false},
	{"the order of ranks is reversed", func(next engine.Engine) engine.Engine {
		return &broken{Engine: next, before: func(_ *broken, k *engine.Call) {
			if k.Op != nil && !k.Op.Predefined() && k.Recv.Kind() == engine.KindOpaque {
				k.Op = reversed(k.Op)
			}
		}}
	}, []string{"operation/of the user, in the order of ranks"}, false},
	{"parts of a gather are moved", onKind(engine.CallGather, func(_ *broken, k *engine.Call) {
		if k.RecvDispls != nil {
			k.RecvDispls = slices.Clone(k.RecvDispls)
			k.RecvDispls[0]--
		}
	}), []string{"gatherv/gaps and empty parts"}, false},
	{"a barrier is none", func(next engine.Engine) engine.Engine {
		return &silent{broken{Engine: next}, []engine.CallKind{engine.CallBarrier}}
	},
		[]string{"window/flush, then a barrier"}, true},
	{"every third notification is lost", onKind(engine.CallNotify, func(b *broken, k *engine.Call) {
		if b.count++; b.count%3 == 0 {
			k.Kind = engine.CallPut
		}
	}), []string{"notify/one after another"}, true},
	{"notifications are on another counter", onKind(engine.CallNotify, func(_ *broken, k *engine.Call) { k.Tag ^= 1 }),
		[]string{"notify/counters are apart"}, true},
	{"a notification comes without its data", onKind(engine.CallNotify, func(_ *broken, k *engine.Call) { k.Send = engine.Buffer{} }),
		[]string{"notify/data is in place", "notify/from all ranks", "notify/there and back"}, false},
	{"tiles have no gaps", onKind(engine.CallNotify, func(_ *broken, k *engine.Call) { k.LD = k.Rows }), []string{"notify/tiles"}, true},
	{"puts are late by one element", onKind(engine.CallPut, func(_ *broken, k *engine.Call) { k.Offset = max(k.Offset-1, 0) }),
		[]string{"window/put", "window/layouts"}, true},
	{"accumulations replace", onKind(engine.CallAccumulate, func(_ *broken, k *engine.Call) { k.Op = engine.Replace }),
		[]string{"accumulate/sums from all ranks", "accumulate/operations", "accumulate/no update is lost"}, false},
	{"locks exclude nobody", func(next engine.Engine) engine.Engine {
		return &silent{broken{Engine: next}, []engine.CallKind{engine.CallLock, engine.CallUnlock}}
	}, []string{"lock/keeps others out"}, true},
	{"calls are forgotten", func(next engine.Engine) engine.Engine { return &forgetful{broken{Engine: next}} },
		[]string{"engine/outstanding calls", "engine/poll counts completions"}, false},
	{"probes tell of the wrong tag", afterKind(engine.CallProbe, func(k *engine.Call) { k.Status.Tag++ }),
		[]string{"probe/blocking", "probe/first of a sender"}, false},
}

// The negative control: the suite finds every fault.
func TestBrokenEnginesFail(t *testing.T) {
	for _, f := range faults {
		for _, name := range f.cases {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				if strings.Contains(f.name, "notification") {
					t.Parallel() // until its report of a deadlock, 2 s, it mostly sleeps
				}
				if f.races && invariant.Race {
					t.Skip("the race detector would find this fault: run it without")
				}
				tries := 1
				if f.races {
					tries = 20 // it shows only when ranks run at the same time
				}
				for !found(t, f.wrap, name) {
					tries--
					require.Positive(t, tries, "the fault is not found")
				}
			})
		}
	}
}

// found reports whether one run of a case fails with the engine that wrap returns.
func found(t *testing.T, wrap func(engine.Engine) engine.Engine, name string) bool {
	p, err := onBroken(wrap, name, time.Second)
	if err != nil && (strings.Contains(err.Error(), "hangs in case") || strings.Contains(err.Error(), "a deadlock")) {
		return true
	}
	require.Len(t, p.Results, 1)
	return len(p.Results[0].Failures) > 0
}

// onBroken runs one case. It wraps the engine of every rank only inside the body, because
// the suite itself needs a working engine.
func onBroken(wrap func(engine.Engine) engine.Engine, name string, hang time.Duration) (p Report, err error) {
	k := *caseOf(name)
	body := k.body
	k.body = func(r *rank) {
		restore := (*engine.Comm)(r.inner()).Intercept(wrap)
		defer restore()
		body(r)
	}
	err = onLocal(3)(func(c *mpi.Comm) error {
		mine, err := Options{Hang: hang, Err: io.Discard}.run(c, []Case{k})
		if c.Rank() == 0 {
			p = mine
		}
		return err
	})
	return p, err
}

func caseOf(name string) *Case {
	all := Cases()
	i := slices.IndexFunc(all, func(k Case) bool { return k.Name == name })
	if i < 0 {
		panic("no case " + name)
	}
	return &all[i]
}

// A tool that changes nothing is not a fault.
func TestSoundEnginePasses(t *testing.T) {
	for _, name := range []string{"order/one tag", "engine/every call completes once", "notify/counters are apart", "random/programs"} {
		p, err := onBroken(func(next engine.Engine) engine.Engine { return &broken{Engine: next, after: func(*engine.Call) {}} }, name, time.Minute)
		require.NoError(t, err)
		require.Empty(t, p.Results[0].Failures)
	}
}

// A case that hangs is reported with its stage on every rank, and ends.
func TestHangIsReported(t *testing.T) {
	hang := Case{Name: "hang", body: func(r *rank) {
		r.at("waiting for rank %d", r.left())
		_, _ = r.Recv(mpi.Of(make([]byte, 1)), r.left(), 0)
	}}
	var out [2]bytes.Buffer
	err := onLocal(2)(func(c *mpi.Comm) error {
		o := Options{Hang: 100 * time.Millisecond, Err: &out[c.Rank()]}
		_, err := o.run(c, []Case{hang})
		return err
	})
	require.Error(t, err)
	require.Contains(t, out[0].String(), `rank 0 hangs in case "hang", stage "waiting for rank 1"`)
	require.Contains(t, out[1].String(), `rank 1 hangs in case "hang", stage "waiting for rank 0"`)
}

// One run of several cases: a failure of one rank does not disturb later cases, and all
// ranks get the same report.
func TestRunReports(t *testing.T) {
	cases := []Case{
		one("good", func(r *rank) { r.usable() }),
		one("bad on rank 1", func(r *rank) {
			if r.Rank() == 1 {
				r.failf("by design")
			}
			_, err := r.Recv(mpi.Of(make([]byte, 1)), 1, 0)
			r.must(err)
		}),
		one("panics", func(r *rank) { panic("with a word") }),
		{Name: "too few", MinRanks: 9},
		one("lacking", nil).needs(OrderCheck),
		one("good again", func(r *rank) { r.usable() }),
		one("not chosen", nil),
	}
	var out bytes.Buffer
	reports := make([]Report, 3)
	err := onLocal(3)(func(c *mpi.Comm) (err error) {
		o := Options{Lacks: OrderCheck, Only: func(name string) bool { return name != "not chosen" }, Out: &out}
		reports[c.Rank()], err = o.run(c, cases)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, reports[0], reports[1])
	require.Equal(t, reports[0], reports[2])
	p := reports[0]
	n, failed, skipped := p.Counts()
	require.Equal(t, []int{6, 2, 2}, []int{n, failed, skipped})
	require.Len(t, p.Results[1].Failures, 3, "the others are told by revocation")
	require.Contains(t, p.Results[1].Failures[1], "control_test.go")
	require.Contains(t, p.Results[1].Failures[1], "by design")
	require.Contains(t, p.Results[2].Failures[0], "panic: with a word")
	require.Equal(t, "needs 9 ranks", p.Results[3].Skipped)
	require.Contains(t, p.Results[4].Skipped, "check of the order")
	require.ErrorContains(t, p.Check(false), "bad on rank 1")
	require.ErrorContains(t, p.Check(true), "too few: skipped: needs 9 ranks")
	require.True(t, strings.HasPrefix(out.String(), "ok   good\nFAIL bad on rank 1: rank 0: "), out.String())
}

// Options.Only chooses cases by their names.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Cases() {
		require.False(t, seen[k.Name], k.Name)
		require.Contains(t, k.Name, "/")
		require.NotNil(t, k.body)
		require.Positive(t, k.MinRanks)
		seen[k.Name] = true
	}
	require.Equal(t, 3, len(needNames))
	require.Equal(t, needsEnd, Needs(1<<len(needNames)))
}
