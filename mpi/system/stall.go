//go:build mpi && cgo

package system

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
)

// Deadlock detection by edge chasing (Chandy, Misra and Haas 1983): a rank that has been in
// one blocking call for two seconds, and then after four, eight and so on, asks the ranks
// that it waits for, by notices like revocations. The answer of an asked rank that
//
//	has finished normally               is that it has: the asking call fails
//	is in a blocking call itself, and   is to pass the question on to the ranks that it
//	has not made the matching call      waits for, with itself added to the path
//	does something else                 is silence
//
// A question that comes back to its origin has gone around a cycle of ranks, each in a wait
// that only the next one can end. The same cycle twice, seconds apart, each rank in the
// same wait, is a deadlock: the first of its ranks prints the cycle and aborts the program.
// Calls that one of several ranks can end are not asked about. After a minute in one call,
// and again after twice as long, a rank prints what it waits for. With a communication
// thread, all this begins when the runtime has reported a stall ([engine.Stander]). It takes
// place at most once per second, and costs shorter calls nothing.

// stall describes the blocking call in which a rank has been for a while. Owner only.
type stall struct {
	calls   []*engine.Call // calls that all have to complete; nil without such a wait
	open    int            // calls that have not completed, of this wait or of one for any call
	began   int64          // Nanotime, which identifies the wait
	asked   int64
	next    int64            // no check before
	pause   int64            // time to the next question
	told    int64            // time of the last message to the user, after began
	gone    map[string]int   // answers by call and rank that has ended
	circles map[string]bool  // paths that have come back
	passed  map[string]int64 // times of questions passed on, by origin
	failed  error            // error with which Do must end its call
	alone   bool             // the only call is Do's, which is not in a slot
}

const (
	stallKey    = 1<<64 - 1 // key of notices that are questions and answers
	longestPath = 8         // waits, each with
	longestCall = 80        // bytes about its call: fits into a notice
	apart       = "\x1f"    // fields
	between     = "\x1e"    // waits of a path
)

// askAfter is the time from the beginning of a wait to its first question; the later
// intervals double. Tests set a shorter one by the linker.
var askAfter = "2s"

var (
	firstAsk  = duration(askAfter)
	passAgain = firstAsk / 2
	lookAgain = firstAsk / 8
	longWait  = firstAsk / 2  // time after which a wait in C returns to check whether it can end
	tellStall = 30 * firstAsk // time to the first message to the user
)

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond {
		panic(fmt.Sprintf("mpi/system: askAfter is %q: a duration of at least a millisecond", text))
	}
	return d
}

// stalled checks a wait, about once a second, while this rank is in one blocking call.
func (e *rankEngine) stalled(any bool, calls []*engine.Call) {
	s, now := &e.stall, osthread.Nanotime()
	if now < s.next {
		return
	}
	open := slices.DeleteFunc(slices.Clone(calls), (*engine.Call).Done)
	if len(open) == 0 {
		return
	}
	if s.began == 0 || len(open) != s.open {
		*s = stall{began: now, open: len(open), pause: int64(firstAsk), gone: map[string]int{}, circles: map[string]bool{}, passed: map[string]int64{}}
	}
	s.next = now + int64(lookAgain)
	if !any || len(open) == 1 {
		s.calls = open
		e.askAgain(now)
	}
	e.tell(open, now)
}

// askAgain asks if it is time to.
func (e *rankEngine) askAgain(now int64) {
	s := &e.stall
	if now-s.began >= s.asked+s.pause {
		s.asked = now - s.began
		s.pause *= 2
		e.ask(e.waitID(), nil)
	}
}

// tell tells the user of a wait that is no proven deadlock, or not yet.
func (e *rankEngine) tell(open []*engine.Call, now int64) {
	s := &e.stall
	if waited := now - s.began; waited >= max(2*s.told, int64(tellStall)) {
		s.told = waited
		for _, k := range open {
			fmt.Fprintf(os.Stderr, "weft: rank %d has waited %v for %v\n", e.comms[0].rank, time.Duration(waited).Round(time.Second), k)
		}
	}
}

