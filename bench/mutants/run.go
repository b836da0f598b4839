package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// room is a package whose tests are examined.
type room struct {
	dir  string
	more []string // folders of packages that rest on it, whose tests run after its own
}

var rooms = []room{
	{"deps", []string{"dataflow"}},
	{"internal/task", []string{"tasks", "dataflow"}},
	{"tasks", []string{"dataflow"}},
	{"dataflow", []string{"commthread"}},
	{"commthread", []string{"hpl"}},
	{"commthread/dds", []string{"commthread"}},
	{"mpi/local", []string{"mpi", "mpi/mpitest"}},
}

func roomNames() (names []string) {
	for _, r := range rooms {
		names = append(names, r.dir)
	}
	return names
}

//go:embed equivalent.txt
var equivalentText string

// readKnown reads lines of a mutant's key, " // ", and the reason why nothing changes.
func readKnown(text string) (map[string]bool, error) {
	known := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		key, reason, ok := strings.Cut(line, " // ")
		if !ok || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("equivalent.txt:%d: give a reason behind \" // \"", i+1)
		}
		known[strings.TrimSpace(key)] = true
	}
	return known, nil
}

// tally counts the mutants of a package.
type tally struct{ killed, equivalent, survived int }

func (t *tally) made() int { return t.killed + t.equivalent + t.survived }

func (t *tally) share() float64 {
	return float64(t.killed+t.equivalent) / float64(max(1, t.made()))
}

// examine makes the mutants of a package, runs the tests on each and prints the survivors.
func (c *config) examine(r room, known map[string]bool, out io.Writer) (t tally, err error) {
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(scratch)
	e := examination{config: c, known: known, out: out, scratch: scratch}
	overlay, err := e.choose(r)
	if err != nil {
		return t, err
	}
	e.suites = c.suitesOf(r, scratch, overlay)
	if _, err := e.suites[0](); err != nil {
		return t, err
	}
	var workers sync.WaitGroup
	for range c.jobs {
		workers.Go(e.work)
	}
	workers.Wait()
	return e.tally, e.err
}

// choose draws mutants that compile, and returns an overlay with all of them that have
// forms.
func (e *examination) choose(r room) (overlay string, err error) {
	files, err := sources(r.dir)
	if err != nil {
		return "", err
	}
	all, err := mutants(files, e.seed)
	if err != nil {
		return "", err
	}
	check, err := newChecker(r.dir)
	if err != nil {
		return "", err
	}
	inside := map[string][]chosen{}
	for _, m := range all {
		if len(e.left) == e.n {
			break
		}
		if e.match != nil && !e.match.MatchString(m.key()) {
			continue
		}
		source, err := os.ReadFile(m.file)
		if err != nil {
			return "", err
		}
		one := chosen{m, len(e.left) + 1}
		switch {
		case !check.valid(m.file, m.apply(source)):
			continue
		case m.form.write == nil || !check.valid(m.file, []byte(withForms(source, []chosen{one}))):
			one.id = 0
		default:
			inside[m.file] = append(inside[m.file], one)
		}
		e.left = append(e.left, one)
	}
	changed := map[string]string{filepath.Join(r.dir, selectorFile): selectorSource(check.name)}
	for file, some := range inside {
		source, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		changed[file] = withForms(source, some)
	}
	return writeOverlay(e.scratch, changed)
}

// examination is the state that the goroutines testing the mutants of a package share.
type examination struct {
	*config
	suites  []func() (suite, error)
	known   map[string]bool
	out     io.Writer
	scratch string

	mu    sync.Mutex
	left  []chosen
	tally tally
	err   error
}

func (e *examination) work() {
	for m, ok := e.next(); ok; m, ok = e.next() {
		by, err := "", error(nil)
		if !e.known[m.key()] {
			by, err = e.try(m)
		}
		e.note(m, by, err)
	}
}

// next returns the mutant to try now.
func (e *examination) next() (m chosen, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil || len(e.left) == 0 {
		return m, false
	}
	m, e.left = e.left[0], e.left[1:]
	return m, true
}

// note counts a mutant, and prints it if nothing has noticed it.
func (e *examination) note(m chosen, by string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err != nil:
		e.err = errors.Join(e.err, err)
	case by != "":
		e.tally.killed++
		if e.verbose {
			fmt.Fprintf(e.out, "killed    %v\n          by: %s\n", m, by)
		}
	case e.known[m.key()]:
		e.tally.equivalent++
	default:
		e.tally.survived++
		fmt.Fprintf(e.out, "survived  %v\n          key: %s\n", m, m.key())
	}
}

// sources returns the Go files of a package, without tests, for this system.
func sources(dir string) (files []string, err error) {
	list, err := exec.Command("go", "list", "-f", `{{range .GoFiles}}{{println .}}{{end}}`, "./"+dir).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", withText(err))
	}
	for _, name := range strings.Fields(string(list)) {
		files = append(files, filepath.ToSlash(filepath.Join(dir, name)))
	}
	return files, nil
}

func withText(err error) error {
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}

// try runs the tests on a mutant and returns the first that fails, "" if none does.
func (e *examination) try(m chosen) (by string, err error) {
	for _, measured := range e.suites {
		s, err := measured()
		if err != nil {
			return "", err
		}
		if m.id > 0 {
			by = e.noticed(s, s.program, m.id)
		}
		if by == "" && (m.id == 0 || len(s.skipped) > 0) {
			by, err = e.tryAlone(s, m)
		}
		if by != "" || err != nil {
			return by, err
		}
	}
	return "", nil
}

// tryAlone compiles a mutant for itself, to run the tests that do not bear the forms, or all.
func (e *examination) tryAlone(s suite, m chosen) (by string, err error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(e.scratch, "")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, map[string]string{m.file: string(m.apply(source))})
	if err != nil {
		return "", err
	}
	program, err := build(s.dir, dir, overlay)
	if err != nil {
		return "", err
	}
	if m.id > 0 {
		return e.noticedIn(s, program, 0, e.timeout, "-test.run", pattern(s.skipped)), nil
	}
	s.skipped = nil
	return e.noticed(s, program, 0), nil
}

// writeOverlay writes changed files and the description of them for the compiler, whose
// name it returns.
func writeOverlay(dir string, changed map[string]string) (string, error) {
	places := map[string]string{}
	for file, text := range changed {
		original, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		places[original] = filepath.Join(dir, fmt.Sprintf("changed%d.go", len(places)))
		if err := os.WriteFile(places[original], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": places})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o600)
}
