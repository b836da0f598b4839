package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// The folder of a report can be filled in parts, a subject or some at a time. For each
// subject it has the section NAME.md, the chart NAME.svg and its data NAME.csv; compare.md
// is put together from all sections that are there, and runs.csv keeps the runs of the
// subjects that were not measured this time.

func reportPath(out string) string { return filepath.Join(out, "compare.md") }

func sectionPath(out string, s *subject) string { return filepath.Join(out, s.name+".md") }

func runsPath(out string) string { return filepath.Join(out, "runs.csv") }

// tryFolder checks that the folder is writable and that its results can be continued.
func (b *bench) tryFolder() error {
	if err := report.TryFolder(b.out); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	_, err := readRuns(runsPath(b.out))
	return err
}

// stands reports whether a former run has a measurement that this one lacks.
func (b *bench) stands(r *result) bool {
	_, err := os.Stat(sectionPath(b.out, r.subject))
	return len(r.outcomes) == 0 && err == nil
}

// keep puts the result of a subject into the folder, in the place of an older one, and the
// report together again: a run that is cut short loses only the subject it was at. Where
// nothing was measured, an older one stays.
func (b *bench) keep(r *result) error {
	if b.stands(r) {
		return b.assemble()
	}
	var errs []error // a chart that cannot be drawn costs no figures
	if err := r.draw(b); err != nil {
		errs = append(errs, fmt.Errorf("chart of %s: %w", r.subject.name, err))
	}
	var text strings.Builder
	b.section(&text, r)
	return errors.Join(append(errs, os.WriteFile(sectionPath(b.out, r.subject), []byte(text.String()), 0o644), mergeRuns(runsPath(b.out), r), b.assemble())...)
}

// assemble writes compare.md.
func (b *bench) assemble() error {
	var text strings.Builder
	b.head(&text)
	for _, s := range subjects {
		section, err := os.ReadFile(sectionPath(b.out, s))
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(&text, "\n## %s\n\nNot measured: `compare -only %s`.\n", s.title, s.name)
			continue
		}
		if err != nil {
			return err
		}
		text.Write(section)
	}
	return os.WriteFile(reportPath(b.out), []byte(text.String()), 0o644)
}

var runsHead = []string{"subject", "contest", "side", "round", "value", "unit", "kernel_gflops"}

// mergeRuns replaces the runs of a subject in a table of runs, or begins one.
func mergeRuns(path string, r *result) error {
	rows, err := readRuns(path)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(rows, func(row []string) bool { return row[0] == r.subject.name })
	rows = append(rows, r.runs()...)
	slices.SortStableFunc(rows, func(a, b []string) int { return place(a[0]) - place(b[0]) })
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(f).WriteAll(append([][]string{runsHead}, rows...)), f.Close())
}

// readRuns reads the rows of a table of runs; none if there is no such file.
func readRuns(path string) ([][]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 || !slices.Equal(rows[0], runsHead) {
		return nil, errors.Join(fmt.Errorf("%s is no table of runs of this program; move it away, or give another -out", path), err)
	}
	return rows[1:], nil
}

// place returns the position of a subject in the report.
func place(name string) int {
	return slices.IndexFunc(subjects, func(s *subject) bool { return s.name == name })
}

// runs are the rows of every single run.
func (r *result) runs() (rows [][]string) {
	for _, o := range r.outcomes {
		for i, side := range o.samples {
			for round, v := range side {
				rows = append(rows, []string{r.subject.name, o.name, o.sides[i].name, strconv.Itoa(round + 1), decimal(v.value), o.unit, decimal(v.kernel)})
			}
		}
	}
	return rows
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