// StandStill implements [engine.Stander]. It finds deadlocks among ranks with one pending
// call.
func (e *rankEngine) StandStill(over func() bool) {
	var open []*engine.Call
	e.Outstanding(func(k *engine.Call) { open = append(open, k) })
	for before := e.completed; e.completed == before && !over(); {
		if e.Poll() == 0 {
			e.stalled(true, open)
			e.Sleep(time.Millisecond)
		}
	}
	e.goOn()
}

// waitID identifies the present wait among all ranks' waits.
func (e *rankEngine) waitID() string { return fmt.Sprintf("%d %d", e.comms[0].rank, e.stall.began) }

// goOn ends a wait.
func (e *rankEngine) goOn() {
	if e.stall.began != 0 {
		e.stall = stall{}
	}
}

// question asks about one call of its sender.
type question struct {
	origin string   // rank and beginning of the wait that started it
	path   []string // the waits on its way, each with its call; the last one asks
	call   int      // index among the calls of the wait
	key    uint64   // of the communicator
	kind   engine.CallKind
	tag    int
	number int // of a collective
	from   int // asking rank in the communicator
}

func (q *question) text() string {
	return strings.Join([]string{"?", q.origin, strings.Join(q.path, between), fmt.Sprint(q.call), fmt.Sprint(q.key), fmt.Sprint(uint8(q.kind)),
		fmt.Sprint(q.tag), fmt.Sprint(q.number), fmt.Sprint(q.from)}, apart)
}

func parseQuestion(fields []string) (q question, ok bool) {
	if len(fields) != 8 {
		return q, false
	}
	var numbers [6]int64
	for i, f := range fields[2:] {
		n, err := strconv.ParseUint(f, 10, 64)
		if x, e := strconv.ParseInt(f, 10, 64); e == nil {
			n, err = uint64(x), nil
		}
		if err != nil {
			return q, false
		}
		numbers[i] = int64(n)
	}
	return question{origin: fields[0], path: strings.Split(fields[1], between), call: int(numbers[0]), key: uint64(numbers[1]),
		kind: engine.CallKind(numbers[2]), tag: int(numbers[3]), number: int(numbers[4]), from: int(numbers[5])}, true
}

// ask sends questions to all ranks for which this one waits, on behalf of a question with
// the given path.
func (e *rankEngine) ask(origin string, path []string) {
	s := &e.stall
	for i, k := range s.calls {
		text := k.String()
		path := append(slices.Clone(path), e.waitID()+" "+text[:min(len(text), longestCall)])
		c := e.comms[k.Comm.Handle()]
		q := question{origin: origin, path: path, call: i, key: c.key, kind: k.Kind, tag: k.Tag, number: int(k.Due), from: c.rank}
		for _, r := range waitsFor(k, c.rank) {
			e.notify(c.world[r], q.text())
		}
	}
}

// waitsFor returns the ranks that k needs, all of them, as ranks of its communicator.
func waitsFor(k *engine.Call, me int) (who []int) {
	if !k.Kind.Collective() {
		switch {
		case !k.Kind.PointToPoint() || k.Kind == engine.CallMrecv:
		case k.Peer >= 0 && k.Peer != me:
			who = []int{k.Peer}
		case k.Peer == engine.AnySource && k.Comm.Size() == 2:
			who = []int{1 - me}
		}
		return who
	}
	for r := range k.Comm.Size() {
		if r != me && k.Needs(me, r) {
			who = append(who, r)
		}
	}
	return who
}

// notify sends a notice to one rank of the world.
func (e *rankEngine) notify(world int, text string) {
	if len(text) >= C.WEFT_REASON {
		return
	}
	t, to := C.CString(text), C.int(world)
	C.weft_revoke(stallKey, 1, &to, t)
	C.free(unsafe.Pointer(t))
	e.revoking = true
}

// noticed handles a question or an answer.
func (e *rankEngine) noticed(text string) {
	fields := strings.Split(text, apart)
	switch fields[0] {
	case "?":
		if q, ok := parseQuestion(fields[1:]); ok {
			e.answer(&q)
		}
	case "call":
		e.declared(fields[1:])
	case "gone":
		if len(fields) == 4 {
			e.hasGone(fields[1], fields[2], fields[3])
		}
	}
}

