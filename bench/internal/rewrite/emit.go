package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// emit makes the change of a group whose proof is complete. mpi is the name of the package;
// note, if not empty, becomes a comment.
func (p *Program) emit(g *group, mpi, note string) *Change {
	first, last := g.units[0], g.units[len(g.units)-1]
	w := &writer{p: p, g: g, mpi: mpi}
	line := p.line(g.list[first.first].Pos())
	w.batch = w.fresh("batch", line)
	var edits []edit
	for _, u := range g.units {
		s := g.list[u.first]
		from, to := p.offset(s.Pos()), p.offset(s.End())
		edits = append(edits, edit{from, to, w.start(u)})
		if u.check != nil && !u.inIf {
			edits = append(edits, p.removal(g.f, to, u.check))
		}
	}
	if note != "" {
		note = "// " + note + "\n"
	}
	edits[0].text = fmt.Sprintf("%svar %s %s.Batch\n%s", note, w.batch, mpi, edits[0].text)
	end := &edits[len(edits)-1]
	end.text += "\n" + w.ending()
	c := &Change{File: g.f.name, Line: line, Calls: g.calls, edits: edits, f: g.f}
	c.Last = p.line(g.list[last.last].End())
	c.Before, c.After = c.excerpt()
	return c
}

// removal takes the check of an error away, with the line it stands on.
func (p *Program) removal(f *file, from int, check *ast.IfStmt) edit {
	at := p.offset(check.Pos())
	if len(bytes.TrimSpace(f.src[from:at])) > 0 {
		from = at // a comment lies between
	}
	return edit{from, p.offset(check.End()), ""}
}

// writer writes the new statements of a group.
type writer struct {
	p     *Program
	g     *group
	mpi   string
	batch string // the variable
}

// fresh returns a name that means nothing in the function.
func (w *writer) fresh(stem string, line int) string {
	used := map[string]bool{}
	ast.Inspect(w.g.fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	})
	scope := w.g.f.pkg.types.Scope().Innermost(w.g.units[0].call.Pos())
	name := fmt.Sprintf("%s%d", stem, line)
	for {
		_, obj := scope.LookupParent(name, token.NoPos)
		if obj == nil && !used[name] {
			return name
		}
		name += "_"
	}
}

// start returns the statement that starts a call.
func (w *writer) start(u *unit) string {
	args := []string{w.comm(u.call.Fun.(*ast.SelectorExpr))}
	for _, x := range u.call.Args {
		args = append(args, w.p.text(w.g.f, x))
	}
	return fmt.Sprintf("%s.%s(%s)", w.batch, u.api, strings.Join(args, ", "))
}

// comm returns the communicator on which a method is called: it may be embedded, as in mpi.Cart.
func (w *writer) comm(sel *ast.SelectorExpr) string {
	text := w.p.text(w.g.f, sel.X)
	s := w.g.f.pkg.info.Selections[sel]
	t := s.Recv()
	for _, i := range s.Index()[:len(s.Index())-1] {
		if ptr, ok := t.Underlying().(*types.Pointer); ok {
			t = ptr.Elem()
		}
		field := t.Underlying().(*types.Struct).Field(i)
		text += "." + field.Name()
		t = field.Type()
	}
	return text
}

