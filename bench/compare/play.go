package main

import (
	"errors"
	"fmt"
)

// result is what came out of a subject.
type result struct {
	subject  *subject
	outcomes []*outcome
	missing  []missing
	err      error // weft's own side could not be prepared
}

// outcome is what came out of a contest.
type outcome struct {
	contest
	less    bool
	unit    string
	samples [][]sample // by side and round; the same number for all sides
	err     error      // a run failed: there is no result
}

// play prepares a subject and runs its contests.
func (b *bench) play(s *subject) *result {
	r := &result{subject: s}
	b.progress.Say("%s: looking for peers", s.name)
	contests, absent, err := s.prepare(b)
	r.missing, r.err = absent, err
	if err != nil {
		return r
	}
	for _, c := range contests {
		if len(c.sides) < 2 {
			continue // no peer
		}
		r.outcomes = append(r.outcomes, b.contend(s, c))
	}
	return r
}

// contend runs all sides of a contest in turn, round by round: A B C A B C. The first
// error ends it, because the other sides would have nothing to compare with.
func (b *bench) contend(s *subject, c contest) *outcome {
	o := &outcome{contest: c, less: s.less, unit: s.unit, samples: make([][]sample, len(c.sides))}
	for round := range b.pairs {
		for i, side := range c.sides {
			b.progress.Say("%s, %s, round %d of %d: %s", s.name, c.name, round+1, b.pairs, side.name)
			v, err := side.sample(b)
			if err != nil {
				o.err = fmt.Errorf("%s, %s, round %d: %w", c.name, side.name, round+1, err)
				return o
			}
			o.samples[i] = append(o.samples[i], v)
		}
	}
	return o
}

// sample runs a side once, and then its kernel.
func (s *side) sample(b *bench) (sample, error) {
	v, err := s.run(b)
	if err == nil && !(v.value > 0) {
		err = fmt.Errorf("a figure of %v", v.value)
	}
	if err == nil && s.kernel.measure != nil {
		v.kernel, err = s.kernel.measure(b)
	}
	return v, err
}

// failures are the errors of a subject.
func (r *result) failures() (all []error) {
	if r.err != nil {
		all = append(all, r.err)
	}
	for _, o := range r.outcomes {
		if o.err != nil {
			all = append(all, o.err)
		}
	}
	return all
}

// errAbsent is the reason of a peer whose program is not in PATH.
var errAbsent = errors.New("not in PATH")

// absent makes the entry of a peer that cannot be used.
func absent(name, command string, err error) missing {
	return missing{name: name, command: command, reason: tail(err.Error())}
}
