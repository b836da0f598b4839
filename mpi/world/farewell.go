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

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// patience is how long a rank that has failed waits for the others to end.
const patience = 2 * time.Second

// farewell is the end of a rank under a launcher. In each of two rounds every rank
// tells rank 0 how it fared, and rank 0 tells all what to do: the first round is about
// the bodies, the second about what they left under way.
//
//	verdict 0         all is well: go on
//	verdict 1 or 2    end with this code
//
// Rank 0 prints the errors before it gives such a verdict, because a launcher ends all
// processes when one has ended with an error.
type farewell struct {
	world, apart *mpi.Comm
	failed       int64     // Nanotime at which this rank knew of a failure; 0: none
	out          io.Writer // nil: standard error
}

const (
	tagStory = iota
	tagVerdict
)

// story is what a rank tells: a code and a text.
const storyBytes = 8 << 10

// leave ends the rank, whose body has returned err.
func (f *farewell) leave(err error) error {
	if err != nil {
		f.world.Revoke(err)
	} else if e, ok := f.world.Engine().(interface{ Leaving() }); ok {
		e.Leaving() // who waits for this rank is told so
	}
	code, err := f.round(err)
	if code == 0 {
		code, err = f.round(leftovers(f.world, f.apart))
	}
	final := f.world.Engine().Finalize()
	if code != 0 {
		return &printed{err, code}
	}
	return final
}

// round tells how this rank fared and returns the verdict, and, if that is bad, an
// error.
func (f *farewell) round(err error) (int, error) {
	if f.apart.Rank() == 0 {
		return f.judge(err)
	}
	verdict := []byte{0}
	in := f.apart.Irecv(mpi.Of(verdict), 0, tagVerdict)
	out := f.apart.Isend(mpi.Of(tell(err)), 0, tagStory)
	if !f.wait(err, in, out) {
		f.abort(err, "rank 0 has not ended")
	}
	if verdict[0] != 0 && err == nil {
		err = errors.New("another rank failed")
	}
	return int(verdict[0]), err
}

// judge collects the stories of all, prints what there is to print, and gives the
// verdict.
func (f *farewell) judge(own error) (int, error) {
	n := f.apart.Size()
	stories := make([][]byte, n)
	stories[0] = tell(own)
	requests := make([]*mpi.Request, n)
	for r := 1; r < n; r++ {
		stories[r] = make([]byte, storyBytes)
		requests[r] = f.apart.Irecv(mpi.Of(stories[r]), r, tagStory)
	}
	all := f.wait(own, requests...)
	code, err := sum(stories)
	if code != 0 {
		fmt.Fprintln(f.stderr(), "weft:", err)
	}
	if !all {
		f.abort(nil, "not ended: "+silent(stories))
	}
	verdict := []byte{byte(code)}
	for r := 1; r < n; r++ {
		requests[r] = f.apart.Isend(mpi.Of(verdict), r, tagVerdict)
	}
	if err := mpi.Waitall(requests...); err != nil && code == 0 {
		return 1, err
	}
	return code, err
}

// wait waits for the requests, for ever as long as no failure is known. It reports
// whether they have completed.
func (f *farewell) wait(err error, requests ...*mpi.Request) bool {
	for {
		if done, e := mpi.Testall(requests...); done || e != nil {
			return e == nil
		}
		now := osthread.Nanotime()
		if f.failed == 0 && (err != nil || f.world.Revoked() != nil) {
			f.failed = now
		}
		if f.failed != 0 && now-f.failed > int64(patience) {
			return false
		}
		f.world.Engine().Sleep(time.Millisecond)
	}
}

// abort ends the program, because other ranks do not.
func (f *farewell) abort(err error, why string) {
	reason := fmt.Sprintf("%s %v after a failure: aborting", why, patience)
	if err != nil {
		reason = fmt.Sprintf("%v\n%s", err, reason)
	}
	f.world.Abort(1, reason)
}

func (f *farewell) stderr() io.Writer {
	if f.out != nil {
		return f.out
	}
	return os.Stderr
}

// What the first byte of a story says. It is 0 in one that has not been told.
const (
	wentWell byte = iota + 1
	sawFailure
	failed
	misused
)

// tell writes a story.
func tell(err error) []byte {
	s := make([]byte, storyBytes)
	switch {
	case err == nil:
		s[0] = wentWell
		return s
	case errors.Is(err, ErrUsage):
		s[0] = misused
	case consequence(err):
		s[0] = sawFailure
	default:
		s[0] = failed
	}
	copy(s[1:], err.Error())
	return s
}

func text(story []byte) string { return string(bytes.TrimRight(story[1:], "\x00")) }

// sum returns the exit code, and the error of all stories. Errors that are equal on
// several ranks are given once; consequences only if there is nothing else.
func sum(stories [][]byte) (int, error) {
	code, worst := 0, byte(0)
	for _, s := range stories {
		worst = max(worst, s[0])
		switch s[0] {
		case misused:
			code = max(code, 2)
		case failed, sawFailure:
			code = max(code, 1)
		}
	}
	if code == 0 {
		return 0, nil
	}
	if slices.ContainsFunc(stories, func(s []byte) bool { return s[0] == failed }) {
		code = 1
	}
	var seen, lines []string
	for r, s := range stories {
		told := s[0] >= failed || worst == sawFailure && s[0] == sawFailure
		line := text(s)
		if !told || slices.Contains(seen, line) {
			continue
		}
		seen = append(seen, line)
		lines = append(lines, fmt.Sprintf("rank %d: %s", r, line))
	}
	return code, errors.New(strings.Join(lines, "\n"))
}

// silent names the ranks that have told nothing.
func silent(stories [][]byte) string {
	var names []string
	for r, s := range stories {
		if s[0] == 0 {
			names = append(names, fmt.Sprint(r))
		}
	}
	return "rank " + strings.Join(names, ", ")
}
