package rewrite

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Touch is a statement that uses a buffer between the start of a request and its wait.
type Touch struct {
	File    string
	Request int    // line of the call that starts the request
	API     string // Isend, Issend or Irecv
	Line    int    // of the touch
	Name    string // of the buffer
	Writes  bool   // certainly
}

// EarlyTouches finds races that the source alone shows, in all packages of the program: a
// request of a whole variable (mpi.Of(x), mpi.One(&x)), and a later statement of the
// same list that uses the variable before the wait for the request. It ignores parts of
// slices: different parts may be used at the same time.
func (p *Program) EarlyTouches() (all []Touch) {
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			list := statements(n)
			for i, s := range list {
				all = append(all, p.touchesAfter(f, s, list[i+1:])...)
			}
			return true
		})
	}
	slices.SortFunc(all, func(a, b Touch) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	return all
}

// touchesAfter checks the statements after s, which starts a request.
func (p *Program) touchesAfter(f *file, s ast.Stmt, rest []ast.Stmt) (all []Touch) {
	a, ok := s.(*ast.AssignStmt)
	if !ok {
		return nil
	}
	for i, x := range a.Rhs {
		call := p.startIn(f, x)
		if call == nil || i >= len(a.Lhs) {
			continue
		}
		buffer, request := p.wholeVariable(f, call.Args[0]), root(a.Lhs[i])
		if buffer == nil || request == nil {
			continue
		}
		t := Touch{File: f.name, Request: p.line(call.Pos()), API: p.methodName(f, call), Name: buffer.Name()}
		for _, later := range rest {
			if p.waitsFor(f, later, f.object(request)) || assigns(f, later, buffer) {
				break
			}
			if n, writes := p.uses(f, later, buffer); n != nil && (writes || t.API == "Irecv") {
				t.Line, t.Writes = p.line(n.Pos()), writes
				all = append(all, t)
			}
		}
	}
	return all
}

// startIn returns the call that starts a request in x: x itself, or an argument of append.
func (p *Program) startIn(f *file, x ast.Expr) *ast.CallExpr {
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if name := p.methodName(f, c); name == "Irecv" || name == "Isend" || name == "Issend" {
		return c
	}
	if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "append" && len(c.Args) == 2 {
		return p.startIn(f, c.Args[1])
	}
	return nil
}

// wholeVariable returns the variable that a buffer is all of; nil if it is anything else.
func (p *Program) wholeVariable(f *file, x ast.Expr) *types.Var {
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return nil
	}
	fn := callee(f, c)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != mpiPath {
		return nil
	}
	arg := ast.Unparen(c.Args[0])
	if u, ok := arg.(*ast.UnaryExpr); ok && fn.Name() == "One" && u.Op == token.AND {
		arg = u.X
	} else if fn.Name() != "Of" {
		return nil
	}
	id, ok := arg.(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := f.object(id).(*types.Var)
	return v
}

// waitsFor reports whether a statement uses a request: it may wait for it. To put another
// one beside it is no use.
func (p *Program) waitsFor(f *file, s ast.Stmt, request types.Object) (yes bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Rhs {
				yes = yes || p.waitsFor(f, &ast.ExprStmt{X: x}, request)
			}
			return false
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "append" {
				return false
			}
		case *ast.Ident:
			yes = yes || f.object(n) == request
		}
		return true
	})
	return yes
}

// assigns reports whether a statement gives v another value as a whole: it is no longer
// the buffer then, if it is a slice.
func assigns(f *file, s ast.Stmt, v *types.Var) bool {
	a, ok := s.(*ast.AssignStmt)
	if _, slice := v.Type().Underlying().(*types.Slice); !ok || !slice {
		return false
	}
	return slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool {
		id, ok := x.(*ast.Ident)
		return ok && f.object(id) == v
	})
}

// uses returns where a statement reads or writes the elements of v. Buffers of other
// operations are not judged: the run compares those cell by cell.
func (p *Program) uses(f *file, s ast.Stmt, v *types.Var) (found ast.Node, writes bool) {
	targets := map[*ast.Ident]bool{}
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt:
			return false // it may run later
		case *ast.CallExpr:
			if quiet(f, n) {
				return false
			}
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "copy" || id.Name == "clear") && len(n.Args) > 0 {
				targets[root(n.Args[0])] = true
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				targets[root(x)] = true
			}
		case *ast.IncDecStmt:
			targets[root(n.X)] = true
		case *ast.Ident:
			if f.object(n) == v && (found == nil || targets[n]) {
				found, writes = n, writes || targets[n]
			}
		}
		return true
	})
	return found, writes
}

// quiet reports whether a call looks at no element: len, cap, and what makes buffers.
func quiet(f *file, c *ast.CallExpr) bool {
	if id, ok := c.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") {
		return true
	}
	fn := callee(f, c)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == mpiPath && slices.Contains(harmless, fn.Name())
}
