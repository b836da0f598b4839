package dataflow_test

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/tasks"
)

// The oracle of the runtime. A program is a list of steps over some memory; it
// can be run by the runtime, in any configuration, and by plain Go, where a spawn
// calls the body at once. Both must leave the same bytes: that is the promise of
// serial elision.
//
// A body folds its number, and everything that it reads, into a hash, and the hash
// into everything that it writes. So a task that runs too early or too late, sees
// half of a write, or runs twice, changes the memory.

// program is what both sides run.
type program struct {
	seed  uint64 // of the first content of the memory
	steps []step
	nodes int  // tasks are numbered from 0
	holds bool // some task ends when a foreign goroutine says so
}

// step is one thing that the main program, or the body of a task, does.
type step struct {
	op   op
	node *node  // of opSpawn
	acc  access // of opWaitOn
}

type op uint8

const (
	opSpawn  op = iota
	opWait      // for all tasks, or all children
	opTouch     // after a wait: the body reads and writes its declared regions once more
	opWaitOn    // for the writers of a region, and reads it
	opBlock
)

// node is one task.
type node struct {
	id     int
	form   form
	accs   []access
	steps  []step
	locals []int // sizes of slices that the body makes for its children
	lbufs  []int // sizes of buffers, likewise

	prio    int
	inline  bool
	final   bool
	worker  int // 0: any, else OnWorker(worker-1)
	hook    bool
	hold    holdKind
	outcome outcome
}

type outcome uint8

const (
	succeeds outcome = iota
	failing          // does everything, and returns an error
	crashes
)

type holdKind uint8

const (
	holdNone  holdKind = iota
	holdEvent          // a goroutine ends the event
	holdWrite          // it also does the writes of the task
)

// access is one parameter of a task, or element of an Each parameter.
type access struct {
	mode   mode
	weak   bool
	lazy   bool
	hidden bool // for negative controls: the body uses it, the declaration does not say so
	kind   kind
	group  int // parameter that it is an element of, in the forms with Each

	from  origin
	index int // of the buffer, the local, or the parent's access
	at    shape
}

// shape selects a block of its parent.
type shape struct{ i, j, rows, cols, ld int }

type mode uint8

const (
	in mode = iota
	out
	inout
	concurrent
	commutative
	sum   // reduction: +
	other // another reduction, with the same operation
	fold  // reduction that neither commutes nor associates
	modes
)

func (m mode) reads() bool   { return m == in || m == inout }
func (m mode) reduces() bool { return m >= sum }

type kind uint8

const (
	slice   kind = iota // []uint64
	tile                // tasks.Tile[uint64]
	pointer             // *uint64
	window              // a type with a method Region
	buffer              // *tasks.Buffer[uint64]
	reals               // []float64
	real1               // *float64
	kinds
)

func (k kind) isReal() bool { return k >= reals }

type origin uint8

const (
	fromInts origin = iota
	fromReals
	fromBuffer
	fromParent
	fromLocal
	fromLocalBuffer
)

// memory is the data of a program.
type memory struct {
	ints  []uint64
	reals []float64
	bufs  []*tasks.Buffer[uint64]
}

const (
	intCells  = 64
	realCells = 16
	bufCells  = 6
	buffers   = 3
)

func newMemory(seed uint64) *memory {
	m := &memory{ints: make([]uint64, intCells), reals: make([]float64, realCells)}
	for i := range m.ints {
		m.ints[i] = mix(seed, uint64(i))
	}
	for i := range m.reals {
		m.reals[i] = unit(mix(seed, 1000+uint64(i)))
	}
	for i := range buffers {
		b := tasks.NewBuffer[uint64](bufCells)
		for j := range b.Slice() {
			b.Slice()[j] = mix(seed, 2000+uint64(i*bufCells+j))
		}
		m.bufs = append(m.bufs, b)
	}
	return m
}

// cells returns the content.
func (m *memory) cells() []uint64 {
	all := slices.Clone(m.ints)
	for _, x := range m.reals {
		all = append(all, math.Float64bits(x))
	}
	for _, b := range m.bufs {
		all = append(all, b.Slice()...)
	}
	return all
}

func (m *memory) digest(h uint64) uint64 {
	for _, x := range m.cells() {
		h = mix(h, x)
	}
	return h
}

