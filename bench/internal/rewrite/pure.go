package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// harmless are the functions of package mpi that touch no message.
var harmless = []string{"Of", "One", "Strided", "Tile", "Raw", "Rank", "Size", "World", "ID", "Handle", "Coords", "At", "Shift", "Dims", "Len", "Bytes", "Part"}

const deepest = 4 // calls of functions of the program that are followed

// flight describes the messages in flight: the kinds of the elements being received.
type flight struct {
	p     *Program
	kinds map[types.BasicKind]bool
	any   bool            // of unknown kind
	args  *types.TypeList // type arguments of the function whose results are looked at
	taken map[types.Object]bool
	// private are slices that the function has made, and whose elements nothing else knows.
	private map[types.Object]bool
}

// receiving adds the elements of a receive buffer.
func (fl *flight) receiving(f *file, x ast.Expr, depth int) {
	c, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		fl.any = true
		return
	}
	fn := callee(f, c)
	switch {
	case fn == nil:
		fl.any = true
	case fn.Pkg() != nil && fn.Pkg().Path() == mpiPath && len(c.Args) > 0 && slices.Contains([]string{"Of", "One", "Strided", "Tile"}, fn.Name()):
		fl.elements(f.pkg.info.TypeOf(c.Args[0]))
	default:
		body := fl.p.function(fn)
		if body == nil || body.decl.Body == nil || depth == 0 {
			fl.any = true
			return
		}
		fl.returned(body, typeArguments(f, c), depth-1)
	}
}

// typeArguments returns those with which a generic function is called; nil for others.
func typeArguments(f *file, c *ast.CallExpr) *types.TypeList {
	if id := calleeName(c); id != nil {
		return f.pkg.info.Instances[id].TypeArgs
	}
	return nil
}

// returned adds the elements of the buffers that a function of the program returns; args are its
// type arguments.
func (fl *flight) returned(fn *function, args *types.TypeList, depth int) {
	defer func(outer *types.TypeList) { fl.args = outer }(fl.args)
	fl.args = args
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			if len(r.Results) != 1 {
				fl.any = true
			} else {
				fl.receiving(fn.file, r.Results[0], depth)
			}
		}
		return true
	})
}

// elements adds the kinds in t, the type of a slice or of a pointer to a variable.
func (fl *flight) elements(t types.Type) {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		fl.kindsIn(t.Elem())
	case *types.Pointer:
		fl.kindsIn(t.Elem())
	default:
		fl.any = true
	}
}

func (fl *flight) kindsIn(t types.Type) {
	if p, ok := t.(*types.TypeParam); ok && p.Index() < fl.args.Len() {
		t = fl.args.At(p.Index())
	}
	if _, unknown := t.(*types.TypeParam); unknown {
		fl.any = true
		return
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		fl.kinds[t.Kind()] = true
	case *types.Array:
		fl.kindsIn(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			fl.kindsIn(t.Field(i).Type())
		}
	default:
		fl.any = true
	}
}

// arriving reports whether memory of type t may be under way.
func (fl *flight) arriving(t types.Type) bool {
	if _, parameter := t.(*types.TypeParam); parameter {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return fl.any || fl.kinds[t.Kind()]
	case *types.Array:
		return fl.arriving(t.Elem())
	case *types.Struct:
		for i := range t.NumFields() {
			if fl.arriving(t.Field(i).Type()) {
				return true
			}
		}
	}
	return false // pointers, slices, functions: no elements of messages
}

// calleeName returns the name that a call calls; nil if it calls something else.
func calleeName(c *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(c.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// callee returns the function that a call calls; nil if that is not known.
func callee(f *file, c *ast.CallExpr) *types.Func {
	id := calleeName(c)
	if id == nil {
		return nil
	}
	fn, _ := f.pkg.info.Uses[id].(*types.Func)
	if fn != nil {
		fn = fn.Origin()
	}
	return fn
}

// touches says how evaluating n might touch a message under way; "" if it cannot.
func (fl *flight) touches(f *file, n ast.Node, depth int) (why string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if why != "" || n == nil {
			return false
		}
		switch x := n.(type) {
		case *ast.CallExpr:
			why = fl.callTouches(f, x, depth)
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
			why = fmt.Sprintf("line %d may touch the buffers", fl.p.line(n.Pos()))
		case *ast.UnaryExpr:
			if x.Op == token.ARROW {
				why = fmt.Sprintf("line %d receives from a channel", fl.p.line(n.Pos()))
			}
			if x.Op == token.AND { // an address is no read of what is there
				why = fl.placeTouches(f, x.X, depth)
				return false
			}
		case *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr, *ast.Ident:
			if fl.loads(f, n.(ast.Expr)) {
				why = fmt.Sprintf("line %d reads %s, which may be under way", fl.p.line(n.Pos()), fl.p.text(f, n))
			}
		}
		return why == ""
	})
	return why
}

