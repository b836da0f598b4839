package task

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
)

// Record is one task. Declared tasks embed it as the first field of a typed
// record that also holds the arguments.
type Record struct {
	deps.Node // must be first: see FromNode

	Decl     *Decl
	Domain   *Domain // domain that it was spawned in
	Children *Domain // domain of its children, nil if it has none; owned by the running body
	Exec     Runner  // set when it starts
	Err      error   // owned by the inserter, then by the runner
	PC       uintptr // of the spawn, if the domain records it
	cold     *Cold
	home     *Pool

	Prio   int32
	Worker int32 // the only worker that may run it, plus 1; 0: any
	Flags  Flags
	refs   int32 // body, held events, children; used if Flags has Extended

	acc  [inlineAccesses]Access
	nacc int32
	more []Access
}

const inlineAccesses = 4

// Flags are properties that most records lack. The inserter sets them; once a record is
// committed its runner changes them with Mark and Unmark only, because reports of stalls read
// them at any time.
type Flags uint32

const (
	Extended    Flags = 1 << iota // refs counts
	Inline                        // the spawner runs it itself (If(false), Final, serial mode)
	Final                         // so do its children
	Commutes                      // has commutative accesses: takes their locks before it runs
	Comm                          // runs on the executor of the comm target
	Hooked                        // has an OnReady hook
	Unspawned                     // a bad spawn: Err was set before Commit
	Internal                      // a gate or a combine node, not a user's task
	Costed                        // Cost is set
	Gated                         // has gates
	Independent                   // a body of the comm target whose messages match no other task's
	Leased                        // a body of the comm target that a worker with the lease may run
	Skipped                       // did not run: a predecessor failed, or the run was cancelled
	coldUsed
)

// Access is one declared access of a record.
type Access struct {
	Entry *deps.Entry // valid until the record has ended
	Mode  deps.Mode
	Weak  bool
	Param int8 // index of the parameter, -1 for clauses of the dynamic form
}

// Cold holds the rarely used fields. It stays with its record for reuse.
type Cold struct {
	Label     string
	OnReady   func()
	Cost      int64 // nanoseconds
	Gates     []*Gate
	Parts     []Part          // private copies, one per reduction parameter
	Locks     []*deps.Lock    // for its commutative accesses, in the order of locking
	Overtakes []*deps.Arrival // by its lazy reads
	place     atomic.Int32    // for an Inline record: placeWaits, placeReady or placeLeft

	open  int      // gates known to be open
	Named []any    // verify mode: the accesses of clauses
	Check Verifier // verify mode: from the start of the body to the end of the task

	mu   sync.Mutex
	late []error // guarded by mu: errors of held events
}

// The spawner runs an Inline record. It waits until the record is ready, unless it leaves
// first.
const (
	placeWaits int32 = iota
	placeReady
	placeLeft
)

// MakeReady marks the Inline record of c as ready and reports whether its spawner runs it;
// if not, the caller queues it.
func (c *Cold) MakeReady() (inPlace bool) { return c.place.Swap(placeReady) != placeLeft }

// IsReady reports whether the Inline record of c is ready.
func (c *Cold) IsReady() bool { return c.place.Load() == placeReady }

// Again revokes the readiness of the Inline record of c: it must wait for a lock. Only its
// spawner may call it, before the wait.
func (c *Cold) Again() { c.place.Store(placeWaits) }

// Leave ends the spawner's wait for the Inline record of c. It reports false if the record
// is ready and belongs to the spawner.
func (c *Cold) Leave() bool { return c.place.CompareAndSwap(placeWaits, placeLeft) }

// FailLate records the failure of a held event of r. Any goroutine that holds a reference.
func (r *Record) FailLate(err error) {
	c := r.cold
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = append(c.late, err)
}

// Late moves the errors of held events into Err. Called when r has no references
// left.
func (r *Record) Late() {
	if c := r.PeekCold(); c != nil && len(c.late) > 0 {
		r.Err = errors.Join(append([]error{r.Err}, c.late...)...)
		c.late = nil
	}
}

// FromNode returns the record that n is part of; nil for nil.
func FromNode(n *deps.Node) *Record { return (*Record)(unsafe.Pointer(n)) }

// Mark sets flags of a committed record. Its runner only.
func (r *Record) Mark(f Flags) { atomic.OrUint32((*uint32)(&r.Flags), uint32(f)) }

// Unmark clears flags of a committed record. Its runner only.
func (r *Record) Unmark(f Flags) { atomic.AndUint32((*uint32)(&r.Flags), ^uint32(f)) }

