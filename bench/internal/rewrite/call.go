package rewrite

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// Site is a call of a chain: where it stands, and the method of mpi.Comm.
type Site struct {
	File   string
	Line   int
	API    string
	Caller string // "file:line" of the call of its function; may be empty
}

// same reports whether two sites are one call in the source.
func (s Site) same(o Site) bool { return s.File == o.File && s.Line == o.Line && s.API == o.API }

// located is a site in the syntax tree.
type located struct {
	call *ast.CallExpr
	path []ast.Node // from the file to the call
	list []ast.Stmt // that holds the statement of the call
	at   int        // its place there
	fn   ast.Node   // *ast.FuncDecl or *ast.FuncLit
}

// locate finds the call of a site; an error text if it cannot.
func (p *Program) locate(s Site) (*file, *located, string) {
	f := p.files[s.File]
	if f == nil {
		return nil, nil, "the source of " + s.File + " is not there"
	}
	var found []*located
	var path []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		if c, ok := n.(*ast.CallExpr); ok && p.methodName(f, c) == s.API && p.line(c.Fun.End()) <= s.Line && s.Line <= p.line(c.End()) {
			found = append(found, newLocated(c, path))
		}
		return true
	})
	switch len(found) {
	case 0:
		return f, nil, "there is no call of " + s.API + " on the line"
	case 1:
		return f, found[0], ""
	}
	return f, nil, "several calls of " + s.API + " stand on the line"
}

// methodName returns the name of the method of mpi.Comm that a call calls; "" if it calls
// something else.
func (p *Program) methodName(f *file, c *ast.CallExpr) string {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	fn, ok := f.pkg.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != mpiPath || receiverName(fn) != "Comm" {
		return ""
	}
	return fn.Name()
}

// receiverName returns the name of the type that fn is a method of; "" of a function.
func receiverName(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

func newLocated(c *ast.CallExpr, path []ast.Node) *located {
	l := &located{call: c, path: append([]ast.Node(nil), path...)}
	for i := len(path) - 1; i >= 0; i-- {
		switch n := path[i].(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			l.fn = n
			return l
		case ast.Stmt:
			if l.list == nil {
				l.list, l.at = listOf(path[i-1], n)
			}
		}
	}
	return l
}

// listOf returns the statements of parent, if it holds a list, and where s is in it.
func listOf(parent ast.Node, s ast.Stmt) ([]ast.Stmt, int) {
	list := statements(parent)
	if i := slices.Index(list, s); i >= 0 {
		return list, i
	}
	return nil, 0
}

// statements returns the list of n; nil if it holds none.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// unit is a call with what belongs to it: the statement, and the check of its error.
type unit struct {
	call       *ast.CallExpr
	api        string
	first      int // place in the list
	last       int // of the check, or first
	lhs        []ast.Expr
	tok        token.Token
	errName    *ast.Ident  // variable of the error, nil if it is dropped
	status     ast.Expr    // variable of the status, nil if dropped
	check      *ast.IfStmt // nil if there is none
	inIf       bool        // if x, err := call; err != nil
	send, recv int         // first argument of each, -1 if none
}

// shapes of the calls that can be changed: where the arguments of the send and of the
// receive begin.
var shapes = map[string][2]int{"Send": {0, -1}, "Ssend": {0, -1}, "Recv": {-1, 0}, "Sendrecv": {0, 3}}

// unitOf understands the statement of a call; a text says why it cannot.
func (p *Program) unitOf(f *file, l *located, api string) (*unit, string) {
	shape, ok := shapes[api]
	switch {
	case !ok && api == "SendrecvReplace":
		return nil, "SendrecvReplace sends and receives one buffer: give it two, and use Sendrecv"
	case !ok:
		return nil, api + " is not a call that can be split into a start and a wait"
	case l.list == nil:
		return nil, "the call is part of a larger statement"
	}
	u := &unit{call: l.call, api: api, first: l.at, last: l.at, send: shape[0], recv: shape[1]}
	why := ""
	switch s := l.list[l.at].(type) {
	case *ast.ExprStmt:
		if s.X != l.call {
			why = "the call is part of a larger expression"
		}
	case *ast.AssignStmt:
		why = u.assigned(s)
		if why == "" && u.errName != nil && l.at+1 < len(l.list) {
			if c, ok := l.list[l.at+1].(*ast.IfStmt); ok && c.Init == nil && u.checks(f, c) {
				u.check, u.last = c, l.at+1
			}
		}
	case *ast.IfStmt:
		a, ok := s.Init.(*ast.AssignStmt)
		if !ok {
			return nil, "the call is part of a larger statement"
		}
		if why = u.assigned(a); why == "" && !u.checks(f, s) {
			why = "the if statement of the call is not a check of its error"
		}
		u.check, u.inIf = s, true
		if u.status != nil {
			why = "the status is kept inside the if statement of the call"
		}
	default:
		why = "the call is part of a larger statement"
	}
	if why == "" && u.check != nil {
		why = p.badCheck(u.check)
	}
	return u, why
}

// assigned takes the left side of an assignment of the call.
func (u *unit) assigned(a *ast.AssignStmt) string {
	if len(a.Rhs) != 1 || a.Rhs[0] != u.call || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return "the call is part of a larger expression"
	}
	u.lhs, u.tok = a.Lhs, a.Tok
	for i, x := range a.Lhs {
		id, ok := x.(*ast.Ident)
		if !ok {
			return "a result of the call goes into something that is no variable"
		}
		switch {
		case id.Name == "_":
		case i == len(a.Lhs)-1:
			u.errName = id
		default:
			u.status = id
		}
	}
	return ""
}

// checks reports whether s is "if err != nil" of the unit's error.
func (u *unit) checks(f *file, s *ast.IfStmt) bool {
	c, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || c.Op != token.NEQ || u.errName == nil {
		return false
	}
	x, isName := c.X.(*ast.Ident)
	y, isNil := c.Y.(*ast.Ident)
	return isName && isNil && y.Name == "nil" && f.object(x) != nil && f.object(x) == f.object(u.errName)
}

// object returns the object of a name.
func (f *file) object(id *ast.Ident) types.Object { return f.pkg.info.ObjectOf(id) }

// badCheck says why an error check cannot be moved behind the wait.
func (p *Program) badCheck(s *ast.IfStmt) string {
	if s.Else != nil {
		return "the error check has an else"
	}
	if n := len(s.Body.List); n > 0 && leaves(s.Body.List[n-1]) {
		return ""
	}
	return "the program goes on after the error check: later calls may depend on what it does"
}

// leaves reports whether a statement leaves its list.
func leaves(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return s.Tok != token.FALLTHROUGH
	case *ast.ExprStmt:
		c, ok := s.X.(*ast.CallExpr)
		if ok {
			id, ok := c.Fun.(*ast.Ident)
			return ok && id.Name == "panic"
		}
	}
	return false
}

// wild reports whether the receive of a unit names any rank or any tag.
func (u *unit) wild(f *file) bool {
	if u.recv < 0 {
		return false
	}
	for _, x := range u.call.Args[u.recv+1 : u.recv+3] {
		if v := f.pkg.info.Types[x].Value; v != nil {
			if n, exact := constant.Int64Val(v); exact && n == -1 {
				return true
			}
		}
	}
	return false
}

// buffers returns the arguments that are buffers, the receive's last.
func (u *unit) buffers() (all []ast.Expr) {
	if u.send >= 0 {
		all = append(all, u.call.Args[u.send])
	}
	if u.recv >= 0 {
		all = append(all, u.call.Args[u.recv])
	}
	return all
}
