package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// corpus is programs on which advice is tried. They run once under the tool, at corpusSize on
// corpusRanks ranks; then each runs as it is and changed, on all numbers of ranks and with all
// sizes, which the tool has not seen.
type corpus struct {
	sizes, ranks []int
	nas          bool                          // the plain NAS benchmarks, too
	spoil        func(files map[string][]byte) // breaks the changed source, in tests
	shop         *workshop
	programs     []*corpusProgram
}

const (
	corpusPackage = "bench/advise/testdata/corpus"
	corpusSize    = 64
	corpusRanks   = 4
	corpusNet     = "L=100us,bw=1Gbit"
)

// corpusProgram is a program of the corpus, and what came of it.
type corpusProgram struct {
	Name, Must, Func string
	Changes          int
	Reason           string   // why calls of it stay
	Differs          []string // runs in which the changed program gave other bytes
}

// wrong reports whether the change is one that must not be made.
func (p *corpusProgram) wrong() bool {
	return len(p.Differs) > 0 || p.Must == "keep" && p.Changes > 0
}

func (p *corpusProgram) missed() bool { return p.Must == "change" && p.Changes == 0 }

// tryCorpus runs the corpus and prints its table. A wrong change is an error.
func tryCorpus(x *corpus, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "weft-advise-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	x.shop = &workshop{dir}
	progress := report.NewProgress(stderr)
	defer progress.Clear()
	before, err := x.shop.build("corpus", corpusPackage, nil)
	if err != nil {
		return err
	}
	progress.Say("corpus: the run that advice is made from")
	files, err := x.advise(before)
	if err != nil {
		return err
	}
	if x.spoil != nil {
		x.spoil(files)
	}
	after, err := x.shop.build("corpus-after", corpusPackage, files)
	if err != nil {
		return fmt.Errorf("the changed corpus: %w", err)
	}
	for _, n := range x.sizes {
		for _, ranks := range x.ranks {
			progress.Say("corpus: size %d on %d ranks", n, ranks)
			if err := x.compare(before, after, n, ranks); err != nil {
				return err
			}
		}
	}
	if x.nas {
		progress.Say("corpus: NAS IS and MG")
		if err := x.tryNAS(); err != nil {
			return err
		}
	}
	progress.Clear()
	return x.print(stdout)
}

// sums runs all programs and returns their sums of bytes.
func (x *corpus) sums(j *job, n, ranks int) (sums map[string]string, err error) {
	j.args = append(j.args, "-n", strconv.Itoa(n), "-ranks", strconv.Itoa(ranks))
	out, _, err := j.run()
	if err != nil {
		return nil, err
	}
	sums = map[string]string{}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 4 {
			return nil, fmt.Errorf("corpus: line %q is not NAME MUST FUNCTION SUM", line)
		}
		sums[f[0]] = f[3]
		if len(j.results) > 0 {
			x.programs = append(x.programs, &corpusProgram{Name: f[0], Must: f[1], Func: f[2]})
		}
	}
	return sums, nil
}

// advise runs the corpus under the tool, and returns the changed files.
func (x *corpus) advise(program string) (map[string][]byte, error) {
	j := &job{program: program, args: []string{"-net", corpusNet}, results: filepath.Join(x.shop.dir, "corpus-run.json"), size: corpusSize}
	if _, err := x.sums(j, corpusSize, corpusRanks); err != nil {
		return nil, err
	}
	r, err := advise.ReadFile(j.results)
	if err != nil {
		return nil, err
	}
	a := consider(j.results, r, 0)
	a.Items = append(a.Items, a.Small...) // every proven change, whatever it saves
	functions, err := functionsOf(r)
	if err != nil {
		return nil, err
	}
	of := map[string]*corpusProgram{}
	for _, p := range x.programs {
		of[p.Func] = p
	}
	for _, it := range a.Items {
		if p := of[functions.at(it.File, it.Line)]; p != nil {
			p.Changes++
		}
	}
	for _, s := range a.Refused {
		if p := of[functions.at(s.file, s.line)]; p != nil && p.Reason == "" {
			p.Reason = s.Reason
		}
	}
	return (&document{Runs: []*advice{a}}).changed()
}

// compare runs the corpus as it is and changed.
func (x *corpus) compare(before, after string, n, ranks int) error {
	want, err := x.sums(&job{program: before}, n, ranks)
	if err != nil {
		return err
	}
	got, err := x.sums(&job{program: after}, n, ranks)
	if err != nil {
		return fmt.Errorf("the changed corpus: %w", err)
	}
	for _, p := range x.programs {
		if got[p.Name] != want[p.Name] {
			p.Differs = append(p.Differs, fmt.Sprintf("%d on %d ranks", n, ranks))
		}
	}
	return nil
}

// print prints the table.
func (x *corpus) print(w io.Writer) error {
	changeable, fixed, kept, wrong := 0, 0, 0, 0
	fmt.Fprintf(w, "%-20s %-7s %-8s %s\n", "program", "must", "advice", "")
	for _, p := range x.programs {
		did, why := "changed", ""
		if p.Changes == 0 {
			did, why = "kept", cmp.Or(p.Reason, "its calls share memory, or stand alone")
		}
		switch {
		case len(p.Differs) > 0:
			why = "WRONG: other bytes with " + strings.Join(p.Differs, ", ")
		case p.wrong():
			why = "WRONG: it must not be changed"
		case p.missed():
			why = "MISSED: " + why
		}
		fmt.Fprintf(w, "%-20s %-7s %-8s %s\n", p.Name, p.Must, did, why)
		if p.Must == "change" {
			changeable++
			if p.Changes > 0 {
				fixed++
			}
		}
		if p.Must == "keep" {
			kept++
		}
		if p.wrong() {
			wrong++
		}
	}
	report.Line(w, report.Text("kind", "corpus"), report.Integer("programs", len(x.programs)), report.Integer("changeable", changeable),
		report.Integer("changed", fixed), report.Integer("keep", kept), report.Integer("wrong", wrong), report.Integer("runs", len(x.sizes)*len(x.ranks)))
	if wrong > 0 {
		return errors.New("advice has changed programs that it must not change, or their results: see WRONG above")
	}
	return nil
}

// functions knows which function a line belongs to.
type functions map[string][]span

type span struct {
	name        string
	first, last int
}

func functionsOf(r *advise.Run) (functions, error) {
	of := functions{}
	for _, s := range r.Sources {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, s.File, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				of[s.File] = append(of[s.File], span{fn.Name.Name, fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line})
			}
		}
	}
	return of, nil
}

func (f functions) at(file string, line int) string {
	for _, s := range f[file] {
		if s.first <= line && line <= s.last {
			return s.name
		}
	}
	return ""
}
