package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// A loop may stand between the starts of two calls if it touches nothing that is under way: it
// prepares what the next call sends. Types alone seldom show this, as the loop writes numbers
// while numbers arrive. But a slice that the function has made itself, and that it only indexes,
// measures, ranges over and hands to package mpi, shares no memory with anything else.

// privateSlices returns the slices of a function that nothing else knows.
func (p *Program) privateSlices(f *file, fn ast.Node) map[types.Object]bool {
	made := map[types.Object]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.DEFINE && len(a.Lhs) == len(a.Rhs) {
			for i, x := range a.Rhs {
				if id, ok := a.Lhs[i].(*ast.Ident); ok && isMake(f, x) {
					made[f.object(id)] = true
				}
			}
		}
		return true
	})
	if len(made) > 0 {
		dropKnown(f, fn, made)
	}
	return made
}

// isMake reports whether x is make of a slice.
func isMake(f *file, x ast.Expr) bool {
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := f.pkg.info.Uses[id].(*types.Builtin)
	if !ok || b.Name() != "make" {
		return false
	}
	_, ok = f.pkg.info.TypeOf(c).Underlying().(*types.Slice)
	return ok
}

// dropKnown removes the slices that are used otherwise than by their elements or as a buffer.
func dropKnown(f *file, fn ast.Node, made map[types.Object]bool) {
	allowed := map[*ast.Ident]bool{}
	allow := func(x ast.Expr) {
		if id, ok := ast.Unparen(x).(*ast.Ident); ok {
			allowed[id] = true
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.IndexExpr:
			allow(x.X)
		case *ast.RangeStmt:
			allow(x.X)
		case *ast.AssignStmt:
			for i, l := range x.Lhs {
				if x.Tok == token.DEFINE && len(x.Lhs) == len(x.Rhs) && isMake(f, x.Rhs[i]) {
					allow(l)
				}
			}
		case *ast.UnaryExpr: // the address of an element
			if x.Op == token.AND {
				if id := root(x.X); id != nil {
					delete(made, f.object(id))
				}
			}
		case *ast.CallExpr:
			allowArguments(f, x, allow)
		}
		return true
	})
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !allowed[id] {
			delete(made, f.object(id))
		}
		return true
	})
}

// allowArguments allows the slices that len and cap get, and those that a function of package mpi
// gets as buffers, whole or in part. A buffer that is kept in a variable is another name for them.
func allowArguments(f *file, c *ast.CallExpr, allow func(ast.Expr)) {
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok {
		if b, ok := f.pkg.info.Uses[id].(*types.Builtin); ok && (b.Name() == "len" || b.Name() == "cap") {
			allow(c.Args[0])
		}
		return
	}
	if mpiFunction(f, c) == "" {
		return
	}
	for _, x := range c.Args {
		b, ok := ast.Unparen(x).(*ast.CallExpr)
		if !ok || !slices.Contains([]string{"Of", "Strided", "Tile"}, mpiFunction(f, b)) {
			continue
		}
		of := ast.Unparen(b.Args[0])
		if s, ok := of.(*ast.SliceExpr); ok {
			of = s.X
		}
		allow(of)
	}
}

// mpiFunction returns the name of the function or method of package mpi that is called; "" if it
// is another one.
func mpiFunction(f *file, c *ast.CallExpr) string {
	if fn := callee(f, c); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == mpiPath {
		return fn.Name()
	}
	return ""
}

// isPrivate reports whether x is a slice that nothing else knows.
func (fl *flight) isPrivate(f *file, x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && fl.private[f.object(id)]
}

// loop says how a loop might touch a message under way, or leave; "" if it cannot.
func (fl *flight) loop(f *file, s ast.Stmt) (why string) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt, *ast.LabeledStmt, *ast.DeferStmt, *ast.GoStmt:
			why = fmt.Sprintf("line %d may leave it", fl.p.line(n.Pos()))
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				why = fl.writes(f, l, why)
			}
		case *ast.IncDecStmt:
			why = fl.writes(f, x.X, why)
		case *ast.RangeStmt:
			for _, l := range []ast.Expr{x.Key, x.Value} {
				if l != nil {
					why = fl.writes(f, l, why)
				}
			}
			if x.Value != nil && !fl.isPrivate(f, x.X) { // it reads the elements
				if t, ok := f.pkg.info.TypeOf(x.X).Underlying().(*types.Slice); !ok || fl.arriving(t.Elem()) {
					why = fmt.Sprintf("line %d reads %s, which may be under way", fl.p.line(x.Pos()), fl.p.text(f, x.X))
				}
			}
		}
		return why == ""
	})
	if why == "" {
		why = fl.touches(f, s, deepest)
	}
	return why
}

// writes says why x must not be written to between two calls.
func (fl *flight) writes(f *file, x ast.Expr, before string) string {
	if before != "" {
		return before
	}
	if at, ok := x.(*ast.IndexExpr); ok && fl.isPrivate(f, at.X) || fl.ownVariable(f, x) && plain(f, x) {
		return ""
	}
	return fmt.Sprintf("line %d writes to %s", fl.p.line(x.Pos()), fl.p.text(f, x))
}