// mix is SplitMix64's finalizer over both.
func mix(h, x uint64) uint64 {
	z := h*0x9e3779b97f4a7c15 + x + 0x7f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit makes a number in [0, 1) of which sums round.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// block is a part of a memory: a column-major tile, in the simplest case of one
// column.
type block[T any] struct {
	data           []T
	rows, cols, ld int
}

func whole[T any](s []T) block[T] { return block[T]{s, len(s), 1, len(s)} }

func (b block[T]) sub(s shape) block[T] {
	if s.rows == 0 || s.cols == 0 {
		return block[T]{ld: max(s.ld, 1)}
	}
	ld := b.ld
	if s.ld != 0 {
		ld = s.ld
	}
	return block[T]{b.data[s.i+s.j*b.ld:], s.rows, s.cols, ld}
}

func (b block[T]) each(f func(i int, p *T)) {
	for j := range b.cols {
		for i := range b.rows {
			f(i+j*b.rows, &b.data[i+j*b.ld])
		}
	}
}

// line returns the elements of a block of one column.
func (b block[T]) line() []T {
	if b.rows*b.cols == 0 {
		return nil
	}
	return b.data[:b.rows:b.rows]
}

// view is a body's view of one access.
type view struct {
	ints  block[uint64]
	reals block[float64]
	buf   *tasks.Buffer[uint64] // the version, of a buffer
}

func (v view) digest(h uint64) uint64 {
	v.ints.each(func(_ int, p *uint64) { h = mix(h, *p) })
	v.reals.each(func(_ int, p *float64) { h = mix(h, math.Float64bits(*p)) })
	return h
}

// write changes the view as a task with hash h does in mode m.
func (v view) write(m mode, h uint64, pause func()) {
	v.ints.each(func(i int, p *uint64) {
		x := mix(h, uint64(i))
		switch m {
		case in:
		case out:
			*p = x
		case concurrent:
			atomic.AddUint64(p, x)
		case commutative:
			old := *p
			if i == 0 {
				pause()
			}
			*p = old + x
		default:
			*p = mix(*p, x)
		}
	})
	v.reals.each(func(i int, p *float64) {
		x := unit(mix(h, uint64(i)))
		switch {
		case m == in:
		case m == out:
			*p = x
		case m.reduces():
			*p += x
		default:
			*p = unit(mix(math.Float64bits(*p), math.Float64bits(x)))
		}
	})
}

func viewOf(arg any) view {
	switch x := arg.(type) {
	case []uint64:
		return view{ints: whole(x)}
	case tasks.Tile[uint64]:
		return view{ints: block[uint64]{x.Data, x.Rows, x.Cols, x.LD}}
	case *uint64:
		return view{ints: whole(one(x))}
	case windowed:
		return view{ints: x.block}
	case *tasks.Buffer[uint64]:
		return view{ints: whole(x.Slice()), buf: x}
	case []float64:
		return view{reals: whole(x)}
	case *float64:
		return view{reals: whole(one(x))}
	}
	panic(fmt.Sprintf("no view of a %T", arg))
}

func one[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, 1)
}

// windowed is a parameter type with a Region method.
type windowed struct{ block block[uint64] }

func (w windowed) Region() deps.Region {
	b := w.block
	r, err := deps.Tile(unsafe.Pointer(unsafe.SliceData(b.data)), b.rows, b.cols, b.ld, 8)
	if err != nil {
		panic(err)
	}
	return r
}

// args returns the views as parameters of the access's kind.
func (a *access) arg(v view) any {
	switch a.kind {
	case slice:
		return v.ints.line()
	case tile:
		return tasks.Tile[uint64]{Data: v.ints.data, Rows: v.ints.rows, Cols: v.ints.cols, LD: v.ints.ld}
	case pointer:
		return unsafe.SliceData(v.ints.line())
	case window:
		return windowed{v.ints}
	case buffer:
		return v.buf
	case reals:
		return v.reals.line()
	}
	return unsafe.SliceData(v.reals.line())
}

// frame is a body that runs: of a task, or of the main program.
type frame struct {
	mem    *memory
	node   *node // nil: the main program
	ctx    *tasks.Context
	hash   uint64
	views  []view
	locals []view
	world  world
}

// world is how a body spawns and waits: in plain Go, or with the runtime.
type world interface {
	spawn(f *frame, n *node)
	wait(f *frame) bool
	waitOn(f *frame, a *access, v view) bool
	block(f *frame)
	hold(f *frame, how holdKind, write func())
	pause(f *frame)
}

// locate returns the part of the memory that an access by f, or by its children,
// names.
func (f *frame) locate(a *access) view {
	var v view
	switch a.from {
	case fromInts:
		v.ints = whole(f.mem.ints)
	case fromReals:
		v.reals = whole(f.mem.reals)
	case fromBuffer:
		v.buf = f.mem.bufs[a.index]
	case fromParent:
		v = f.views[a.index]
	case fromLocal, fromLocalBuffer:
		v = f.locals[a.index]
	}
	if v.buf != nil {
		v = viewOf(v.buf) // its newest version
	}
	if a.kind == buffer {
		return v
	}
	if a.kind.isReal() {
		return view{reals: v.reals.sub(a.at)}
	}
	return view{ints: v.ints.sub(a.at)}
}

