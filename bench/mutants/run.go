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
	"slices"
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
	files, err := sources(r.dir)
	if err != nil {
		return t, err
	}
	all, err := mutants(files, c.seed)
	if err != nil {
		return t, err
	}
	if c.match != nil {
		all = slices.DeleteFunc(all, func(m *mutant) bool { return !c.match.MatchString(m.key()) })
	}
	suites := c.suitesOf(r)
	if _, err := suites[0](); err != nil {
		return t, err
	}
	e := examination{config: c, suites: suites, known: known, left: all, out: out}
	var workers sync.WaitGroup
	for range c.jobs {
		workers.Go(e.work)
	}
	workers.Wait()
	return e.tally, e.err
}

// examination is what the goroutines that try the mutants of a package share.
type examination struct {
	*config
	suites []func() (suite, error)
	known  map[string]bool
	out    io.Writer

	mu      sync.Mutex
	left    []*mutant
	running int
	tally   tally
	err     error
}

func (e *examination) work() {
	for m := e.next(); m != nil; m = e.next() {
		v, by, err := survived, "", error(nil)
		if !e.known[m.key()] {
			v, by, err = e.try(e.suites, m)
		}
		e.note(m, v, by, err)
	}
}

// next returns the mutant to try now, or nil. Of several goroutines that wait for the
// last ones, one will go on if some do not compile.
func (e *examination) next() (m *mutant) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil || len(e.left) == 0 || e.tally.made()+e.running == e.n {
		return nil
	}
	m, e.left = e.left[0], e.left[1:]
	e.running++
	return m
}

// note counts a mutant, and prints it if nothing has noticed it.
func (e *examination) note(m *mutant, v verdict, by string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running--
	switch {
	case err != nil:
		e.err = errors.Join(e.err, err)
	case v == killed:
		e.tally.killed++
		if e.verbose {
			fmt.Fprintf(e.out, "killed    %v\n          by: %s\n", m, by)
		}
	case v == survived && e.known[m.key()]:
		e.tally.equivalent++
	case v == survived:
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

type verdict int

const (
	invalid verdict = iota // does not compile
	killed
	survived
)

// try runs the tests on a mutant; by is the first that fails.
func (c *config) try(suites []func() (suite, error), m *mutant) (v verdict, by string, err error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return invalid, "", err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid, "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, m.file, m.apply(source))
	if err != nil {
		return invalid, "", err
	}
	for _, measured := range suites {
		s, err := measured()
		if err != nil {
			return invalid, "", err
		}
		program, err := build(s.dir, dir, overlay)
		if err != nil {
			return invalid, "", nil
		}
		if by = c.noticed(s, program); by != "" {
			return killed, by, nil
		}
	}
	return survived, "", nil
}

// writeOverlay writes the changed file and the description of it for the compiler, whose
// name it returns.
func writeOverlay(dir, file string, source []byte) (string, error) {
	original, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	changed, list := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	return list, errors.Join(os.WriteFile(changed, source, 0o600), os.WriteFile(list, text, 0o600))
}
