package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// checker finds out without a compiler whether a package with one changed file is valid.
type checker struct {
	files   *token.FileSet
	parsed  map[string]*ast.File // by name
	name    string               // of the package
	imports types.Importer
}

func newChecker(dir string) (*checker, error) {
	exports, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./"+dir, "os").Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w", withText(err))
	}
	where := map[string]string{}
	for _, line := range strings.Split(string(exports), "\n") {
		name, file, _ := strings.Cut(line, "\t")
		where[name] = file
	}
	list, err := exec.Command("go", "list", "-compiled", "-f", "{{.Dir}}{{range .CompiledGoFiles}}\n{{.}}{{end}}", "./"+dir).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -compiled: %w", withText(err))
	}
	c := &checker{files: token.NewFileSet(), parsed: map[string]*ast.File{}}
	c.imports = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(where[path]) })
	names := strings.Fields(string(list))
	for _, name := range names[1:] {
		if !filepath.IsAbs(name) {
			name = filepath.Join(names[0], name)
		}
		f, err := parser.ParseFile(c.files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.parsed[name], c.name = f, f.Name.Name
	}
	f, err := parser.ParseFile(c.files, selectorFile, selectorSource(c.name), parser.SkipObjectResolution)
	c.parsed[selectorFile] = f
	return c, err
}

// valid reports whether the package compiles with another text of a file.
func (c *checker) valid(file string, text []byte) bool {
	file, err := filepath.Abs(file)
	if err != nil {
		return false
	}
	changed, err := parser.ParseFile(c.files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	all := []*ast.File{changed}
	for name, f := range c.parsed {
		if name != file {
			all = append(all, f)
		}
	}
	conf := types.Config{Importer: c.imports}
	_, err = conf.Check(c.name, c.files, all, nil)
	return err == nil
}
