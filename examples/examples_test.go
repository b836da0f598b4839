// Package examples holds programs that show one idea each, in numbered folders;
// README.md says what one sees. The package itself is only their test.
package examples

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/invariant"
)

// small holds the flags of a small run of every example, and its last line.
var small = map[string]struct {
	flags []string
	last  string // regular expression
}{
	"01-hello":               {[]string{"-n", "100"}, `^ok: the squares of 1 to 100 add up to 338350$`},
	"02-regions":             {[]string{"-patience", "500ms"}, `^ok: all \d+ pairs did what their regions say$`},
	"03-cholesky":            {[]string{"-n", "200", "-nb", "48", "-trace", "run.json", "-dot", "run.dot"}, `^ok: residual 0\.\d+ \(limit 16\), same bytes as the plain loop$`},
	"04-stencil":             {[]string{"-rows", "100", "-cols", "64", "-block", "16", "-steps", "8", "-latency", "1ms"}, `^ok: after 8 steps, all three runs have the bytes of the plain loop$`},
	"05-nesting":             {[]string{"-n", "20000"}, `^ok: the numbers are sorted, and one failure skipped two tasks and no other$`},
	"06-two-ranks":           {[]string{"-blocks", "20", "-length", "100"}, `^ok: the squares of 0 to 1999 add up to 2664667000$`},
	"07-halo":                {[]string{"-rows", "40", "-cols", "256", "-block", "4", "-steps", "5", "-ranks", "3", "-trace", "run.json"}, `^ok: after 5 steps, both runs have the bytes of the plain loop$`},
	"08-poisson":             {[]string{"-n", "32"}, `^ok: with 32 points a side the spectral error is [1-9]\.\de-1[3-6] \(limit 1e-12\), that of differences 3\.4e-02$`},
	"09-lazy-message":        {[]string{"-n", "60000", "-work", "4"}, `^ok: all four digests of 60000 numbers are those of the numbers sent$`},
	"10-advise":              {[]string{"-n", "24", "-steps", "5", "-ranks", "4"}, `^ok: after 5 steps the cells are those of the plain loop$`},
	"12-pipeline":            {[]string{"-frames", "40", "-length", "1000"}, `^ok: the digests of all 40 frames are those of the plain loop, both times$`},
	"13-conjugate-gradients": {[]string{"-n", "40", "-block", "6", "-ranks", "3"}, `^ok: both times \|b - A x\| is at most 2\.0e-06 of \|b\|$`},
	"14-least-squares":       {[]string{"-m", "300", "-n", "170"}, `^ok: 170 coefficients, and the residual is orthogonal to the matrix \(limit 1e-13\)$`},
	"11-missing-inout":       {nil, `^ok: the mistake was found twice, and the right program passed everywhere$`},
}

