package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Evidence holds the facts about a chain that only a run can show.
type Evidence struct {
	Wild bool   // a receive named any rank or any tag
	Seen string // what the run has seen: becomes a comment of the change
	// Apart says that two calls of the chain, by their numbers in it, once shared memory where
	// either received: they stay apart. May be nil.
	Apart func(i, j int) (reason string)
}

// Change is a proven change of one file: several calls that follow one another.
type Change struct {
	File   string
	Line   int   // of the first call
	Last   int   // the last line that changes
	Calls  []int // which of the chain's calls
	Before string
	After  string
	edits  []edit
	f      *file
}

// edit replaces the bytes [from, to) of a file.
type edit struct {
	from, to int
	text     string
}

// Refusal says why calls of a chain stay as they are.
type Refusal struct {
	Calls  []int // the calls it is about
	File   string
	Line   int
	Reason string
}

// group is a run of units that can be started together.
type group struct {
	f     *file
	fn    ast.Node
	list  []ast.Stmt
	units []*unit
	calls []int
}

// Chain finds the possible changes in the calls of a chain; every change has at least two
// calls. Calls that stay unchanged are refusals, with reasons. A call that occurs more than
// once in the chain is in a loop, or in a function that is called again: each round is changed for
// itself, to the same lines.
func (p *Program) Chain(sites []Site, e Evidence) (changes []*Change, refusals []Refusal) {
	refuse := func(calls []int, reason string) {
		s := sites[calls[len(calls)-1]]
		refusals = append(refusals, Refusal{calls, s.File, s.Line, reason})
	}
	var groups []*group
	var g *group
	for i, s := range sites {
		f, l, u, why := p.understand(s)
		if why != "" {
			refuse([]int{i}, why)
			g = nil
			continue
		}
		if g != nil && slices.ContainsFunc(g.calls, func(j int) bool { return sites[j].same(s) }) {
			g = nil // the next round of a loop, or call of its function
		}
		if g != nil {
			if why = e.apart(g, i); why == "" {
				why = p.joins(g, f, l, u)
			}
			if why != "" {
				refuse([]int{i - 1, i}, why)
				g = nil
			}
		}
		if g == nil {
			g = &group{f: f, fn: l.fn, list: l.list}
			groups = append(groups, g)
		}
		g.units, g.calls = append(g.units, u), append(g.calls, i)
	}
	for _, g := range groups {
		if len(g.units) < 2 {
			if why := repeated(sites, g.calls[0]); why != "" {
				refuse(g.calls, why)
			}
			continue
		}
		c, why := p.change(g, e)
		if why != "" {
			refuse(g.calls, why)
			continue
		}
		changes = append(changes, c)
	}
	return changes, refusals
}

// apart says why call i does not go together with the calls of a group; "" if it does.
func (e *Evidence) apart(g *group, i int) string {
	if e.Apart != nil {
		for _, j := range g.calls {
			if why := e.Apart(j, i); why != "" {
				return why
			}
		}
	}
	return ""
}

func (p *Program) understand(s Site) (*file, *located, *unit, string) {
	f, l, why := p.locate(s)
	if why != "" {
		return nil, nil, nil, why
	}
	u, why := p.unitOf(f, l, s.API)
	return f, l, u, why
}

// repeated says where a call that comes several times in a chain is repeated; "" if it comes once.
func repeated(sites []Site, i int) string {
	for j, s := range sites {
		if j == i || !s.same(sites[i]) {
			continue
		}
		if s.Caller != sites[i].Caller {
			return fmt.Sprintf("its function is called at %s and at %s, and waits in each call: start the messages of both in the caller, in a mpi.Batch, and wait once", base(sites[min(i, j)].Caller), base(sites[max(i, j)].Caller))
		}
		return "the call is repeated in a loop: start the messages of all rounds in a mpi.Batch, and wait once behind the loop"
	}
	return ""
}

// base returns a place without its folder.
func base(place string) string { return place[strings.LastIndexByte(place, '/')+1:] }