// answer handles a question.
func (e *rankEngine) answer(q *question) {
	s, mine := &e.stall, e.waitID()
	seen := func(wait string) bool { return strings.HasPrefix(wait, mine+" ") }
	switch asker := q.path[len(q.path)-1]; {
	case e.meets(q):
	case e.left:
		e.notify(rankOf(asker), strings.Join([]string{"gone", asker, fmt.Sprint(q.call), fmt.Sprint(e.comms[0].rank)}, apart))
	case s.calls == nil:
	case q.origin == mine:
		e.cameBack(q)
	case slices.ContainsFunc(q.path, seen) || len(q.path) >= longestPath:
	default:
		if now := osthread.Nanotime(); s.passed[q.origin] == 0 || now-s.passed[q.origin] > int64(passAgain) {
			s.passed[q.origin] = now
			e.ask(q.origin, q.path)
		}
	}
}

// rankOf returns the world rank of a wait on a path.
func rankOf(wait string) int {
	number, _, _ := strings.Cut(wait, " ")
	r, err := strconv.Atoi(number)
	if err != nil {
		return -1
	}
	return r
}

// meets reports whether this rank has made, or may have made, a call that the asking one
// waits for.
func (e *rankEngine) meets(q *question) bool {
	i := slices.IndexFunc(e.comms, func(c *communicator) bool { return c != nil && c.key == q.key })
	if i < 0 {
		return true // freed, or not created yet
	}
	if q.kind.Collective() {
		return e.comms[i].called >= q.number
	}
	met := false
	look := func(k *engine.Call) {
		fits := k.Kind.PointToPoint() && int(k.Comm.Handle()) == i && k.Kind.Sends() != q.kind.Sends() &&
			(k.Peer == q.from || k.Peer == engine.AnySource) && (k.Tag == q.tag || k.Tag == engine.AnyTag || q.tag == engine.AnyTag)
		met = met || fits
	}
	e.Outstanding(look)
	for _, k := range e.stall.calls {
		look(k)
	}
	return met
}

// cameBack handles a question of this rank that has come back. Only the first of the ranks
// on the cycle reports.
func (e *rankEngine) cameBack(q *question) {
	path := strings.Join(q.path, between)
	if !e.stall.circles[path] {
		e.stall.circles[path] = true
		return
	}
	report := "a deadlock: these ranks wait for each other, and none of them can go on:"
	for _, wait := range q.path {
		if rankOf(wait) < e.comms[0].rank {
			return
		}
		call := strings.SplitN(wait, " ", 3)[2]
		report += fmt.Sprintf("\n  rank %d waits for %s", rankOf(wait), call)
	}
	e.Abort(1, report)
}

// hasGone handles the answer of a rank that has finished normally. Only the second answer
// counts: by then all earlier messages of that rank have arrived.
func (e *rankEngine) hasGone(wait, call, rank string) {
	s := &e.stall
	i, _ := strconv.Atoi(call)
	if s.calls == nil || !strings.HasPrefix(wait, e.waitID()+" ") || i >= len(s.calls) {
		return
	}
	if s.gone[call+" "+rank]++; s.gone[call+" "+rank] < 2 {
		return
	}
	k := s.calls[i]
	if k.Done() {
		return
	}
	e.drop(k, k.Fail(engine.ErrPeerGone, 0, 0, "rank %s of the world has finished", rank))
}

// drop ends a call that cannot complete.
func (e *rankEngine) drop(k *engine.Call, err error) {
	if e.stall.alone {
		e.stall.failed = err // Do ends it
		return
	}
	if i := slices.Index(e.polled, k); i >= 0 {
		e.polled = slices.Delete(e.polled, i, i+1)
		e.complete(k, engine.Status{}, err)
		return
	}
	for i := range e.slots {
		if e.slots[i].call == k {
			e.abandon(int32(i))
			e.complete(k, engine.Status{}, err)
			return
		}
	}
	e.runner.Abort(func(x *engine.Call) bool { return x == k }, err)
	e.completed++
	e.countSchedules()
}

// Leaving records that this rank has finished normally and makes no more calls except
// answers.
func (e *rankEngine) Leaving() { e.left = true }
