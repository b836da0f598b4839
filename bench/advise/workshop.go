package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/internal/osthread"
)

// module is the path of the measured programs' module.
const module = "github.com/weft-hpc/weft/"

// hang is the time after which a run counts as hanging.
const hang = 3 * time.Minute

// workshop is a folder in which programs are built, as they are and changed, and run.
// Source files stay as they are: changed ones reach the compiler as an overlay.
type workshop struct{ dir string }

// build compiles a package of the module; changed replaces files by others, and may be nil.
// It returns the program.
func (w *workshop) build(name, pkg string, changed map[string][]byte) (string, error) {
	program := filepath.Join(w.dir, name+".exe")
	args := []string{"build", "-ldflags=-s -w", "-o", program} // without symbols: half the time to link
	if changed != nil {
		overlay, err := w.overlay(name, changed)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	out, err := exec.Command("go", append(args, module+pkg)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build %s, in a folder of the module: %w: %s", pkg, err, out)
	}
	return program, nil
}

// overlay writes the changed files and the table that go build reads.
func (w *workshop) overlay(name string, changed map[string][]byte) (string, error) {
	replace := map[string]string{}
	for file, text := range changed {
		copied := filepath.Join(w.dir, fmt.Sprintf("%s-%d-%s", name, len(replace), filepath.Base(file)))
		if err := os.WriteFile(copied, text, 0o666); err != nil {
			return "", err
		}
		replace[file] = copied
	}
	table, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(w.dir, name+".json")
	return file, os.WriteFile(file, table, 0o666)
}

// job is a run of a program.
type job struct {
	program string
	args    []string
	results string  // file for the tool's measurements; "": the program runs by itself
	size    float64 // told to the tool
	bare    bool    // without rehearsal
}

// run runs a job and returns its output and wall-clock seconds.
func (j *job) run() (output string, wall float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), hang)
	defer cancel()
	cmd := exec.CommandContext(ctx, j.program, j.args...)
	cmd.Env = j.environment()
	var problems strings.Builder
	cmd.Stderr = &problems
	start := osthread.Nanotime()
	out, err := cmd.Output()
	wall = float64(osthread.Nanotime()-start) / 1e9
	if err != nil {
		return "", 0, fmt.Errorf("%s %s: %w: %s%s", filepath.Base(j.program), strings.Join(j.args, " "), err, out, problems.String())
	}
	return string(out), wall, nil
}

// environment returns the environment of this process with the tool's variables as the job
// sets them.
func (j *job) environment() (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, advise.FileVariable) {
			env = append(env, e)
		}
	}
	if j.results == "" {
		return env
	}
	env = append(env, advise.FileVariable+"="+j.results)
	if j.size > 0 {
		env = append(env, fmt.Sprintf("%s=%g", advise.SizeVariable, j.size))
	}
	if j.bare {
		env = append(env, advise.RehearseVariable+"=0")
	}
	return env
}

var loop = regexp.MustCompile(`(?m), (\d+) steps in ([0-9.]+) ms, .* each, median ([0-9.]+) us$`)

// exchange runs the border exchange of example 10 and returns the seconds of a step, median
// and mean. The run counts only if its result has the bytes of the plain loop.
func (j *job) exchange() (median, mean float64, err error) {
	out, _, err := j.run()
	if err != nil {
		return 0, 0, err
	}
	found := loop.FindStringSubmatch(out)
	if found == nil || !strings.Contains(out, "\nok: ") {
		return 0, 0, fmt.Errorf("%s %s has not verified its result: %s", filepath.Base(j.program), strings.Join(j.args, " "), out)
	}
	steps, _ := strconv.ParseFloat(found[1], 64)
	ms, _ := strconv.ParseFloat(found[2], 64)
	us, err := strconv.ParseFloat(found[3], 64)
	return us / 1e6, ms / 1e3 / steps, err
}
