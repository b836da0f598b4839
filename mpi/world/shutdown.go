package world

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// grace is the time after a failure in which all ranks must end.
const grace = 2 * time.Second

// shutdown ends a rank under a launcher. It has two rounds: the first is about the errors of
// the bodies, the second about unfinished calls and messages. In each round every rank sends
// its outcome to rank 0, and rank 0 sends its decision to all:
//
//	0         no error: go on
//	1 or 2    exit with this code
//
// Rank 0 prints the errors before it sends decision 1 or 2, because a launcher ends all
// processes when one exits with an error.
type shutdown struct {
	world, control *mpi.Comm
	failed         int64     // Nanotime when this rank learned of a failure; 0: none
	out            io.Writer // nil: standard error
}

const (
	tagOutcome = iota
	tagDecision
)

// An outcome is a message of outcomeBytes bytes: an outcome code and the text of an error.
const outcomeBytes = 8 << 10

// end ends the rank, whose body has returned err.
func (s *shutdown) end(err error) error {
	if err != nil {
		s.world.Revoke(err)
	} else if e, ok := (*engine.Comm)(s.world).Engine().(interface{ Leaving() }); ok {
		e.Leaving() // calls of other ranks that need this one fail
	}
	code, err := s.round(err)
	if code == 0 {
		code, err = s.round(leftovers(s.world, s.control))
	}
	final := (*engine.Comm)(s.world).Engine().Finalize()
	if code != 0 {
		return &printed{err, code}
	}
	return final
}

// round sends the outcome of this rank and returns the decision. It returns an error unless
// that is 0.
func (s *shutdown) round(err error) (int, error) {
	if s.control.Rank() == 0 {
		return s.decide(err)
	}
	decision := []byte{0}
	in := s.control.Irecv(mpi.Of(decision), 0, tagDecision)
	out := s.control.Isend(mpi.Of(encodeOutcome(err)), 0, tagOutcome)
	if !s.wait(err, in, out) {
		s.abort(err, "rank 0 has not ended")
	}
	if decision[0] != 0 && err == nil {
		err = errors.New("another rank failed")
	}
	return int(decision[0]), err
}

// decide collects the outcomes of all ranks, prints their errors, and sends the decision.
func (s *shutdown) decide(own error) (int, error) {
	n := s.control.Size()
	outcomes := make([][]byte, n)
	outcomes[0] = encodeOutcome(own)
	requests := make([]*mpi.Request, n)
	for r := 1; r < n; r++ {
		outcomes[r] = make([]byte, outcomeBytes)
		requests[r] = s.control.Irecv(mpi.Of(outcomes[r]), r, tagOutcome)
	}
	all := s.wait(own, requests...)
	code, err := summarize(outcomes)
	if code != 0 {
		fmt.Fprintln(s.stderr(), "weft:", err)
	}
	if !all {
		s.abort(nil, "not ended: "+missing(outcomes))
	}
	decision := []byte{byte(code)}
	for r := 1; r < n; r++ {
		requests[r] = s.control.Isend(mpi.Of(decision), r, tagDecision)
	}
	if err := mpi.Waitall(requests...); err != nil && code == 0 {
		return 1, err
	}
	return code, err
}

// wait waits for the requests, but only for grace after a failure. It reports whether they
// have completed.
func (s *shutdown) wait(err error, requests ...*mpi.Request) bool {
	for {
		if done, e := mpi.Testall(requests...); done || e != nil {
			return e == nil
		}
		now := osthread.Nanotime()
		if s.failed == 0 && (err != nil || s.world.Revoked() != nil) {
			s.failed = now
		}
		if s.failed != 0 && now-s.failed > int64(grace) {
			return false
		}
		(*engine.Comm)(s.world).Engine().Sleep(time.Millisecond)
	}
}

// abort ends the program, because other ranks do not end.
func (s *shutdown) abort(err error, why string) {
	reason := fmt.Sprintf("%s %v after a failure: aborting", why, grace)
	if err != nil {
		reason = fmt.Sprintf("%v\n%s", err, reason)
	}
	s.world.Abort(1, reason)
}

func (s *shutdown) stderr() io.Writer {
	if s.out != nil {
		return s.out
	}
	return os.Stderr
}

// Outcome codes, the first byte of an outcome. It is 0 before the outcome has arrived.
const (
	succeeded byte = iota + 1
	sawFailure
	failed
	usageError
)

// encodeOutcome returns the outcome of a rank with error err.
func encodeOutcome(err error) []byte {
	outcome := make([]byte, outcomeBytes)
	switch {
	case err == nil:
		outcome[0] = succeeded
		return outcome
	case errors.Is(err, ErrUsage):
		outcome[0] = usageError
	case follows(err):
		outcome[0] = sawFailure
	default:
		outcome[0], err = failed, ownFailure(err)
	}
	copy(outcome[1:], err.Error())
	return outcome
}

func outcomeText(outcome []byte) string { return string(bytes.TrimRight(outcome[1:], "\x00")) }

// summarize returns the exit code and the error for all outcomes. It lists an error once if
// several ranks have it, and a consequence only if there is no other error.
func summarize(outcomes [][]byte) (int, error) {
	code, worst := 0, byte(0)
	for _, outcome := range outcomes {
		worst = max(worst, outcome[0])
		switch outcome[0] {
		case usageError:
			code = max(code, 2)
		case failed, sawFailure:
			code = max(code, 1)
		}
	}
	if code == 0 {
		return 0, nil
	}
	if slices.ContainsFunc(outcomes, func(outcome []byte) bool { return outcome[0] == failed }) {
		code = 1
	}
	var seen, lines []string
	for r, outcome := range outcomes {
		listed := outcome[0] >= failed || worst == sawFailure && outcome[0] == sawFailure
		line := outcomeText(outcome)
		if !listed || slices.Contains(seen, line) {
			continue
		}
		seen = append(seen, line)
		lines = append(lines, fmt.Sprintf("rank %d: %s", r, line))
	}
	return code, errors.New(strings.Join(lines, "\n"))
}

// missing names the ranks whose outcome has not arrived.
func missing(outcomes [][]byte) string {
	var names []string
	for r, outcome := range outcomes {
		if outcome[0] == 0 {
			names = append(names, fmt.Sprint(r))
		}
	}
	return "rank " + strings.Join(names, ", ")
}