// perform is the body of every task.
func (f *frame) perform() {
	n := f.node
	for _, size := range n.locals {
		f.locals = append(f.locals, view{ints: whole(make([]uint64, size))})
	}
	for _, size := range n.lbufs {
		f.locals = append(f.locals, viewOf(tasks.NewBuffer[uint64](size)))
	}
	f.hash = mix(f.hash, uint64(n.id))
	f.read()
	f.world.pause(f)
	if n.hold != holdNone {
		f.world.hold(f, n.hold, f.write)
	} else {
		f.write()
	}
	f.walk(n.steps)
}

func (f *frame) read() {
	for k, a := range f.node.accs {
		if a.mode.reads() && !a.weak {
			f.hash = f.views[k].digest(f.hash)
		}
	}
}

func (f *frame) write() {
	for k, a := range f.node.accs {
		if !a.weak {
			f.views[k].write(a.mode, mix(f.hash, uint64(k)), func() { f.world.pause(f) })
		}
	}
}

// touch reads and writes again the regions that the body has for itself, and leaves those
// alone in which other tasks may be adding.
func (f *frame) touch() {
	for k, a := range f.node.accs {
		if !a.weak && a.mode != concurrent && a.mode != commutative {
			f.hash = f.views[k].digest(f.hash)
		}
	}
	for i := range f.locals {
		if b := f.locals[i].buf; b != nil {
			f.locals[i] = viewOf(b) // its newest version
		}
		f.hash = f.locals[i].digest(f.hash)
	}
	for k, a := range f.node.accs {
		if !a.weak && a.mode != in && a.mode != concurrent && a.mode != commutative {
			f.views[k].write(inout, mix(f.hash, uint64(k)), nil)
		}
	}
}

// walk does the steps of a body or of the main program. A body ends early when a
// wait says that something has failed.
func (f *frame) walk(steps []step) {
	for i := range steps {
		s := &steps[i]
		switch s.op {
		case opSpawn:
			f.world.spawn(f, s.node)
		case opWait:
			if !f.world.wait(f) && f.node != nil {
				return
			}
			if f.node == nil {
				f.hash = f.mem.digest(f.hash)
			}
		case opTouch:
			f.touch()
		case opWaitOn:
			if f.world.waitOn(f, &s.acc, f.locate(&s.acc)) {
				f.hash = f.locate(&s.acc).digest(f.hash)
			} else if f.node != nil {
				return
			}
		case opBlock:
			f.world.block(f)
		}
	}
}

// plain is the reference: Go without any runtime.
type plain struct{}

// elide returns the final memory of the program when every spawn is a call.
func elide(p *program) []uint64 {
	f := &frame{mem: newMemory(p.seed), world: plain{}}
	f.walk(p.steps)
	return f.mem.cells()
}

func (plain) spawn(f *frame, n *node) {
	c := &frame{mem: f.mem, node: n, hash: f.hash, world: f.world}
	var merge []func()
	for i := range n.accs {
		a := &n.accs[i]
		v := f.locate(a)
		if a.mode.reduces() && !a.weak {
			shared := v
			v = view{ints: private(shared.ints, a.mode), reals: private(shared.reals, a.mode)}
			merge = append(merge, func() {
				combineInts(a.mode)(shared.ints.line(), v.ints.line())
				combineReals(a.mode)(shared.reals.line(), v.reals.line())
			})
		}
		c.views = append(c.views, v)
	}
	c.perform()
	for _, f := range merge {
		f()
	}
}

func (plain) wait(*frame) bool                        { return true }
func (plain) waitOn(*frame, *access, view) bool       { return true }
func (plain) block(*frame)                            {}
func (plain) hold(_ *frame, _ holdKind, write func()) { write() }
func (plain) pause(*frame)                            {}
func private[T uint64 | float64](b block[T], m mode) block[T] {
	p := make([]T, b.rows*b.cols)
	for i := range p {
		p[i] = T(neutral(m))
	}
	return whole(p)
}

// neutral is what private copies start with. That of fold is not neutral at all:
// the runtime does not know, and must fill it in all the same.
func neutral(m mode) int {
	if m == fold {
		return 3
	}
	return 0
}

func combineInts(m mode) func(dst, src []uint64) {
	if m == fold {
		return func(dst, src []uint64) {
			for i := range dst {
				dst[i] = mix(dst[i], src[i])
			}
		}
	}
	return func(dst, src []uint64) {
		for i := range dst {
			dst[i] += src[i]
		}
	}
}

func combineReals(m mode) func(dst, src []float64) {
	if m == fold {
		return func(dst, src []float64) {
			for i := range dst {
				dst[i] = dst[i]*0.625 + src[i]
			}
		}
	}
	return func(dst, src []float64) {
		for i := range dst {
			dst[i] += src[i]
		}
	}
}