// joins says why a call cannot be started together with a group of calls before it.
func (p *Program) joins(g *group, f *file, l *located, u *unit) string {
	prev := g.units[len(g.units)-1]
	switch {
	case f != g.f || l.fn != g.fn:
		return "the calls stand in different functions: the source does not show that nothing between them touches the buffers"
	case len(l.list) == 0 || &l.list[0] != &g.list[0]:
		return "the calls stand in different blocks"
	case u.first <= prev.last:
		return "the calls come in another order in the source than in the chain"
	}
	for _, s := range g.list[prev.last+1 : u.first] {
		if why := p.between(g, s); why != "" {
			return why
		}
	}
	names := g.results()
	for _, x := range u.call.Args {
		if id := p.mentions(f, x, names); id != nil {
			return fmt.Sprintf("line %d uses %s, a result of a call before it", p.line(x.Pos()), id.Name)
		}
	}
	fl := p.flight(g)
	for _, v := range append(g.units, u) {
		if v.recv >= 0 {
			fl.receiving(f, v.call.Args[v.recv], deepest)
		}
	}
	for _, x := range u.call.Args {
		if why := fl.touches(f, x, deepest); why != "" {
			return why
		}
	}
	return p.sameBuffer(g, u)
}

// flight returns the messages in flight after all calls of a group have been started.
func (p *Program) flight(g *group) *flight {
	fl := &flight{p: p, kinds: map[types.BasicKind]bool{}, taken: addressed(g.f, g.fn), private: p.privateSlices(g.f, g.fn)}
	for v := range g.roots() {
		delete(fl.private, v) // they are under way
	}
	for _, u := range g.units {
		if u.recv >= 0 {
			fl.receiving(g.f, u.call.Args[u.recv], deepest)
		}
	}
	return fl
}

// results returns the variables that hold statuses and errors of the group.
func (g *group) results() map[types.Object]bool {
	names := map[types.Object]bool{}
	for _, u := range g.units {
		for _, x := range u.lhs {
			if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
				names[g.f.object(id)] = true
			}
		}
	}
	return names
}

// mentions returns the first name in n that stands for one of the objects; nil if there
// is none.
func (p *Program) mentions(f *file, n ast.Node, objects map[types.Object]bool) (found *ast.Ident) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && found == nil && f.object(id) != nil && objects[f.object(id)] {
			found = id
		}
		return found == nil
	})
	return found
}

// between says why a statement cannot stay between the starts of two calls.
func (p *Program) between(g *group, s ast.Stmt) string {
	line := p.line(s.Pos())
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		why := p.flight(g).loop(g.f, s)
		if why == "" {
			why = p.usesResults(g, s)
		}
		if why != "" {
			return fmt.Sprintf("a loop lies between, on line %d: %s", line, why)
		}
		return ""
	case *ast.ReturnStmt:
		return fmt.Sprintf("a return lies between, on line %d", line)
	case *ast.DeferStmt:
		return fmt.Sprintf("a defer lies between, on line %d", line)
	case *ast.AssignStmt, *ast.DeclStmt, *ast.EmptyStmt:
	default:
		returns := false
		ast.Inspect(s, func(n ast.Node) bool {
			_, r := n.(*ast.ReturnStmt)
			returns = returns || r
			return true
		})
		if returns {
			return fmt.Sprintf("a return lies between, on line %d", line)
		}
		if id := p.mentions(g.f, s, g.roots()); id != nil {
			return fmt.Sprintf("line %d touches %s, which the calls send or receive", line, id.Name)
		}
		return fmt.Sprintf("line %d stands between, and cannot be proven to leave the buffers alone", line)
	}
	if why := p.usesResults(g, s); why != "" {
		return why
	}
	fl := p.flight(g)
	if a, ok := s.(*ast.AssignStmt); ok {
		for _, x := range a.Lhs {
			if !fl.ownVariable(g.f, x) {
				return fmt.Sprintf("line %d writes to %s between the calls", line, p.text(g.f, x))
			}
			if id := root(x); id != nil && g.roots()[g.f.object(id)] && !plain(g.f, x) {
				return fmt.Sprintf("line %d gives %s another value: the next call may send what the one before receives", line, id.Name)
			}
		}
		for _, x := range a.Rhs {
			if why := fl.touches(g.f, x, deepest); why != "" {
				return why
			}
		}
		return ""
	}
	return fl.touches(g.f, s, deepest)
}

