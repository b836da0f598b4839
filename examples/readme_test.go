package examples

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every command of the README files works: its place exists, the program takes its flags,
// and .ci/run runs the commands that need an MPI library.

var (
	shell  = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	inline = regexp.MustCompile("`([^`\n]+)`")
	// tool begins the inline code that is a command; else it may be the name of a program
	// of bench with flags, as in the tables of figures.
	tool = regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(?:go (?:run|test|build|doc) |mpirun\S* |bash \.ci/run|apt-get )`)
)

// commands returns the commands of a Markdown text: the lines of shell blocks, and the
// inline code that looks like one.
func commands(text string, programs map[string]string) (all []string) {
	for _, block := range shell.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[1]) {
			line, _, _ = strings.Cut(line, " #")
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	for _, m := range inline.FindAllStringSubmatch(text, -1) {
		name, args, _ := strings.Cut(m[1], " ")
		if tool.MatchString(m[1]) {
			all = append(all, m[1])
		} else if programs["./bench/"+name] != "" && args != "" {
			all = append(all, "go run ./bench/"+m[1])
		}
	}
	return all
}

// checker has the names that a command may use.
type checker struct {
	programs map[string]string // compiled programs by folder: ./bench/xhpl
	ci       string            // text of .ci/run
}

// check returns an error for a command that does not work.
func (c *checker) check(command string) error {
	words := strings.Fields(command)
	cgo := false
	for len(words) > 0 && strings.Contains(words[0], "=") {
		cgo = cgo || strings.HasPrefix(words[0], "CC=mpicc")
		words = words[1:]
	}
	switch {
	case len(words) < 2:
		return fmt.Errorf("%q is no command", command)
	case words[0] == "go" && words[1] == "run" && len(words) > 2:
		return c.checkFlags(words[2], words[3:])
	case words[0] == "go":
		return c.checkPlaces(words[1:], cgo)
	case strings.HasPrefix(words[0], "mpirun"):
		return c.checkLaunch(words)
	case words[0] == "bash":
		return c.checkStage(words[1:])
	case words[0] == "apt-get" && words[1] == "install":
		return c.checkPackages(words[2:])
	}
	return fmt.Errorf("the test does not know %q: say here how to check it", command)
}

// checkFlags asks a program whether it takes these flags: it gets them with -h behind the
// last of them, or its value, and prints its help if it got so far without a mistake.
func (c *checker) checkFlags(place string, args []string) error {
	program := c.programs[place]
	if program == "" {
		return fmt.Errorf("%s is no program", place)
	}
	last := -1
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			last = i
		}
	}
	var report []byte
	for _, end := range []int{min(last+2, len(args)), last + 1} {
		if last < 0 {
			end = 0
		}
		out, err := help(program, append(slices.Clone(args[:end]), "-h"))
		if err == nil {
			return nil
		}
		report = out
	}
	return fmt.Errorf("%s does not take %v: %s", place, args, report)
}

// help runs a program that is to print its help, in an empty folder.
func help(program string, args []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "help")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	guard := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer guard.Stop()
	return cmd.CombinedOutput()
}

// checkHelp wants -h of every program to say the same things in the same form.
func (c *checker) checkHelp(t *testing.T) {
	require.Greater(t, len(c.programs), 20)
	for place, program := range c.programs {
		text, err := help(program, []string{"-h"})
		require.NoError(t, err, place)
		require.NoError(t, checkHelpText(string(text)), place)
	}
	const flags = "x: a thing.\n\nFlags:\n  -n int  how many"
	const codes = "\n\nExit codes: 0 done, 1 failed, 2 usage\n"
	require.NoError(t, checkHelpText(flags+" (default 3)"+codes))
	for _, wrong := range []string{
		flags, flags + "; 0: all (default 0)" + codes, flags + "; default 4 (default 3)" + codes,
		flags + strings.Repeat(" long", 20) + codes, "\t\t\t" + strings.Repeat("long ", 16) + flags + codes,
	} {
		require.Error(t, checkHelpText(wrong), "negative control: %s", wrong)
	}
}

// flagText is the part of a help text about one flag.
var flagText = regexp.MustCompile(`(?m)^  -\S.*(?:\n {4,}.*)*`)

// checkHelpText checks a help text: lines of at most 100 columns, at most one default per
// flag, and the exit codes.
func checkHelpText(text string) error {
	for line := range strings.Lines(text) {
		if n := len(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "        ")); n > 100 {
			return fmt.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(text, "\nExit codes: 0 ") {
		return errors.New("no exit codes")
	}
	for _, f := range flagText.FindAllString(text, -1) {
		if strings.Count(f, "default") > 1 && strings.Contains(f, "(default") || strings.Contains(f, "(default 0)") {
			return fmt.Errorf("the default is told twice, or is none: %s", f)
		}
	}
	return nil
}

// checkPlaces looks for the folders that a go command names, and for a stage of .ci/run
// that builds the same where an MPI library is needed.
func (c *checker) checkPlaces(words []string, cgo bool) error {
	for _, w := range words {
		if !strings.HasPrefix(w, "./") {
			continue
		}
		if _, err := os.Stat(filepath.Join("..", strings.TrimSuffix(w, "..."))); err != nil {
			return err
		}
		if cgo && !c.builtWithMPI(w) {
			return fmt.Errorf(".ci/run does not build %s with -tags mpi", w)
		}
	}
	if slices.Contains(words, "./...") && !strings.Contains(c.ci, "CGO_ENABLED=0 go test -count=1 ./...") {
		return errors.New(".ci/run does not test ./... without cgo")
	}
	return nil
}

var mpiBuild = regexp.MustCompile(`go build -tags mpi (?:[^\n]*\\\n)*[^\n]*`)

func (c *checker) builtWithMPI(place string) bool {
	return slices.Contains(strings.Fields(mpiBuild.FindString(c.ci)), place)
}

// checkLaunch looks for the program of an mpirun line in .ci/run.
func (c *checker) checkLaunch(words []string) error {
	for i, w := range words {
		name, ok := strings.CutPrefix(w, "bin/")
		if !ok {
			continue
		}
		if !regexp.MustCompile(`"mpirun\.\$mpi" .*/` + regexp.QuoteMeta(name) + `"`).MatchString(c.ci) {
			return fmt.Errorf(".ci/run never starts %s with mpirun", name)
		}
		for _, room := range []string{"./bench/", "./examples/"} {
			if c.programs[room+name] != "" {
				return c.checkFlags(room+name, words[i+1:])
			}
		}
	}
	return fmt.Errorf("%v names no program of bin/", words)
}