// Marked reports whether r has the flag f. Any goroutine.
func (r *Record) Marked(f Flags) bool { return Flags(atomic.LoadUint32((*uint32)(&r.Flags)))&f != 0 }

// Cold returns the rarely used part of r, made or cleared on first use. The inserter, then
// the runner.
func (r *Record) Cold() *Cold {
	if r.Flags&coldUsed != 0 {
		return r.cold
	}
	if r.cold == nil {
		r.cold = new(Cold)
	} else {
		c := r.cold
		clear(c.Named)
		c.Named = c.Named[:0]
		clear(c.Gates)
		clear(c.Parts)
		clear(c.Overtakes)
		clear(c.Locks)
		c.Label, c.OnReady, c.Cost, c.open = "", nil, 0, 0
		c.Gates, c.Parts, c.Overtakes, c.Locks = c.Gates[:0], c.Parts[:0], c.Overtakes[:0], c.Locks[:0]
		c.place.Store(placeWaits)
	}
	r.Mark(coldUsed) // by the runner if the body holds an event: a report may be reading the label
	return r.cold
}

// PeekCold returns the rarely used part if this use of r has one, or nil. Any goroutine; but
// the part's fields belong to the inserter, then to the runner, apart from the label.
func (r *Record) PeekCold() *Cold {
	if !r.Marked(coldUsed) {
		return nil
	}
	return r.cold
}

// Label returns the name of the task: its Label clause, or the name of its
// declaration.
func (r *Record) Label() string {
	if c := r.PeekCold(); c != nil && c.Label != "" {
		return c.Label
	}
	return r.Decl.NameOf(r)
}

// Body implements osthread.Task.
func (r *Record) Body() (label string, cost time.Duration, ok bool) {
	if r.Flags&(Comm|Internal) != 0 {
		return "", 0, false
	}
	if r.Flags&Costed != 0 {
		cost = time.Duration(r.PeekCold().Cost)
	}
	return r.Label(), cost, true
}

// Accesses calls f for every access of r.
func (r *Record) Accesses(f func(Access)) {
	for i := range min(int(r.nacc), inlineAccesses) {
		f(r.acc[i])
	}
	for i := inlineAccesses; i < int(r.nacc); i++ {
		f(r.more[i-inlineAccesses])
	}
}

func (r *Record) addAccess(a Access) {
	if r.nacc < inlineAccesses {
		r.acc[r.nacc] = a
	} else {
		i := int(r.nacc) - inlineAccesses
		if i == cap(r.more) {
			r.more = slices.Grow(r.more[:i], 4) // instead of 1, 2, 4
		}
		r.more = append(r.more[:i], a)
	}
	r.nacc++
}

// Expect makes room for n further accesses: growing step by step would cost more than
// registering them. Inserter only.
func (r *Record) Expect(n int, m deps.Mode, weak bool) {
	if n <= inlineAccesses {
		return
	}
	r.more = slices.Grow(r.more[:max(0, int(r.nacc)-inlineAccesses)], n)
	switch {
	case weak:
		c := r.Cold()
		c.Gates = slices.Grow(c.Gates, n)
	case m == deps.Commutative:
		c := r.Cold()
		c.Locks = slices.Grow(c.Locks, n)
	}
}

// sortLocks sorts the locks of r by number, the order in which all records take them, and
// removes duplicates.
func (r *Record) sortLocks() {
	c := r.Cold()
	slices.SortFunc(c.Locks, func(a, b *deps.Lock) int { return cmp.Compare(a.ID, b.ID) })
	c.Locks = slices.Compact(c.Locks)
}

// TryLock takes the commutative locks of r, which is about to run. If another record has
// one of them, TryLock takes none, reports false, and r waits for that lock: then it
// belongs to the caller of again that gets it. TryLock calls again with records, joined by
// their Next links, that may now get the locks that they wait for.
func (r *Record) TryLock(again func(*deps.Node)) bool {
	locks := r.PeekCold().Locks
	w := deps.Waiter{Node: &r.Node, Urgency: r.Prio, Bound: r.Worker != 0 || r.Flags&Inline != 0}
	for {
		i := 0
		for i < len(locks) && locks[i].TryAcquire(&r.Node) {
			i++
		}
		if i == len(locks) {
			return true
		}
		busy := locks[i]
		for _, l := range locks {
			if l != busy {
				again(l.Offer(&r.Node))
			}
		}
		if busy.Await(w) {
			return false
		}
	}
}

// Unlock releases the locks that r has; again is as for TryLock.
func (r *Record) Unlock(again func(*deps.Node)) {
	for _, l := range r.PeekCold().Locks {
		again(l.Offer(&r.Node))
	}
}

