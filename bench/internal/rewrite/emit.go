package rewrite

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"slices"
	"strings"
)

// emit makes the change of a group whose proof is complete. mpi is the name of the package.
func (p *Program) emit(g *group, mpi string) *Change {
	first, last := g.units[0], g.units[len(g.units)-1]
	w := &writer{p: p, g: g, mpi: mpi}
	line := p.line(g.list[first.first].Pos())
	w.reqs, w.errs = w.fresh("reqs", line), w.fresh("errs", line)
	var edits []edit
	for i, u := range g.units {
		s := g.list[u.first]
		text := w.starts(u)
		if i == 0 {
			text = "\x00" + text // the declaration, when the number is known
		}
		from, to := p.offset(s.Pos()), p.offset(s.End())
		edits = append(edits, edit{from, to, text})
		if u.check != nil && !u.inIf {
			edits = append(edits, p.removal(g.f, to, u.check))
		}
	}
	edits[0].text = fmt.Sprintf("var %s [%d]*%s.Request\n%s", w.reqs, w.n, mpi, edits[0].text[1:])
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
	p          *Program
	g          *group
	mpi        string
	reqs, errs string
	n          int      // requests so far
	from       []int    // first request of each unit
	to         []int    // and the one behind its last
	status     []string // of each unit: where its status is found
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

// starts returns the statements that start the requests of a unit: the receive first, as
// Sendrecv does.
func (w *writer) starts(u *unit) string {
	recv := w.p.text(w.g.f, u.call.Fun.(*ast.SelectorExpr).X)
	arg := func(i int) string { return w.p.text(w.g.f, u.call.Args[i]) }
	w.from = append(w.from, w.n)
	var lines []string
	add := func(method string, at int) {
		lines = append(lines, fmt.Sprintf("%s[%d] = %s.%s(%s, %s, %s)", w.reqs, w.n, recv, method, arg(at), arg(at+1), arg(at+2)))
		w.n++
	}
	status := ""
	if u.recv >= 0 {
		status = fmt.Sprintf("%s[%d]", w.reqs, w.n)
		add("Irecv", u.recv)
	}
	if u.send >= 0 {
		add(map[bool]string{true: "Issend", false: "Isend"}[u.api == "Ssend"], u.send)
	}
	w.to = append(w.to, w.n)
	w.status = append(w.status, status)
	return strings.Join(lines, "\n")
}

// ending returns the wait and the calls' uses of their results.
func (w *writer) ending() string {
	if u := w.g.units[0]; w.alike() {
		all := fmt.Sprintf("%s.Waitall(%s[:]...)", w.mpi, w.reqs)
		switch {
		case u.errName == nil:
			return "_ = " + all
		case u.inIf:
			return fmt.Sprintf("if %s %s %s; %s", u.errName.Name, u.tok, all, w.tail(u))
		}
		return fmt.Sprintf("%s %s %s\nif %s", u.errName.Name, u.tok, all, w.tail(u))
	}
	var results strings.Builder
	for i, u := range w.g.units {
		results.WriteString(w.results(i, u))
	}
	text := strings.TrimSuffix(results.String(), "\n")
	if !strings.Contains(text, w.errs) {
		return fmt.Sprintf("_ = %s.Waitall(%s[:]...) // all have completed before any is handled\n%s", w.mpi, w.reqs, text)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s := [%d]error{ // all have completed before any is handled\n", w.errs, len(w.g.units))
	for i := range w.g.units {
		fmt.Fprintf(&b, "%s.Waitall(%s[%d:%d]...),\n", w.mpi, w.reqs, w.from[i], w.to[i])
	}
	return b.String() + "}\n" + text
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
	var b strings.Builder
	single := w.to[i]-w.from[i] == 1
	err := fmt.Sprintf("%s[%d]", w.errs, i)
	assign := ""
	switch {
	case u.errName == nil && u.status == nil:
		return ""
	case single && u.recv >= 0: // Recv and Wait have the same two results
		assign = fmt.Sprintf("%s %s %s.Wait()", w.names(u), u.tok, w.status[i])
	case single:
		assign = fmt.Sprintf("_, %s %s %s[%d].Wait()", u.errName.Name, u.tok, w.reqs, w.from[i])
	case u.status == nil:
		assign = fmt.Sprintf("%s %s %s", u.errName.Name, u.tok, err)
	default:
		got := w.fresh("status", w.p.line(u.call.Pos()))
		fmt.Fprintf(&b, "%s, _ := %s.Wait()\n", got, w.status[i])
		if u.errName == nil {
			assign = fmt.Sprintf("%s %s %s", u.status.(*ast.Ident).Name, u.tok, got)
		} else {
			assign = fmt.Sprintf("%s %s %s, %s", w.names(u), u.tok, got, err)
		}
	}
	switch {
	case u.inIf:
		fmt.Fprintf(&b, "if %s; %s\n", assign, w.tail(u))
	case u.check != nil:
		fmt.Fprintf(&b, "%s\nif %s\n", assign, w.tail(u))
	default:
		fmt.Fprintf(&b, "%s\n", assign)
	}
	return b.String()
}

// names returns the left side of the call of a unit.
func (w *writer) names(u *unit) string {
	var names []string
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
