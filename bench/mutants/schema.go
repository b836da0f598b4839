package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// All mutants of a package that can be are compiled into one program, which asks a variable
// of its environment which of them it is to be (mutant schemata; Untch, Offutt and Harrold,
// Mutation Analysis Using Mutant Schemata, 1993): to compile costs more than most tests.
//
//	x = y        if !mutantIs(7) { x = y }
//	a < b        (!mutantIs(8) && (a < b) || mutantIs(8) && (a <= b))
//	!a           ((a) != !mutantIs(9))
//	a + b        mutantOf(10, a+b, a-b)
//
// The last form computes both, so it is for operands without calls. What has no such form,
// as the third statement of a for, is compiled alone.

const (
	selector     = "MUTANT" // the variable
	selectorFile = "mutant_selector.go"
)

// selectorSource is one more file of the package.
func selectorSource(name string) string {
	return "package " + name + `

import "os"

var mutantChosen = func() (id int) {
	for _, c := range os.Getenv("` + selector + `") {
		id = 10*id + int(c-'0')
	}
	return id
}()

func mutantIs(id int) bool { return mutantChosen == id }

func mutantOf[T any](id int, usual, changed T) T {
	if mutantChosen == id {
		return changed
	}
	return usual
}
`
}

// form is how a mutant is chosen at run time.
type form struct {
	first, end int                              // bytes of the file that it takes the place of
	write      func(id int, part partOf) string // nil if the mutant has no such form
}

// partOf returns the text of some bytes of the file, with the forms inside.
type partOf func(first, end int) string

// statementForm runs the statement, or another one.
func statementForm(first, end int, changed string) form {
	return form{first, end, func(id int, part partOf) string {
		if changed == removed {
			return fmt.Sprintf("if !mutantIs(%d) { %s }", id, part(first, end))
		}
		return fmt.Sprintf("if mutantIs(%d) { %s } else { %s }", id, changed, part(first, end))
	}}
}

// notForm leaves a ! out.
func notForm(first, operand, end int) form {
	return form{first, end, func(id int, part partOf) string {
		return fmt.Sprintf("((%s) != !mutantIs(%d))", part(operand, end), id)
	}}
}

// operatorForm swaps the operator of x op y.
func operatorForm(n *ast.BinaryExpr, at func(token.Pos) int, other token.Token) form {
	first, endX, y, end := at(n.X.Pos()), at(n.X.End()), at(n.Y.Pos()), at(n.Y.End())
	f := form{first: first, end: end}
	switch n.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
		f.write = func(id int, part partOf) string {
			a, b := part(first, endX), part(y, end)
			return fmt.Sprintf("(!mutantIs(%d) && (%s %s %s) || mutantIs(%d) && (%s %s %s))", id, a, n.Op, b, id, a, other, b)
		}
	default:
		if calls(n) {
			return form{}
		}
		f.write = func(id int, part partOf) string {
			a, b := part(first, endX), part(y, end)
			return fmt.Sprintf("mutantOf(%d, (%s) %s (%s), (%s) %s (%s))", id, a, n.Op, b, a, other, b)
		}
	}
	return f
}

// calls reports whether n calls anything but len, cap, max, min or something that may be a
// conversion to a basic type.
func calls(n ast.Node) (yes bool) {
	harmless := []string{"len", "cap", "max", "min", "int", "int32", "int64", "uint", "uint8", "uint32", "uint64", "uintptr", "float64"}
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			name, ok := c.Fun.(*ast.Ident)
			yes = yes || !ok || !slices.Contains(harmless, name.Name)
		}
		if u, ok := n.(*ast.UnaryExpr); ok {
			yes = yes || u.Op == token.ARROW
		}
		return true
	})
	return yes
}

// chosen is a mutant with the number that chooses it.
type chosen struct {
	*mutant
	id int
}

// withForms returns the source of a file with all these mutants of it.
func withForms(source []byte, all []chosen) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b chosen) int { // the outer ones first
		return cmp.Or(cmp.Compare(a.form.first, b.form.first), cmp.Compare(b.form.end, a.form.end))
	})
	var text func(first, end int, inside []chosen) string
	text = func(first, end int, inside []chosen) string {
		var s strings.Builder
		for len(inside) > 0 {
			m := inside[0]
			k := 1
			for k < len(inside) && inside[k].form.first < m.form.end {
				k++
			}
			within := inside[1:k]
			s.Write(source[first:m.form.first])
			s.WriteString(m.form.write(m.id, func(a, b int) string {
				part := slices.DeleteFunc(slices.Clone(within), func(o chosen) bool { return o.form.first < a || o.form.end > b })
				return text(a, b, part)
			}))
			first, inside = m.form.end, inside[k:]
		}
		s.Write(source[first:end])
		return s.String()
	}
	return text(0, len(source), all)
}
