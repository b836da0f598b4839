package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parseText(t *testing.T, fset *token.FileSet, name, src string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return f
}

var (
	link = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	// place is a file or folder in a command or a sentence: ./examples/03-cholesky.
	place = regexp.MustCompile(`(?:^|[\s"'\x60(])(\./[A-Za-z0-9_./-]*[A-Za-z0-9_/-])`)
)

// Every relative link of a Markdown file leads somewhere, and every ./place that
// a command of it names exists.
func TestMarkdownReferences(t *testing.T) {
	for _, f := range readTree(t).texts {
		if strings.HasSuffix(f.path, ".md") {
			for _, r := range references(string(f.src)) {
				if !referenceExists(f, r) {
					t.Errorf("%s refers to %s, which does not exist", f.path, r)
				}
			}
		}
	}
}

// references returns the relative links and the places in a Markdown text.
func references(text string) (all []string) {
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			all = append(all, strings.TrimSpace(m[1]))
		}
	}
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// referenceExists looks beside the file for a link, and at the top of the module
// for a place, where commands are run.
func referenceExists(f *file, ref string) bool {
	dir := filepath.Join(root, f.dir())
	if strings.HasPrefix(ref, "./") {
		dir = root
		ref = strings.TrimSuffix(strings.TrimSuffix(ref, "..."), "/")
	}
	_, err := os.Stat(filepath.Join(dir, ref))
	return err == nil
}

func TestMarkdownReferencesAreFound(t *testing.T) {
	text := "See [a](b/c.md), [w](https://go.dev), [d](d.md#part).\n\n\tgo run ./examples/x -n 1\n`go test ./...` and ./deps/."
	require.Equal(t, []string{"b/c.md", "d.md", "./examples/x", "./deps/"}, references(text))
	readme := &file{path: "README.md"}
	require.True(t, referenceExists(readme, "./deps/"))
	require.True(t, referenceExists(readme, "go.mod"))
	require.True(t, referenceExists(&file{path: "deps/README.md"}, "../go.mod"))
	require.False(t, referenceExists(readme, "./examples/none"))
	require.False(t, referenceExists(readme, "none.md"))
}

// generator matches the one form of go:generate that the tree uses.
var generator = regexp.MustCompile(`(?m)^//go:generate go run (\S+)$`)

// Generated files equal the current output of their generators.
func TestGeneratedFiles(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the go command is not in the path: put it there to compare generated files")
	}
	generators := 0
	for _, f := range readTree(t).files {
		for _, m := range generator.FindAllSubmatch(f.src, -1) {
			if !f.test() {
				generators++
				checkGenerator(t, f.dir(), string(m[1]))
			}
		}
	}
	require.Positive(t, generators, "no generator found: tasks has one")
}

// checkGenerator runs a generator of folder dir in an empty one and compares.
func checkGenerator(t *testing.T, dir, pkg string) {
	program, empty := filepath.Join(t.TempDir(), "generator"), t.TempDir()
	build := exec.Command("go", "build", "-o", program, pkg)
	build.Dir = filepath.Join(root, dir)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := exec.Command(program)
	run.Dir = empty
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	written, err := os.ReadDir(empty)
	require.NoError(t, err)
	require.NotEmpty(t, written)
	for _, w := range written {
		fresh, err := os.ReadFile(filepath.Join(empty, w.Name()))
		require.NoError(t, err)
		old, err := os.ReadFile(filepath.Join(root, dir, w.Name()))
		require.NoError(t, err)
		if string(fresh) != string(old) {
			t.Errorf("%s/%s is out of date: go generate ./%s", dir, w.Name(), dir)
		}
	}
}
