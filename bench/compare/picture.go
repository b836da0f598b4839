package main

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/machine"
)

// sound are the contests that have a result.
func (r *result) sound() (all []*outcome) {
	for _, o := range r.outcomes {
		if o.err == nil {
			all = append(all, o)
		}
	}
	return all
}

func (r *result) drawn() bool {
	return len(r.sound()) > 0 && (r.subject.axis == "" || len(r.onAxis()) > 0)
}

// onAxis are the contests with a place on the axis.
func (r *result) onAxis() (all []*outcome) {
	for _, o := range r.sound() {
		if o.x > 0 {
			all = append(all, o)
		}
	}
	return all
}

// draw writes NAME.svg and NAME.csv.
func (r *result) draw(b *bench) error {
	if !r.drawn() {
		return nil
	}
	base, note := filepath.Join(b.out, r.subject.name), b.note(r)
	if r.subject.axis == "" {
		c := r.bars()
		c.Note = note
		return c.Write(base)
	}
	c := r.curves(b.cores)
	c.Note = note
	return c.Write(base)
}

// note is at the foot of a chart.
func (b *bench) note(r *result) string {
	note := fmt.Sprintf("%s; %s", machine.Line(), plural(b.pairs, "round"))
	if cores := r.cores(); cores > 0 {
		note += "; each side on " + plural(cores, "core")
	}
	if b.quick {
		note += "; a quick run, no result"
	}
	return note
}

// cores returns the number of cores that all sides of all contests use; 0 if they differ.
func (r *result) cores() int {
	all := map[int]bool{}
	for _, o := range r.sound() {
		for _, s := range o.sides {
			all[s.cores] = true
		}
	}
	for n := range all {
		if len(all) == 1 {
			return n
		}
	}
	return 0
}

// names are the sides of all contests, in order.
func names(of []*outcome) (all []string) {
	seen := map[string]bool{}
	for _, o := range of {
		for _, s := range o.sides {
			if !seen[s.name] {
				seen[s.name] = true
				all = append(all, s.name)
			}
		}
	}
	return all
}

// of is the figures of a side by its name; ok is false if it was not in the contest.
func (o *outcome) of(name string) (f figures, ok bool) {
	for i, s := range o.sides {
		if s.name == name {
			return figuresOf(o.values(i)), true
		}
	}
	return figures{}, false
}

func (r *result) bars() *chart.Bars {
	c := &chart.Bars{Title: r.subject.title, X: chart.Axis{Title: cmp.Or(r.subject.groups, "problem")}, Y: chart.Axis{Title: "median and range", Unit: r.subject.unit}}
	sound := r.sound()
	for _, o := range sound {
		c.Groups = append(c.Groups, cmp.Or(o.brief, o.name))
	}
	for _, name := range names(sound) {
		s := chart.BarSeries{Label: name}
		for _, o := range sound {
			f, _ := o.of(name) // no column where it was not in the contest
			s.Y, s.Lo, s.Hi = append(s.Y, f.median), append(s.Lo, f.least), append(s.Hi, f.top)
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func (r *result) curves(cores int) *chart.Lines {
	c := &chart.Lines{Title: r.subject.title, X: chart.Axis{Title: r.subject.axis, Unit: r.subject.axisUnit, Log: true}, Y: chart.Axis{Title: "median and range", Unit: r.subject.unit, Log: r.subject.less}}
	if !r.subject.less {
		c.X.Log, c.X.Tight = false, true
	}
	sound := r.onAxis()
	for _, name := range names(sound) {
		s := chart.Series{Label: name}
		for _, o := range sound {
			if f, ok := o.of(name); ok {
				s.X, s.Y, s.Lo, s.Hi = append(s.X, o.x), append(s.Y, f.median), append(s.Lo, f.least), append(s.Hi, f.top)
			}
		}
		c.Series = append(c.Series, s)
	}
	if r.subject == &tasksSubject {
		c.Series = append(c.Series, noOverhead(sound, cores))
	}
	return c
}

// noOverhead is what tasks would take if only their work took time.
func noOverhead(of []*outcome, cores int) chart.Series {
	s := chart.Series{Label: fmt.Sprintf("no overhead, %s", plural(cores, "core")), Bound: true}
	for _, o := range of {
		s.X, s.Y = append(s.X, o.x), append(s.Y, o.x/float64(cores))
	}
	return s
}
