package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/engine"
)

// Widths of OSU's columns, and its decimals.
const (
	sizeWidth  = 10
	fieldWidth = 18
	decimals   = 2
)

// table is the output of rank 0: rows as they are measured, then the result lines.
// A nil table, as on the other ranks, prints nothing.
type table struct {
	w        io.Writer
	progress *report.Progress
	results  [][]string
}

// head prints the lines before the rows.
func (t *table) head(r *rank) {
	if t == nil {
		return
	}
	k := r.cfg.test
	fmt.Fprintln(t.w, machine.Line())
	fmt.Fprintf(t.w, "# weft %s: engine %s, ranks %d, net %s, comm thread %s\n", k.name, (*engine.Comm)(r.Comm).Engine().Name(), r.Size(), r.cfg.net(), onOff(r.cfg.commthread))
	kind := ""
	switch r.cfg.onesided {
	case byFlush:
		kind = "_Put"
	case byNotify:
		kind = "_Put with notification"
	}
	if strings.HasPrefix(k.title, "OSU") {
		fmt.Fprintf(t.w, "# "+k.title+"\n", kind)
	} else {
		fmt.Fprintf(t.w, "# "+k.title+"\n", "")
	}
	if len(k.columns) == len(nbcColumns) {
		fmt.Fprint(t.w, "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n")
	}
	if k.name == "mbw_mr" {
		fmt.Fprintf(t.w, "# [ pairs: %d ] [ window size: %d ]\n", r.Size()/2, r.cfg.window)
	}
	fmt.Fprintln(t.w, "# Datatype: MPI_CHAR.")
	fmt.Fprintln(t.w, headLine(k.columns))
}

// headLine names the columns.
func headLine(columns []string) string {
	s := fmt.Sprintf("%-*s", sizeWidth, "# Size")
	for _, c := range columns {
		s += fmt.Sprintf("%*s", fieldWidth, c)
	}
	return s
}

// rowLine is one row.
func rowLine(size int, cells []float64) string {
	s := fmt.Sprintf("%-*d", sizeWidth, size)
	for _, c := range cells {
		s += fmt.Sprintf("%*.*f", fieldWidth, decimals, c)
	}
	return s
}

// row prints the figures of one size, and keeps its result line for the end.
func (t *table) row(r *rank, size int, f figures) {
	if t == nil {
		return
	}
	t.progress.Clear()
	fmt.Fprintln(t.w, rowLine(size, f.cells))
	pairs := append([]string{report.Text("test", r.cfg.test.name)}, f.pairs...)
	pairs = append(pairs, report.Integer("bytes", size), report.Integer("ranks", r.Size()), report.Text("engine", (*engine.Comm)(r.Comm).Engine().Name()),
		report.Text("net", r.cfg.net()), report.Text("commthread", onOff(r.cfg.commthread)), report.Text("onesided", r.cfg.onesided.String()))
	t.results = append(t.results, pairs)
}

// say shows the current measurement on a terminal.
func (t *table) say(format string, args ...any) {
	if t != nil {
		t.progress.Say(format, args...)
	}
}

// finish prints the result lines.
func (t *table) finish() {
	if t == nil {
		return
	}
	t.progress.Clear()
	for _, pairs := range t.results {
		report.Line(t.w, pairs...)
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
