package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/machine"
)

// head is the machine and the rules.
func (b *bench) head(w io.Writer) {
	fmt.Fprint(w, "# weft and its peers\n\nBy `bench/compare`. Each section says when it was measured, and on what.\n\n")
	for _, v := range []struct{ what, line string }{
		{"system", b.firstLine("uname", "-sr")}, {"C compiler", b.firstLine("cc", "--version")}, {"MPI", b.firstLine(b.mpirun(), "--version")},
	} {
		if v.line != "" {
			fmt.Fprintf(w, "- %s: %s\n", v.what, v.line)
		}
	}
	fmt.Fprint(w, "- all sides of a contest in turn, round by round; each run is a process of its own and checks its result\n")
	if runtime.GOOS != "linux" {
		fmt.Fprint(w, "- weft pins threads on Linux only\n")
	}
	fmt.Fprint(w, "\nTables show medians over the rounds, with the quartiles and with the least and the most. \"weft is\" says how many times as good weft's figure was as the other one: the median "+
		"of the ratios of the rounds, with the least and the most of them; above 1 is in weft's favour. \"Kernel\" is the speed of the arithmetic that a side stands on, on one core, and \"of kernel\" the share of it "+
		"that all cores together reached. Every single run is in `runs.csv`.\n")
}

// section writes the report on a subject: a heading, the circumstances, the results, and
// the missing peers.
func (b *bench) section(w io.Writer, r *result) {
	fmt.Fprintf(w, "\n## %s\n\n", r.subject.title)
	if b.quick {
		fmt.Fprint(w, "**A quick run: sizes and counts are too small for results.**\n\n")
	}
	if b.others > noise {
		fmt.Fprintf(w, "**The machine was not quiet** (others used %.1f cores at the start): figures of such a run are no results.\n\n", b.others)
	}
	fmt.Fprintf(w, "%s, %s, load average %s at the start, %s at the end (this program included); weft is built from %s; %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 UTC"), plural(b.pairs, "round"), b.load, load(), b.treeLine(), machine.Line())
	var text strings.Builder
	r.markdown(&text)
	r.writeMissing(&text)
	fmt.Fprint(w, strings.ReplaceAll(text.String(), b.dir+string(filepath.Separator), "")) // a folder of no interest
}

// markdown is what came out of a subject.
func (r *result) markdown(w io.Writer) {
	s := r.subject
	fmt.Fprintln(w, s.setting)
	if r.err != nil {
		fmt.Fprintf(w, "\n**Not measured**: %s\n", quoteLine(r.err))
	}
	if len(r.outcomes) == 0 {
		if r.err == nil {
			fmt.Fprint(w, "\nNo peer is installed.\n")
		}
		return
	}
	fmt.Fprintf(w, "\n| contest | side | version | cores | kernel, GFLOP/s | %s | quartiles | least to most | of kernel | weft is |\n", s.unit)
	fmt.Fprint(w, "|---|---|---|--:|---|--:|---|---|--:|---|\n")
	for _, o := range r.outcomes {
		o.rows(w)
	}
	r.remarks(w)
	if r.drawn() {
		fmt.Fprintf(w, "\n![%s](%s.svg)\n", s.title, s.name)
	}
}

// rows are the lines of a contest in the table.
func (o *outcome) rows(w io.Writer) {
	if o.err != nil {
		fmt.Fprintf(w, "| %s | **failed**: %s | | | | | | | | |\n", cell(o.name), quoteLine(o.err))
		return
	}
	for i, s := range o.sides {
		f, name, ratio := figuresOf(o.values(i)), o.name, ""
		if i > 0 {
			a := figuresOf(o.advantages(i))
			name, ratio = "", fmt.Sprintf("**× %s** (%s to %s)", short(a.median), short(a.least), short(a.top))
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s | %s to %s | %s to %s | %s | %s |\n", cell(name), cell(s.name), cell(s.version), s.cores, o.kernelCell(i),
			short(f.median), short(f.low), short(f.high), short(f.least), short(f.top), o.shareCell(i), ratio)
	}
}

func (o *outcome) kernelCell(i int) string {
	k := o.sides[i].kernel
	switch rate := o.kernelRate(i); {
	case k.name == "":
		return "–"
	case rate == 0:
		return cell(k.name) + ": not measured"
	default:
		return fmt.Sprintf("%s: %s (%s)", cell(k.name), short(rate), cell(k.how))
	}
}

func (o *outcome) shareCell(i int) string {
	if share := o.ofKernel(i); share > 0 {
		return fmt.Sprintf("%.0f %%", 100*share)
	}
	return "–"
}

// remarks lists the differences between sides, each once, with the contests it is of.
func (r *result) remarks(w io.Writer) {
	of := map[string][]string{}
	var order []string
	good := 0
	for _, o := range r.outcomes {
		if o.err != nil {
			continue
		}
		good++
		for _, note := range o.notes() {
			if of[note] == nil {
				order = append(order, note)
			}
			if at := of[note]; len(at) == 0 || at[len(at)-1] != o.name {
				of[note] = append(at, o.name)
			}
		}
	}
	for i, note := range order {
		where := ""
		if len(of[note]) < good {
			where = " (" + strings.Join(of[note], "; ") + ")"
		}
		fmt.Fprintf(w, "%s- %s%s\n", map[bool]string{true: "\n"}[i == 0], note, where)
	}
}

// cell is text for a table.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", "/"), "\n", " ") }

// quoteLine is an error on one line.
func quoteLine(err error) string { return "`" + strings.ReplaceAll(cell(err.Error()), "`", "'") + "`" }

// writeMissing names the peers that are not here, and how to get them.
func (r *result) writeMissing(w io.Writer) {
	for i, m := range r.missing {
		fmt.Fprintf(w, "%s- Not here: %s: %s. To have it: `%s`\n", map[bool]string{true: "\n"}[i == 0], m.name, cell(m.reason), m.command)
	}
}

// print shows a subject on the terminal.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", r.subject.name, r.subject.question)
	if r.err != nil {
		fmt.Fprintf(w, "  not measured: %v\n", r.err)
	}
	for _, m := range r.missing {
		fmt.Fprintf(w, "  missing: %s (%s); to have it: %s\n", m.name, strings.ReplaceAll(m.reason, "\n", " "), m.command)
	}
	for _, o := range r.outcomes {
		if o.err != nil {
			fmt.Fprintf(w, "  %s: FAILED: %v\n", o.name, o.err)
			continue
		}
		for i, s := range o.sides {
			line := fmt.Sprintf("  %-26s %-24s %10s %s", map[bool]string{true: o.name}[i == 0], s.name, short(figuresOf(o.values(i)).median), o.unit)
			if i > 0 {
				a := figuresOf(o.advantages(i))
				line += fmt.Sprintf("   weft is × %s (%s to %s)", short(a.median), short(a.least), short(a.top))
			}
			fmt.Fprintln(w, line)
		}
	}
}