// Fail makes r a task that fails without running. Inserter only, before Commit; the first
// error counts.
func (r *Record) Fail(err error) {
	if r.Err == nil {
		r.Err = err
		r.Flags |= Unspawned
		r.Poison()
	}
}

// Extend makes r count references, so that it ends only when body, held events and children
// have ended. The running body may call it, or the inserter before Commit.
func (r *Record) Extend() {
	if r.Flags&Extended == 0 {
		atomic.StoreInt32(&r.refs, 1)
		r.Mark(Extended)
	}
}

// Ref adds a reference. The caller must hold one.
func (r *Record) Ref() { atomic.AddInt32(&r.refs, 1) }

// Unref drops a reference and reports whether it was the last: then the caller
// completes the record.
func (r *Record) Unref() bool { return atomic.AddInt32(&r.refs, -1) == 0 }

// Refs returns the number of references, for reports.
func (r *Record) Refs() int { return int(atomic.LoadInt32(&r.refs)) }

// Decl is a function declared as a task.
type Decl struct {
	ID     int // index of its pools
	Name   string
	File   string
	Line   int
	Params []string // types of the parameters, for messages

	Run    func(r *Record) error // calls the body; on the runner's goroutine
	Skip   func(r *Record)       // runs instead of Run when the task is skipped; may be nil
	Undo   func(r *Record)       // r has failed or was skipped; may be nil
	Clear  func(r *Record)       // drops the arguments, so that the collector can free them
	New    func(n int) []*Record // makes n typed records side by side
	Where  func(r *Record) (name, file string, line int)
	Verify func(r *Record) Verifier // nil if there is nothing to check
	Waits  bool                     // it stands for a wait of its spawner
	Plain  bool                     // the body gets no Context: it waits for no task and no event
}

// Verifier checks one run of a body against its declared accesses.
type Verifier interface {
	Before()
	Run(body func() error) error // runs the body, perhaps more than once
	After(failed bool) error     // when the task waits for nothing any more

	// For children: their bodies run inside the parent's body, or elsewhere.
	ChildStarts(r *Record) error
	ChildEnds(r *Record, ended bool)
	ChildElsewhere()
	Waited() // for all children
}

// NameOf returns the name of the task in r without its Label clause.
func (d *Decl) NameOf(r *Record) string {
	if d.Where != nil {
		name, _, _ := d.Where(r)
		return name
	}
	return d.Name
}

// Source returns the line of the declaration of r's task, or of the spawn of a dynamic
// task.
func (r *Record) Source() (file string, line int) {
	if r.Decl.Where != nil {
		_, file, line = r.Decl.Where(r)
		return file, line
	}
	return r.Decl.File, r.Decl.Line
}

// SpawnSite returns the line that spawned r, "" if it was not recorded.
func (r *Record) SpawnSite() string {
	if r.PC == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

var lastDecl atomic.Int64

// NextDeclID returns the index of a new declaration.
func NextDeclID() int { return int(lastDecl.Add(1)) - 1 }

const module = "github.com/weft-hpc/weft/"

// CallSite returns the program counter of the innermost caller outside the
// packages that implement spawning. It costs about half a microsecond.
func CallSite() uintptr {
	var pcs [16]uintptr
	n := 0
	for _, most := range [...]int{nearCallers, len(pcs)} {
		n = runtime.Callers(2, pcs[:most])
		for _, pc := range pcs[:n] {
			if !implements(pc) {
				return pc
			}
		}
	}
	return pcs[max(n-1, 0)]
}

const nearCallers = 5 // usually enough, and cheaper

// callers caches which return addresses of runtime.Callers lie in the packages that
// implement spawning: a lookup in the symbol table takes a microsecond.
var callers cache[uintptr, bool]

// implements reports whether pc lies in one of these packages.
func implements(pc uintptr) bool {
	yes, known := callers.get(pc)
	if !known {
		f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
		yes = implementation(f.Function)
		callers.put(pc, yes)
	}
	return yes
}

// CallLine returns file:line of [CallSite].
func CallLine() string {
	f, _ := runtime.CallersFrames([]uintptr{CallSite()}).Next()
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// CallFileLine is CallLine in two parts.
func CallFileLine() (string, int) {
	f, _ := runtime.CallersFrames([]uintptr{CallSite()}).Next()
	return f.File, f.Line
}

func implementation(fn string) bool {
	rest, ok := strings.CutPrefix(fn, module)
	if !ok {
		return false
	}
	for _, p := range [...]string{"tasks.", "dataflow.", "internal/task."} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}