// ending returns the wait and the calls' uses of their results.
func (w *writer) ending() string {
	if u := w.g.units[0]; w.alike() {
		all := w.batch + ".Wait()"
		switch {
		case u.errName == nil:
			return "_ = " + all
		case u.inIf:
			return fmt.Sprintf("if %s %s %s; %s", u.errName.Name, u.tok, all, w.tail(u))
		}
		return fmt.Sprintf("%s %s %s\nif %s", u.errName.Name, u.tok, all, w.tail(u))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "_ = %s.Wait() // all have completed before any is handled\n", w.batch)
	for i, u := range w.g.units {
		b.WriteString(w.results(i, u))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// tail returns an if statement from its condition on.
func (w *writer) tail(u *unit) string {
	src := w.g.f.src
	return string(src[w.p.offset(u.check.Cond.Pos()):w.p.offset(u.check.End())])
}

// alike reports whether one check of the joined errors can stand for all: they do the same,
// and no status is kept.
func (w *writer) alike() bool {
	first := w.g.units[0]
	for i, u := range w.g.units {
		if u.status != nil || (u.errName == nil) != (first.errName == nil) {
			return false
		}
		if u.errName == nil {
			continue
		}
		again := i > 0 && !u.inIf && u.tok == token.DEFINE // needs its own variable
		if u.check == nil || again || u.inIf != first.inIf || u.errName.Name != first.errName.Name || w.tail(u) != w.tail(first) {
			return false
		}
	}
	return true
}

// results returns the statements that give a unit its status and error, and its check.
func (w *writer) results(i int, u *unit) string {
	if u.errName == nil && u.status == nil {
		return ""
	}
	assign := fmt.Sprintf("%s %s %s.Result(%d)", w.names(u), u.tok, w.batch, i)
	switch {
	case u.inIf:
		return fmt.Sprintf("if %s; %s\n", assign, w.tail(u))
	case u.check != nil:
		return fmt.Sprintf("%s\nif %s\n", assign, w.tail(u))
	}
	return assign + "\n"
}

// names returns the left side of the call of a unit. Result has a status, a Send none.
func (w *writer) names(u *unit) string {
	var names []string
	if u.recv < 0 {
		names = append(names, "_")
	}
	for _, x := range u.lhs {
		names = append(names, x.(*ast.Ident).Name)
	}
	return strings.Join(names, ", ")
}

// excerpt returns the lines that change, before and after.
func (c *Change) excerpt() (before, after string) {
	src := c.f.src
	from := bytes.LastIndexByte(src[:c.edits[0].from], '\n') + 1
	last := c.edits[len(c.edits)-1].to
	to := len(src)
	if i := bytes.IndexByte(src[last:], '\n'); i >= 0 {
		to = last + i + 1
	}
	changed := applyEdits(src, c.edits)
	formatted, err := format.Source(changed)
	if err != nil {
		return string(src[from:to]), string(changed)
	}
	rest := len(src) - to // bytes behind are the same, if the format was right before
	if len(formatted)-rest < from {
		return string(src[from:to]), ""
	}
	return string(src[from:to]), string(formatted[from : len(formatted)-rest])
}

// applyEdits returns src with the edits made. They do not overlap.
func applyEdits(src []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, src[at:e.from]...)
		out = append(out, e.text...)
		at = e.to
	}
	return append(out, src[at:]...)
}

// Apply returns the new contents of the files that the changes concern. Changes that
// share lines are made once. Files are formatted as gofmt does.
func (p *Program) Apply(changes []*Change) (map[string][]byte, error) {
	edits := map[string][]edit{}
	for _, c := range changes {
		if !slices.ContainsFunc(c.edits, func(e edit) bool { return taken(edits[c.File], e) }) {
			edits[c.File] = append(edits[c.File], c.edits...)
		}
	}
	out := map[string][]byte{}
	for name, list := range edits {
		text, err := format.Source(applyEdits(p.files[name].src, list))
		if err != nil {
			return nil, fmt.Errorf("%s, changed: %w", name, err)
		}
		if err := p.typeCheck(p.files[name], text); err != nil {
			return nil, fmt.Errorf("%s, changed: %w", name, err)
		}
		out[name] = text
	}
	return out, nil
}

// taken reports whether an edit meets one of the list.
func taken(list []edit, e edit) bool {
	return slices.ContainsFunc(list, func(o edit) bool { return e.from < o.to && o.from < e.to })
}

// verify checks that the change alone compiles.
func (p *Program) verify(c *Change) error {
	text, err := format.Source(applyEdits(c.f.src, c.edits))
	if err != nil {
		return err
	}
	return p.typeCheck(c.f, text)
}