// placeTouches is touches of the address of x.
func (fl *flight) placeTouches(f *file, x ast.Expr, depth int) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return ""
	case *ast.SelectorExpr:
		if t := f.pkg.info.TypeOf(x.X); t != nil {
			if _, pointer := t.Underlying().(*types.Pointer); !pointer {
				return fl.placeTouches(f, x.X, depth)
			}
		}
		return fl.touches(f, x.X, depth)
	case *ast.IndexExpr:
		if why := fl.touches(f, x.Index, depth); why != "" {
			return why
		}
		if isArray(f, x.X) {
			return fl.placeTouches(f, x.X, depth)
		}
		return fl.touches(f, x.X, depth)
	}
	return fl.touches(f, x, depth)
}

// loads reports whether x reads memory that may be a message under way.
func (fl *flight) loads(f *file, x ast.Expr) bool {
	if at, isIndex := x.(*ast.IndexExpr); isIndex && fl.isPrivate(f, at.X) {
		return false
	}
	tv, ok := f.pkg.info.Types[x]
	if id, isName := x.(*ast.Ident); isName {
		obj, isVar := f.object(id).(*types.Var)
		if !isVar || obj.IsField() {
			return false
		}
		local := obj.Pkg() != nil && obj.Parent() != obj.Pkg().Scope() && !fl.taken[obj]
		return !local && fl.arriving(obj.Type())
	}
	return ok && tv.IsValue() && tv.Value == nil && fl.arriving(tv.Type)
}

// callTouches is touches of a call.
func (fl *flight) callTouches(f *file, c *ast.CallExpr, depth int) string {
	info := f.pkg.info
	if tv := info.Types[c.Fun]; tv.IsType() {
		return "" // a conversion
	}
	if id, ok := ast.Unparen(c.Fun).(*ast.Ident); ok {
		if b, ok := info.Uses[id].(*types.Builtin); ok && slices.Contains([]string{"len", "cap", "min", "max"}, b.Name()) {
			return ""
		}
	}
	fn := callee(f, c)
	if fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == mpiPath && slices.Contains(harmless, fn.Name()) {
		return ""
	}
	where := fmt.Sprintf("line %d calls %s", fl.p.line(c.Pos()), fl.p.text(f, c.Fun))
	body := fl.p.function(fn)
	switch {
	case fn == nil || body == nil || body.decl.Body == nil:
		return where + ", which may touch the buffers"
	case depth == 0:
		return where + ", which calls too deep"
	}
	if why := fl.bodyTouches(body, depth-1); why != "" {
		return where + ": " + why
	}
	return ""
}

// bodyTouches is touches of the body of a function, which may assign to variables of its
// own.
func (fl *flight) bodyTouches(fn *function, depth int) string {
	why := ""
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			for _, x := range s.Lhs {
				if !fl.ownVariable(fn.file, x) {
					why = fmt.Sprintf("line %d writes to %s", fl.p.line(s.Pos()), fl.p.text(fn.file, x))
				}
			}
		case *ast.IncDecStmt:
			if !fl.ownVariable(fn.file, s.X) {
				why = fmt.Sprintf("line %d writes to %s", fl.p.line(s.Pos()), fl.p.text(fn.file, s.X))
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{s.Key, s.Value} {
				if x != nil && !fl.ownVariable(fn.file, x) {
					why = fmt.Sprintf("line %d writes to %s", fl.p.line(s.Pos()), fl.p.text(fn.file, x))
				}
			}
		}
		return why == ""
	})
	if why != "" {
		return why
	}
	return fl.touches(fn.file, fn.decl.Body, depth)
}

// ownVariable reports whether x is a local variable, and no buffer.
func (fl *flight) ownVariable(f *file, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "_" {
		return true
	}
	obj, ok := f.object(id).(*types.Var)
	return ok && !obj.IsField() && obj.Pkg() != nil && obj.Parent() != obj.Pkg().Scope() && !fl.taken[obj]
}

// addressed returns the variables of a function whose address is taken or that a function
// literal in it uses: other code may change them.
func addressed(f *file, fn ast.Node) map[types.Object]bool {
	taken := map[types.Object]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.UnaryExpr:
			if id := root(x.X); x.Op == token.AND && id != nil {
				taken[f.object(id)] = true
			}
		case *ast.SliceExpr:
			if id := root(x.X); id != nil && isArray(f, x.X) {
				taken[f.object(id)] = true
			}
		case *ast.FuncLit:
			if x != fn {
				ast.Inspect(x, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && f.object(id) != nil {
						taken[f.object(id)] = true
					}
					return true
				})
			}
		}
		return true
	})
	return taken
}

func isArray(f *file, x ast.Expr) bool {
	t := f.pkg.info.TypeOf(x)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// root returns the variable at the beginning of x: a of a.b[c]; nil if there is none.
func root(x ast.Expr) *ast.Ident {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return root(x.X)
	case *ast.IndexExpr:
		return root(x.X)
	case *ast.SliceExpr:
		return root(x.X)
	case *ast.StarExpr:
		return root(x.X)
	case *ast.UnaryExpr:
		return root(x.X)
	}
	return nil
}