func (c *checker) checkStage(words []string) error {
	for _, w := range words[1:] {
		if w != "long" && w != "-l" && !strings.Contains(c.ci, "\nstage_"+w+"()") {
			return fmt.Errorf(".ci/run has no stage %s", w)
		}
	}
	return nil
}

// checkPackages requires that the packages are the ones that .ci/run installs.
func (c *checker) checkPackages(words []string) error {
	for _, w := range words {
		if !regexp.MustCompile(`missing\+=\(.*\b` + regexp.QuoteMeta(w) + `\b.*\)`).MatchString(c.ci) {
			return fmt.Errorf(".ci/run does not install %s", w)
		}
	}
	return nil
}

// newChecker compiles all programs of examples and bench.
func newChecker(t *testing.T) *checker {
	t.Helper()
	ci, err := os.ReadFile("../.ci/run")
	require.NoError(t, err)
	c := &checker{map[string]string{}, string(ci)}
	var places []string
	for _, pattern := range []string{"../bench/*/main.go", "[0-9][0-9]-*/main.go"} {
		all, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, all)
		for _, main := range all {
			room, name := "examples", filepath.Base(filepath.Dir(main))
			if strings.HasPrefix(main, "..") {
				room = "bench"
			}
			c.programs["./"+room+"/"+name] = filepath.Join(bin, name)
			places = append(places, "../"+room+"/"+name)
		}
	}
	build(t, places...)
	return c
}

func TestReadmeCommands(t *testing.T) {
	sameInEveryBuild(t)
	c := newChecker(t)
	t.Run("help", c.checkHelp)
	for _, readme := range []string{"../README.md", "../CONTRIBUTING.md", "../mpi/README.md", "README.md", "../bench/README.md", "../bench/FIGURES.md"} {
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		all := commands(string(text), c.programs)
		require.Greater(t, len(all), 4, "%s: the test looks for commands in the wrong way", readme)
		slices.Sort(all)
		for _, command := range slices.Compact(all) {
			if err := c.check(command); err != nil {
				t.Errorf("%s: %s\n%v", readme, command, err)
			}
		}
	}
	for _, wrong := range []string{
		"go run ./bench/none", "go run ./bench/xhpl -no-such-flag", "go run ./bench/osu latency -maximum 8",
		"go run ./bench/xhpl -n many", "WEFT_ADVISE=run.json go run ./examples/10-advice", "go test ./none",
		"CC=mpicc.openmpi go build -tags mpi ./bench/wake", "mpirun -np 2 bin/wake", "mpirun -np 2 xhpl",
		"mpirun -np 2 bin/xhpl -no-such-flag", "bash .ci/run none", "apt-get install none", "make",
		"python3 setup.py install",
	} {
		require.Error(t, c.check(wrong), "negative control: %s", wrong)
	}
}

// Commands in blocks and inline code are found, and other code is not.
func TestCommandsAreFound(t *testing.T) {
	text := "Use `go run ./a -n 1`, `mpi`, `-workers 2` and `osu latency -max 8`.\n\n```sh\ngo test ./...   # all\nX=1 make\n```\n\n```go\ngo f()\n```\n"
	require.Equal(t, []string{"go test ./...", "X=1 make", "go run ./a -n 1", "go run ./bench/osu latency -max 8"},
		commands(text, map[string]string{"./bench/osu": "osu"}))
}
