package rewrite

import (
	"bytes"
	"encoding/json"
	"errors"
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

// mpiPath is the package whose calls are changed.
const mpiPath = "github.com/weft-hpc/weft/mpi"

// Program is source with types: the packages that some files belong to.
type Program struct {
	fset    *token.FileSet
	files   map[string]*file
	funcs   map[string]*function // by full name
	deps    map[string]*listed   // packages of the same modules that have not been read yet
	exports map[string]string    // export data, by import path
}

// unitPackage is a package of the program.
type unitPackage struct {
	path    string
	names   []string // of its files
	imports types.Importer
	types   *types.Package
	info    *types.Info
}

// file is a source file of a program.
type file struct {
	name string
	src  []byte
	ast  *ast.File
	pkg  *unitPackage
}

// function is a declared function, and where.
type function struct {
	decl *ast.FuncDecl
	file *file
}

// Load reads the packages that the files belong to. It runs the go command in their
// folders and has the requirements of a build. A package with errors is an error.
func Load(names ...string) (*Program, error) {
	p := &Program{fset: token.NewFileSet(), files: map[string]*file{}, funcs: map[string]*function{}, deps: map[string]*listed{}, exports: map[string]string{}}
	done := map[string]bool{}
	for _, name := range names {
		dir := filepath.Dir(name)
		if done[dir] {
			continue
		}
		done[dir] = true
		if err := p.load(dir, "."); err != nil {
			return nil, fmt.Errorf("source in %s: %w", dir, err)
		}
	}
	return p, nil
}

// listed is a package as the go command lists it.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // file of the compiler's export data
	GoFiles    []string
	CgoFiles   []string
	DepOnly    bool
	ImportMap  map[string]string
	Module     *struct{ Main bool }
	Error      *struct{ Err string }
}

// load reads the packages that patterns mean in dir. Their dependencies are known by the
// compiler's export data.
func (p *Program) load(dir string, patterns ...string) error {
	args := append([]string{"list", "-e", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,DepOnly,ImportMap,Module,Error", "--"}, patterns...)
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go list: %w: %s", err, strings.TrimSpace(problems.String()))
	}
	var own []*listed
	for d := json.NewDecoder(&out); ; {
		l := &listed{}
		if err := d.Decode(l); err == io.EOF {
			break
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		p.exports[l.ImportPath] = l.Export
		switch {
		case !l.DepOnly:
			own = append(own, l)
			delete(p.deps, l.ImportPath)
		case l.Module != nil && l.Module.Main && l.ImportPath != mpiPath:
			p.deps[l.ImportPath] = l
		}
	}
	for _, l := range own {
		if err := p.add(l); err != nil {
			return err
		}
	}
	return nil
}

// add parses and checks a package.
func (p *Program) add(l *listed) error {
	switch {
	case l.Error != nil:
		return errors.New(strings.TrimSpace(l.Error.Err))
	case len(l.CgoFiles) > 0:
		return fmt.Errorf("package %s uses cgo: its source is not analysed", l.ImportPath)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if to := l.ImportMap[path]; to != "" {
			path = to
		}
		if p.exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s: it does not compile", path)
		}
		return os.Open(p.exports[path])
	}
	pkg := &unitPackage{path: l.ImportPath, imports: importer.ForCompiler(p.fset, "gc", lookup)}
	pkg.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}}
	var trees []*ast.File
	for _, base := range l.GoFiles {
		name := filepath.Join(l.Dir, base)
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(p.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
		pkg.names = append(pkg.names, name)
		p.files[name] = &file{name: name, src: src, ast: tree, pkg: pkg}
	}
	var err error
	c := types.Config{Importer: pkg.imports}
	if pkg.types, err = c.Check(l.ImportPath, p.fset, trees, pkg.info); err != nil {
		return err
	}
	p.collect(pkg, trees)
	return nil
}

// collect remembers the functions of a package.
func (p *Program) collect(pkg *unitPackage, trees []*ast.File) {
	for i, tree := range trees {
		for _, d := range tree.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				if obj, ok := pkg.info.Defs[d.Name].(*types.Func); ok {
					p.funcs[obj.FullName()] = &function{d, p.files[pkg.names[i]]}
				}
			}
		}
	}
}

// function returns the declaration of fn, nil if its source is not there. It reads packages of the
// program's module when they are first asked for: their functions are known by their full names,
// as each package sees the others through export data.
func (p *Program) function(fn *types.Func) *function {
	if fn == nil || fn.Pkg() == nil {
		return nil
	}
	path := fn.Pkg().Path()
	if l := p.deps[path]; l != nil {
		delete(p.deps, path)
		_ = p.add(l) // if it cannot be read, its functions stay unknown
	}
	return p.funcs[fn.FullName()]
}

// typeCheck checks the package of f with another text in its place.
func (p *Program) typeCheck(f *file, text []byte) error {
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, name := range f.pkg.names {
		src := p.files[name].src
		if name == f.name {
			src = text
		}
		tree, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	c := types.Config{Importer: f.pkg.imports}
	_, err := c.Check(f.pkg.path, fset, trees, nil)
	return err
}

// line returns the line of a position.
func (p *Program) line(at token.Pos) int { return p.fset.Position(at).Line }

// text returns the source of a node.
func (p *Program) text(f *file, n ast.Node) string {
	return string(f.src[p.offset(n.Pos()):p.offset(n.End())])
}

func (p *Program) offset(at token.Pos) int { return p.fset.Position(at).Offset }
