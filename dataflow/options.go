package dataflow

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Option changes the behaviour of a runtime.
type Option func(*options)

type mode uint8

const (
	parallel mode = iota
	serial
	seeded
	verify
)

type options struct {
	workers int
	pin     bool
	ctx     context.Context
	mode    mode
	seed    uint64
	window  int
	rename  int64
	stall   time.Duration
	stallOn bool // Wait returns the report
	stop    bool
	trace   int
	logFile string // from WEFT_TRACE; "" without
	lines   bool
}

// defaults returns the options of a runtime without arguments. The errors come from the
// environment.
func defaults() (options, error) {
	o := options{
		pin:    true,
		ctx:    context.Background(),
		window: byWorkers,
		rename: 256 << 20,
	}
	return o, o.readEnvironment()
}

// Workers sets the number of cores that compute; the goroutine that spawns is one
// of the workers. Default: WEFT_WORKERS of the environment, or the cores that the process
// may use.
func Workers(n int) Option { return func(o *options) { o.workers = n } }

// Pin binds each worker to its own core. Default: true, as long as the process has a free
// core for each.
func Pin(on bool) Option { return func(o *options) { o.pin = on } }

// Context cancels the runtime when ctx is done: tasks that have not started are
// skipped, Spawn does nothing, and Wait returns the cause. Default:
// context.Background.
func Context(ctx context.Context) Option { return func(o *options) { o.ctx = ctx } }

// Serial runs each task at its spawn, on the same goroutine: the specification of all other
// modes' results, and the mode for debugging.
func Serial() Option { return func(o *options) { o.mode = serial } }

// Seeded runs all tasks on the spawning goroutine in a random order that the
// dependences allow, the same for the same seed and program. Seed 0 takes a
// random seed. Errors of Wait name the seed. A result that changes with the seed means
// that a declaration is wrong.
func Seeded(seed uint64) Option {
	return func(o *options) {
		o.mode = seeded
		if o.seed = seed; seed == 0 {
			o.seed = rand.Uint64()
		}
	}
}

// Verify is Serial with a check of every body against its declaration: a write to an Input,
// to a slice passed as Value, or by the body itself to a Weak region; a read of an Output
// before its first write; an Output that was not written everywhere; and the checks of
// Debug. Each is an error of the task. Some bodies run twice. File tasks/verify.go lists
// limits and costs; dataflow/mistakes compares Verify with the other modes.
func Verify() Option { return func(o *options) { o.mode = verify } }

// Window sets how many tasks of the main program may be unfinished before Spawn helps to
// run them, and likewise how many children of one task. Spawn returns to submitting at half
// of it, or, if all tasks wait for messages or other events, after a millisecond; the more
// are unfinished, the longer it waits before it lets the program run further ahead. So a
// program may spawn any number of tasks before the one that the others wait for. In a body Spawn runs
// only children of that body, and goes on at once if none is ready; so a body must not spawn
// while it holds a mutex that its children take. Default: 256 for each worker, at least 1024.
// A larger one looks further ahead, and touches more memory: on two workers a wavefront of
// empty tasks took 0.37 us a task, and 0.81 with 4096.
func Window(n int) Option { return func(o *options) { o.window = n } }

// RenameBudget bounds the memory for fresh copies of tasks.Buffer, in bytes; 0
// turns renaming off. Default: 256 MiB.
func RenameBudget(n int64) Option { return func(o *options) { o.rename = n } }

// Stall sets the time without any progress after which a report lists what every task waits
// for. A task that computes is progress. With asError, Wait returns the report as a
// *StallError; otherwise the runtime prints it to standard error, again after twice as long
// and so on, and goes on waiting. With asError, a spawn that waits for a task to be run in
// place (If(false), Final, Serial, Verify) returns when there is a report, the task runs
// when it becomes ready, and the next Wait returns the report; WaitOn returns it at once. 0
// turns the report off. Default: WEFT_STALL of the environment, or 10 s, printed.
func Stall(after time.Duration, asError bool) Option {
	return func(o *options) { o.stall, o.stallOn = after, asError }
}

// StopOnError skips every task that has not started once a task has failed. Default: skip
// only the tasks that depend on a failed one.
func StopOnError() Option { return func(o *options) { o.stop = true } }

// Trace records an event log of at most limit events; 0 means 16 million. An event takes
// about 5 bytes, a dependence 2, and both 40 in the result of Runtime.Log. Default: off;
// WEFT_TRACE=FILE.log in the environment means Trace(0), and Close writes the log to that
// file for bench/trace.
func Trace(limit int) Option {
	return func(o *options) {
		o.logFile = ""
		if o.trace = limit; limit == 0 {
			o.trace = 16 << 20
		}
	}
}

// Debug records the line of every spawn, for errors and reports, and checks that the
// accesses of children are covered by their parents: it is an error of Wait if a child
// accesses memory that no access of its parent covers, another task beside the parent
// accesses it too, and no dependence orders the two. 1.3 to 1.7 us a task; the memory of
// accesses is kept until the next Wait. On in Serial, Seeded and Verify. Default: off.
func Debug() Option { return func(o *options) { o.lines = true } }

// resolve returns the options of a runtime with these arguments.
func resolve(opts []Option) (options, error) {
	o, err := defaults()
	if err != nil {
		return o, err
	}
	for _, f := range opts {
		f(&o)
	}
	o.lines = o.lines || o.mode != parallel
	if o.window == byWorkers {
		o.window = max(leastWindow, 256*o.workers)
	}
	return o, o.check()
}

// byWorkers stands for the default of Window, which is at least leastWindow.
const (
	byWorkers   = math.MinInt
	leastWindow = 1024
)

func (o *options) check() error {
	switch {
	case o.workers < 1 || o.workers > maxWorkers:
		return fmt.Errorf("weft: Workers(%d): must be 1 to %d", o.workers, maxWorkers)
	case o.ctx == nil:
		return fmt.Errorf("weft: Context(nil): use context.Background")
	case o.window < 1:
		return fmt.Errorf("weft: Window(%d): must be at least 1 task", o.window)
	case o.rename < 0:
		return fmt.Errorf("weft: RenameBudget(%d): must not be negative", o.rename)
	case o.stall < 0:
		return fmt.Errorf("weft: Stall(%v): must not be negative", o.stall)
	case o.trace < 0:
		return fmt.Errorf("weft: Trace(%d): must not be negative", o.trace)
	}
	return nil
}

const maxWorkers = 1024
