package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// mutant is one change of a source file.
type mutant struct {
	file       string
	line       int
	function   string
	first, end int // bytes of the file that are replaced
	old, text  string
	copy       int // which of several equal ones of the function, from 0
	form       form
}

// key names the mutant in equivalent.txt; it does not depend on the number of the line.
func (m *mutant) key() string {
	return fmt.Sprintf("%s %s: %s -> %s #%d", m.file, m.function, m.old, m.replacement(), m.copy)
}

func (m *mutant) replacement() string {
	if m.text == removed {
		return "nothing"
	}
	return m.text
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d %s: %s -> %s", m.file, m.line, m.function, m.old, m.replacement())
}

// apply returns the changed source.
func (m *mutant) apply(source []byte) []byte {
	changed := append([]byte{}, source[:m.first]...)
	changed = append(changed, m.text...)
	return append(changed, source[m.end:]...)
}

// draw returns a random number of the mutant.
func (m *mutant) draw(seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, m.key())
	return rand.NewPCG(seed, h.Sum64()).Uint64() // equal but for the last letters: hashes near each other
}

const removed = "{}" // a statement that does nothing

// swaps maps operators to their replacements.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.ADD, token.QUO: token.MUL, token.REM: token.QUO,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.AND_NOT_ASSIGN: token.OR_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC,
}

// mutants returns all changes of the bodies of the functions of some files, in a random
// order, of which an edit elsewhere changes little. Generated files have none.
func mutants(files []string, seed uint64) (all []*mutant, err error) {
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := mutantsOf(name, source)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortStableFunc(all, func(a, b *mutant) int { return cmp.Compare(a.draw(seed), b.draw(seed)) })
	return all, nil
}

func mutantsOf(name string, source []byte) (all []*mutant, err error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(f) {
		return nil, err
	}
	at := func(p token.Pos) int { return files.Position(p).Offset }
	copies := map[string]int{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		add := func(first, end token.Pos, text string, how form) {
			m := &mutant{file: name, function: functionName(fn), line: files.Position(first).Line, text: text,
				first: at(first), end: at(end), form: how}
			m.old = strings.Join(strings.Fields(string(source[m.first:m.end])), " ")
			key := m.key()
			m.copy = copies[key]
			copies[key]++
			all = append(all, m)
		}
		bound := parts(fn.Body)
		ast.Inspect(fn.Body, func(n ast.Node) bool { mutate(n, source, at, bound[n], add); return true })
	}
	return all, nil
}

// parts returns the statements that are part of another one, where no if can stand.
func parts(body ast.Node) map[ast.Node]bool {
	found := map[ast.Node]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			found[n.Init], found[n.Post] = true, true
		case *ast.IfStmt:
			found[n.Init] = true
		case *ast.SwitchStmt:
			found[n.Init] = true
		case *ast.TypeSwitchStmt:
			found[n.Init] = true
		case *ast.CommClause:
			found[n.Comm] = true
		}
		return true
	})
	return found
}

// mutate adds the changes of one node. A statement that is bound has no form.
func mutate(n ast.Node, source []byte, at func(token.Pos) int, bound bool, add func(first, end token.Pos, text string, how form)) {
	statement := func(first, end token.Pos, text string) form {
		if bound {
			return form{}
		}
		return statementForm(at(first), at(end), text)
	}
	operator := func(pos token.Pos, op token.Token, form func(token.Token) form) {
		if other, ok := swaps[op]; ok {
			add(pos, pos+token.Pos(len(op.String())), other.String(), form(other))
		}
	}
	remove := func(n ast.Node) { add(n.Pos(), n.End(), removed, statement(n.Pos(), n.End(), removed)) }
	swap := func(n ast.Node, pos token.Pos, op token.Token) {
		operator(pos, op, func(other token.Token) form {
			end := at(pos) + len(op.String())
			return statement(n.Pos(), n.End(), string(source[at(n.Pos()):at(pos)])+other.String()+string(source[end:at(n.End())]))
		})
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		operator(n.OpPos, n.Op, func(other token.Token) form { return operatorForm(n, at, other) })
	case *ast.IncDecStmt:
		swap(n, n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			add(n.OpPos, n.X.Pos(), "", notForm(at(n.OpPos), at(n.X.Pos()), at(n.End())))
		}
	case *ast.AssignStmt:
		swap(n, n.TokPos, n.Tok)
		if _, field := n.Lhs[0].(*ast.SelectorExpr); field && len(n.Lhs) == 1 && n.Tok == token.ASSIGN {
			remove(n)
		}
	case *ast.ExprStmt:
		if _, call := n.X.(*ast.CallExpr); call {
			remove(n)
		}
	case *ast.DeferStmt:
		remove(n)
	}
}

// functionName returns F, or T.F for a method.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