// folders returns the folders of the examples.
func folders(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("[0-9][0-9]-*")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// sameInEveryBuild skips a test of texts and commands where the build is another than the
// usual one.
func sameInEveryBuild(t *testing.T) {
	t.Helper()
	if invariant.Race || invariant.Enabled {
		t.Skip("the same without the race detector and without invariants")
	}
}

// bin is the folder of the programs that the tests compile. What is there already is not
// linked again.
var bin string

func TestMain(m *testing.M) {
	var err error
	if bin, err = os.MkdirTemp("", "examples"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(bin)
	os.Exit(code)
}

// build compiles programs into bin, as the test is compiled.
func build(t *testing.T, what ...string) {
	t.Helper()
	args := []string{"build", "-ldflags=-s -w", "-o", bin + string(filepath.Separator)} // without symbols: half the time to link
	if invariant.Race {
		args = append(args, "-race")
	}
	if invariant.Enabled {
		args = append(args, "-tags", "invariants")
	}
	out, err := exec.Command("go", append(args, what...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// run runs a program in an empty folder and returns its output and exit code.
func run(t *testing.T, program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, problems bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &problems
	cmd.Env = append(os.Environ(), "TMPDIR="+cmd.Dir)
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return out.String(), problems.String(), exit.ExitCode()
	}
	require.NoError(t, err)
	return out.String(), problems.String(), 0
}

// lastLine returns the last line of a text.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}

// Every example ends in a checked result with any number of workers, explains itself with
// -h, and refuses unknown arguments.
func TestExamples(t *testing.T) {
	var all []string
	for _, dir := range folders(t) {
		all = append(all, "./"+dir)
	}
	build(t, all...)
	t.Run("private files", privateFiles)
	t.Run("no place for a trace", noPlaceForATrace)
	for _, dir := range folders(t) {
		t.Run(dir, func(t *testing.T) {
			t.Parallel() // 02-regions mostly sleeps
			want, known := small[dir]
			require.True(t, known, "give it flags for a small run in examples_test.go")
			program := filepath.Join(bin, dir)
			for _, workers := range []string{"1", "2", "3"} {
				stdout, stderr, code := run(t, program, append(want.flags, "-workers", workers)...)
				require.Zero(t, code, "-workers %s\n%s\n%s", workers, stdout, stderr)
				require.Regexp(t, want.last, lastLine(stdout))
			}
			stdout, help, code := run(t, program, "-h")
			require.Zero(t, code)
			require.Contains(t, stdout+help, "go run ./examples/"+dir)
			for _, mistake := range []string{"-no-such-flag", "surplus", "-workers=0"} {
				_, _, code := run(t, program, mistake)
				require.Equal(t, 2, code, mistake)
			}
		})
	}
}

// Files that were not named go into a folder of their own, which only the user can write to:
// a name that others know could be a link of theirs.
func privateFiles(t *testing.T) {
	for dir, flags := range map[string][]string{"03-cholesky": {"-n", "100", "-nb", "48"}, "07-halo": {"-rows", "40", "-cols", "64", "-steps", "2"}} {
		stdout, stderr, code := run(t, filepath.Join(bin, dir), flags...)
		require.Zero(t, code, stderr)
		path := regexp.MustCompile(`\S+\.json`).FindString(stdout)
		s, err := os.Stat(filepath.Dir(path))
		require.NoError(t, err, stdout)
		require.Equal(t, os.FileMode(0o700), s.Mode().Perm(), "%s: others can write beside %s", dir, path)
		require.FileExists(t, path)
	}
}

// A file that cannot be written is refused before anything runs.
func noPlaceForATrace(t *testing.T) {
	for _, dir := range []string{"03-cholesky", "07-halo"} {
		stdout, stderr, code := run(t, filepath.Join(bin, dir), "-trace", "no-such-folder/run.json")
		require.Equal(t, 2, code, dir)
		require.Empty(t, stdout, dir)
		require.Contains(t, stderr, "no-such-folder/run.json", dir)
	}
}

// The first comment of an example says what one sees, its main.go fits on two
// screens, and README.md lists it.
func TestExamplesAreReadable(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, dir := range folders(t) {
		src, err := os.ReadFile(filepath.Join(dir, "main.go"))
		require.NoError(t, err)
		f, err := parser.ParseFile(token.NewFileSet(), dir, src, parser.ParseComments)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(docText(f), "You will see"), "%s: the first comment says what one will see", dir)
		require.LessOrEqual(t, bytes.Count(src, []byte("\n")), 105, "%s/main.go is too long for an example", dir)
		require.Contains(t, string(readme), "("+dir+"/main.go)")
	}
}

func docText(f *ast.File) string { return f.Doc.Text() }

// firstProgram is the first complete program of README.md.
var firstProgram = regexp.MustCompile("(?s)```go\n(package main\n.*?)```")

// The first program of README.md compiles, is short, and prints the output in the README.
func TestReadmeProgram(t *testing.T) {
	sameInEveryBuild(t)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	m := firstProgram.FindSubmatch(readme)
	require.NotNil(t, m, "README.md has no program")
	require.LessOrEqual(t, bytes.Count(m[1], []byte("\n")), 30)
	source := filepath.Join(t.TempDir(), "readme.go")
	require.NoError(t, os.WriteFile(source, m[1], 0o666))
	build(t, source)
	stdout, stderr, code := run(t, filepath.Join(bin, "readme"))
	require.Zero(t, code, stderr)
	require.Contains(t, string(readme), "```text\n"+stdout+"```")
}
