package layout

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const namesFile = "names.txt"

var update = flag.Bool("update", false, "rewrite names.txt")

// A new public name is a decision: it stays for years. names.txt lists the public names of
// every package that a program can import; go test ./internal/layout -update rewrites it.
func TestPublicNames(t *testing.T) {
	got := publicNames(readTree(t).files)
	if *update {
		require.NoError(t, os.WriteFile(namesFile, []byte(got), 0o666))
	}
	want, err := os.ReadFile(namesFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "public names differ from %s: go test ./internal/layout -update, if that is meant", namesFile)
}

// publicNames returns a paragraph per package: its folder, how many names there are, and
// the names. Methods count, fields do not.
func publicNames(files []*file) string {
	names := map[string][]string{}
	for _, f := range files {
		if !f.library() || hidden(f.dir()) {
			continue
		}
		for _, d := range f.ast.Decls {
			names[f.dir()] = append(names[f.dir()], declared(d)...)
		}
	}
	var dirs []string
	for dir := range names {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	var b strings.Builder
	for _, dir := range dirs {
		all := names[dir]
		slices.Sort(all)
		all = slices.Compact(all) // one declaration for each system
		fmt.Fprintf(&b, "%s: %d\n", dir, len(all))
		for _, name := range all {
			fmt.Fprintf(&b, "\t%s\n", name)
		}
	}
	return b.String()
}

// hidden reports whether a program outside of the module cannot import a folder.
func hidden(dir string) bool {
	for _, part := range strings.Split(dir, "/") {
		if part == "internal" || strings.HasPrefix(part, "_") {
			return true
		}
	}
	return strings.HasPrefix(dir, "bench") || strings.HasPrefix(dir, "examples")
}

// declared returns the public names of a declaration.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := receiverOf(d)
		if d.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
			names = append(names, strings.TrimPrefix(receiver+"."+d.Name.Name, "."))
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
		names = slices.DeleteFunc(names, func(n string) bool { return !ast.IsExported(n) })
	}
	return names
}

// receiverOf returns the name of the type that a method belongs to; "" for a function.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return "?"
		}
	}
}

func TestPublicNamesAreFound(t *testing.T) {
	var files []*file
	src := "package p\ntype T[V any] struct{ F int }\ntype u struct{}\nconst A, b = 1, 2\nfunc (T[V]) M() {}\nfunc (*u) N() {}\nfunc F() {}\n"
	for _, path := range []string{"p/a.go", "p/a_test.go", "internal/p/a.go", "bench/p/a.go"} {
		f := &file{path: path, ast: parseText(t, token.NewFileSet(), path, src)}
		files = append(files, f)
	}
	require.Equal(t, "p: 4\n\tA\n\tF\n\tT\n\tT.M\n", publicNames(files))
}
