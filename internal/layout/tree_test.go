package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/weft-hpc/weft"
	root   = "../.."
)

// tree is the source of the module: all files but nested modules, testdata, and files that
// git would not track.
type tree struct {
	fset  *token.FileSet
	files []*file
	texts []*file // Markdown, scripts and whatever else is not Go; no ast
}

type file struct {
	path string // relative to the module, with slashes
	src  []byte
	ast  *ast.File
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

// dir returns the folder of f; "." at the top.
func (f *file) dir() string { return filepath.ToSlash(filepath.Dir(f.path)) }

// library reports whether f is code that others import: no program, no test.
func (f *file) library() bool { return !f.test() && f.ast.Name.Name != "main" }

var readOnce = sync.OnceValues(func() (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return t.visit(path, d)
	})
	return t, err
})

func readTree(t *testing.T) *tree {
	t.Helper()
	tree, err := readOnce()
	require.NoError(t, err)
	require.Greater(t, len(tree.files), 50, "the tests look at the wrong folder")
	return tree
}

func (t *tree) visit(path string, d fs.DirEntry) error {
	name := d.Name()
	if d.IsDir() {
		_, err := os.Stat(filepath.Join(path, "go.mod"))
		nested := err == nil && path != root
		if nested || name == ".git" || name == "testdata" || path == filepath.Join(root, "bin") {
			return fs.SkipDir
		}
		return nil
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || !d.Type().IsRegular() {
		return err
	}
	f := &file{path: filepath.ToSlash(rel)}
	switch ext := filepath.Ext(name); {
	case ext == ".go":
		return t.parse(path, f)
	case slices.Contains([]string{".md", ".txt", ".s", ".c", ".h", ".mod", ".sh"}, ext), f.dir() == ".ci":
		t.texts = append(t.texts, f)
		f.src, err = os.ReadFile(path)
	}
	return err
}

func (t *tree) parse(path string, f *file) (err error) {
	if f.src, err = os.ReadFile(path); err != nil {
		return err
	}
	f.ast, err = parser.ParseFile(t.fset, f.path, f.src, parser.ParseComments|parser.SkipObjectResolution)
	t.files = append(t.files, f)
	return err
}

// imports returns the imports of the packages without their tests.
func (t *tree) imports() map[string][]string {
	imports := map[string][]string{}
	for _, f := range t.files {
		if f.test() || strings.Contains(f.path, "/_") {
			continue
		}
		all := imports[f.dir()]
		for _, spec := range f.ast.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil && !slices.Contains(all, path) {
				all = append(all, path)
			}
		}
		imports[f.dir()] = all
	}
	return imports
}

// at returns file:line of a position.
func (t *tree) at(p token.Pos) string {
	pos := t.fset.Position(p)
	return pos.Filename + ":" + strconv.Itoa(pos.Line)
}
