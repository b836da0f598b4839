// Command types checks the types of every package and test of the tree for other systems, each
// given as GOOS/GOARCH, without cgo: in seconds, because it reads the source of everything that
// they import and compiles nothing. From the root of the tree:
//
//	go run ./.ci/types windows/amd64 linux/arm64
//
// Exit code 1 if a type is wrong, 2 for wrong usage.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) == 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./.ci/types GOOS/GOARCH...")
		os.Exit(2)
	}
	code := 0
	for _, system := range os.Args[1:] {
		goos, goarch, ok := strings.Cut(system, "/")
		if !ok {
			fmt.Fprintf(os.Stderr, "%s: not of the form GOOS/GOARCH, as windows/amd64\n", system)
			os.Exit(2)
		}
		n, err := check(goos, goarch)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			code = 1
			continue
		}
		fmt.Printf("ok  %s: %d packages and tests\n", system, n)
	}
	os.Exit(code)
}

// listed is what go list says of a package, or of its form for a test.
type listed struct {
	ImportPath, Dir, Name string
	GoFiles               []string
	ImportMap             map[string]string
	Standard              bool
	Module                *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check returns how many packages of the main module it has checked.
func check(goos, goarch string) (int, error) {
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-json=ImportPath,Dir,Name,GoFiles,ImportMap,Standard,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	c := checker{
		files:    token.NewFileSet(),
		packages: map[string]*types.Package{"unsafe": types.Unsafe},
		sizes:    types.SizesFor("gc", goarch),
		said:     map[string]bool{},
	}
	n := 0
	for packages := json.NewDecoder(out); ; { // each after those that it imports
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return n, err
		}
		if p.Error != nil {
			c.report(errors.New(p.Error.Err))
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // go test writes the main package of a test
			continue
		}
		c.add(p)
		if p.Module != nil && p.Module.Main {
			n++
		}
	}
	return n, errors.Join(append(c.errs, list.Wait())...)
}

// A checker checks packages, each after those that it imports.
type checker struct {
	files    *token.FileSet
	packages map[string]*types.Package
	sizes    types.Sizes
	errs     []error
	said     map[string]bool // their text
}

// add checks a package. Bodies of functions and mistakes count in those of the main module only.
func (c *checker) add(p listed) {
	own := p.Module != nil && p.Module.Main
	report := func(error) {}
	if own {
		report = c.report
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			report(err)
			continue
		}
		files = append(files, file)
	}
	conf := types.Config{
		IgnoreFuncBodies: !own,
		Sizes:            c.sizes,
		Error:            report,
		Importer:         importer{c, p.ImportMap},
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // a form for a test is "path [path.test]"
	c.packages[p.ImportPath], _ = conf.Check(path, c.files, files, nil)
}

// report keeps a mistake, once: the form of a package for a test has the same ones.
func (c *checker) report(err error) {
	if !c.said[err.Error()] {
		c.said[err.Error()] = true
		c.errs = append(c.errs, err)
	}
}

// importer finds what one package imports.
type importer struct {
	*checker
	names map[string]string // the import paths that stand for another one
}

func (i importer) Import(path string) (*types.Package, error) {
	if name, ok := i.names[path]; ok {
		path = name
	}
	if p := i.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("no package %s for this system", path)
}