// usesResults says how a statement between two calls depends on a result of a call before it, or
// changes what its check means; "" if it does neither.
func (p *Program) usesResults(g *group, s ast.Stmt) string {
	if id := p.mentions(g.f, s, g.results()); id != nil {
		return fmt.Sprintf("line %d uses %s, a result of a call before it", p.line(s.Pos()), id.Name)
	}
	if id := p.changesCheck(g, s); id != "" {
		return fmt.Sprintf("line %d changes the meaning of %s, which an error check before it uses", p.line(s.Pos()), id)
	}
	return ""
}

// plain reports whether x is a number, a string or a truth value.
func plain(f *file, x ast.Expr) bool {
	t := f.pkg.info.TypeOf(x)
	if t == nil {
		return false
	}
	_, basic := t.Underlying().(*types.Basic)
	return basic
}

// changesCheck returns a name that s declares or sets, and that the error check of a call
// before it uses: the check moves behind s.
func (p *Program) changesCheck(g *group, s ast.Stmt) (name string) {
	set := map[string]bool{}
	ast.Inspect(s, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					set[id.Name] = id.Name != "_"
				}
			}
		case *ast.ValueSpec:
			for _, id := range x.Names {
				set[id.Name] = id.Name != "_"
			}
		case *ast.TypeSpec:
			set[x.Name.Name] = true
		}
		return true
	})
	for _, u := range g.units {
		if u.check == nil {
			continue
		}
		ast.Inspect(u.check.Body, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && set[id.Name] {
				name = id.Name
			}
			return true
		})
	}
	return name
}

// roots returns the variables that the buffers of the group begin with.
func (g *group) roots() map[types.Object]bool {
	all := map[types.Object]bool{}
	for _, u := range g.units {
		for _, b := range u.buffers() {
			ast.Inspect(b, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if v, ok := g.f.object(id).(*types.Var); ok && !v.IsField() {
						all[v] = true
					}
				}
				return true
			})
		}
	}
	return all
}

// sameBuffer refuses a buffer that is, word for word, one of the group, where either is
// received into: whatever the run has seen.
func (p *Program) sameBuffer(g *group, u *unit) string {
	for _, v := range g.units {
		for i, x := range v.buffers() {
			for j, y := range u.buffers() {
				received := v.recv >= 0 && i == len(v.buffers())-1 || u.recv >= 0 && j == len(u.buffers())-1
				if received && p.text(g.f, x) == p.text(g.f, y) {
					return fmt.Sprintf("line %d uses the buffer %s of line %d again", p.line(y.Pos()), p.text(g.f, y), p.line(x.Pos()))
				}
			}
		}
	}
	return ""
}

// change checks what concerns a group as a whole, and makes the change.
func (p *Program) change(g *group, e Evidence) (*Change, string) {
	if e.Wild {
		return nil, "a receive takes messages from any rank or with any tag: started earlier, it may take another one"
	}
	for _, u := range g.units {
		if u.wild(g.f) {
			return nil, "a receive takes messages from any rank or with any tag: started earlier, it may take another one"
		}
	}
	if at := deferred(g.fn); at != token.NoPos {
		return nil, fmt.Sprintf("the function has a defer, on line %d: after a panic it would run while messages are under way", p.line(at))
	}
	fl := p.flight(g)
	for _, x := range g.units[0].call.Args {
		if why := fl.touches(g.f, x, deepest); why != "" {
			return nil, why
		}
	}
	name, ok := g.importName()
	if !ok {
		return nil, "the file does not import " + mpiPath
	}
	c := p.emit(g, name, e.Seen)
	if err := p.verify(c); err != nil {
		return nil, "the change does not compile: " + err.Error()
	}
	return c, ""
}

// deferred returns where a function has a defer.
func deferred(fn ast.Node) (at token.Pos) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit != fn {
			return false
		}
		if d, ok := n.(*ast.DeferStmt); ok && at == token.NoPos {
			at = d.Pos()
		}
		return true
	})
	return at
}

// importName returns the name of package mpi at the calls.
func (g *group) importName() (string, bool) {
	scope := g.f.pkg.types.Scope().Innermost(g.units[0].call.Pos())
	for _, spec := range g.f.ast.Imports {
		if spec.Path.Value != `"`+mpiPath+`"` {
			continue
		}
		name := "mpi"
		if spec.Name != nil {
			name = spec.Name.Name
		}
		_, obj := scope.LookupParent(name, g.units[0].call.Pos())
		pkg, ok := obj.(*types.PkgName)
		return name, ok && pkg.Imported().Path() == mpiPath
	}
	return "", false
}
