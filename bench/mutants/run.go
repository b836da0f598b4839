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
	"time"
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
	noticed, text := c.noticed(r, "")
	if noticed {
		return t, fmt.Errorf("its tests fail without a change:\n%s", text)
	}
	for _, m := range all {
		if t.made() == c.n {
			break
		}
		switch verdict, err := c.try(r, m); {
		case err != nil:
			return t, err
		case verdict == killed:
			t.killed++
		case verdict == survived && known[m.key()]:
			t.equivalent++
		case verdict == survived:
			t.survived++
			fmt.Fprintf(out, "survived  %v\n          key: %s\n", m, m.key())
		}
	}
	return t, nil
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

// try runs the tests on a mutant.
func (c *config) try(r room, m *mutant) (verdict, error) {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return invalid, err
	}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return invalid, err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, m.file, m.apply(source))
	if err != nil {
		return invalid, err
	}
	if exec.Command("go", "build", "-overlay", overlay, "./"+r.dir).Run() != nil {
		return invalid, nil
	}
	if noticed, _ := c.noticed(r, overlay); noticed {
		return killed, nil
	}
	return survived, nil
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

// noticed reports whether some test fails with an overlay, and what the tests printed.
func (c *config) noticed(r room, overlay string) (bool, string) {
	for _, dir := range append([]string{r.dir}, r.more...) {
		args := []string{"test", "-count=1", "-vet=off", "-failfast", "-timeout", c.timeout.String()}
		if overlay != "" {
			args = append(args, "-overlay", overlay)
		}
		cmd := exec.Command("go", append(args, "./"+dir)...)
		cmd.WaitDelay = 10 * time.Second // children of a test that was killed may hold its output
		if text, err := cmd.CombinedOutput(); err != nil {
			return true, string(text)
		}
	}
	return false, ""
}
