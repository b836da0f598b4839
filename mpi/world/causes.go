package world

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/internal/joined"
	"github.com/weft-hpc/weft/mpi"
)

// causes drops from the joined errors of ranks what only follows from failures of other ranks,
// unless nothing else is left, and folds equal ones.
func causes(err error) error {
	var own []error
	for _, e := range joined.Parts(err) {
		if o := ownFailure(e); o != nil {
			own = append(own, o)
		}
	}
	if len(own) == 0 {
		return err
	}
	return errors.Join(fold(own)...)
}

// fold returns the errors of ranks without those that say the same as an earlier one, which
// says how many there are.
func fold(all []error) (different []error) {
	at, count := map[string]int{}, []int{}
	for _, e := range all {
		text := e.Error()
		if inner := errors.Unwrap(e); inner != nil {
			text = inner.Error()
		}
		i, known := at[text]
		if !known {
			i = len(different)
			at[text] = i
			different, count = append(different, e), append(count, 0)
		}
		count[i]++
	}
	for i, n := range count {
		if n > 1 {
			different[i] = fmt.Errorf("%w (and %d other ranks)", different[i], n-1)
		}
	}
	return different
}

// ownFailure returns err without the joined errors that only follow from a failure of another rank:
// nil if nothing is left. The shortened error still wraps err.
func ownFailure(err error) error {
	if follows(err) {
		return nil
	}
	text := err.Error()
	if short := ownText(err); short != text {
		return &shortened{err, short}
	}
	return err
}

// ownText returns the text of err without the joined errors that follow from a failure of another rank.
func ownText(err error) string {
	if parts := joined.Parts(err); len(parts) > 1 {
		var lines []string
		for _, e := range parts {
			if _, note := e.(joined.Note); note || !follows(e) {
				lines = append(lines, ownText(e))
			}
		}
		return strings.Join(lines, "\n")
	}
	text := err.Error()
	if inner := errors.Unwrap(err); inner != nil {
		if before, ok := strings.CutSuffix(text, inner.Error()); ok {
			return before + ownText(inner)
		}
	}
	return text
}

// follows reports whether err says only that another rank has failed.
func follows(err error) bool {
	switch e := err.(type) {
	case joined.Note:
		return true
	case *mpi.Error:
		return errors.Is(e, mpi.ErrPeerGone) || errors.Is(e, mpi.ErrRevoked)
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(e error) bool { return !follows(e) })
	}
	inner := errors.Unwrap(err)
	return inner != nil && follows(inner)
}

// shortened is an error with a shorter text.
type shortened struct {
	error
	text string
}

func (s *shortened) Error() string { return s.text }
func (s *shortened) Unwrap() error { return s.error }
