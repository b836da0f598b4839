package rewrite

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the tests see as the expected results")

func load(t *testing.T, dir string) *Program {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	abs, err := filepath.Abs(names[0])
	require.NoError(t, err)
	p, err := Load(abs)
	require.NoError(t, err)
	require.Len(t, p.files, len(names))
	return p
}

// sitesOf returns the blocking calls of every function of a file, as one chain each.
func (p *Program) sitesOf(f *file) (names []string, chains map[string][]Site) {
	chains = map[string][]Site{}
	for _, d := range f.ast.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch api := p.methodName(f, c); api {
			case "Send", "Ssend", "Recv", "Sendrecv", "SendrecvReplace":
				chains[fn.Name.Name] = append(chains[fn.Name.Name], Site{File: f.name, Line: p.line(c.Pos()), API: api})
			}
			return true
		})
		if len(chains[fn.Name.Name]) > 0 {
			names = append(names, fn.Name.Name)
		}
	}
	return names, chains
}

var proof = Evidence{}

// TestCorpus compares the changes, and the reasons for refusals, with the golden files. The
// output is formatted and compiles (Apply checks the types).
func TestCorpus(t *testing.T) {
	p := load(t, "testdata/corpus")
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		f := p.files[name]
		base := strings.TrimSuffix(filepath.Base(name), ".go")
		t.Run(base, func(t *testing.T) {
			var out strings.Builder
			funcs, chains := p.sitesOf(f)
			var all []*Change
			for _, fn := range funcs {
				fmt.Fprintf(&out, "-- %s: %d calls --\n", fn, len(chains[fn]))
				changes, refusals := p.Chain(chains[fn], proof)
				for _, c := range changes {
					fmt.Fprintf(&out, "calls %v, lines %d to %d become\n%s", c.Calls, c.Line, c.Last, c.After)
				}
				for _, r := range refusals {
					fmt.Fprintf(&out, "calls %v stay, line %d: %s\n", r.Calls, r.Line, r.Reason)
				}
				all = append(all, changes...)
			}
			files, err := p.Apply(all)
			require.NoError(t, err)
			for _, text := range files {
				formatted, err := format.Source(text)
				require.NoError(t, err)
				assert.Equal(t, string(formatted), string(text))
				out.WriteString("-- diff --\n" + Diff(base+".go", base+".go", f.src, text))
			}
			golden := filepath.Join("testdata/golden", base+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata/golden", 0o777))
				require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err, "go test -update writes it")
			assert.Equal(t, string(want), out.String())
		})
	}
}

// What must never change: dependences, and what cannot be proven local. (The golden files
// say the reasons; this does not depend on them.)
func TestNeverChanged(t *testing.T) {
	p := load(t, "testdata/corpus")
	never := []string{"unpacked", "shifted", "swapped", "returned", "looped", "around", "deferring", "depending", "reading", "wildcard", "handling", "renamed", "calling", "nested", "counting", "preparedFromArrived", "preparedAgain", "preparedBuffer", "preparedAlias", "preparedUntilError"}
	seen := 0
	for _, f := range p.files {
		funcs, chains := p.sitesOf(f)
		for _, fn := range funcs {
			if fn == "looped" { // as a run of it is seen
				chains[fn] = append(chains[fn], chains[fn]...)
			}
			changes, refusals := p.Chain(chains[fn], proof)
			if slices.Contains(never, fn) {
				seen++
				assert.Empty(t, changes, fn)
				assert.NotEmpty(t, refusals, fn)
			} else {
				assert.NotEmpty(t, changes, "%s: the control: it can be changed", fn)
			}
			apart, refusals := p.Chain(chains[fn], Evidence{Apart: func(i, j int) string { return "seen to share memory" }})
			assert.Empty(t, apart, "%s: buffers were aliases", fn)
			assert.NotEmpty(t, refusals, fn)
			wild, _ := p.Chain(chains[fn], Evidence{Wild: true})
			assert.Empty(t, wild, "%s: a receive from any rank", fn)
		}
	}
	assert.Equal(t, len(never), seen)
}

// A chain that passes calls twice is two rounds, each of which is changed to the same lines; a round
// of one call stays.
func TestRepeatedCalls(t *testing.T) {
	p := load(t, "testdata/corpus")
	for _, f := range p.files {
		funcs, chains := p.sitesOf(f)
		for _, fn := range funcs {
			if fn == "alike" {
				twice := append(slices.Clone(chains[fn]), chains[fn]...)
				changes, refusals := p.Chain(twice, proof)
				require.Len(t, changes, 2)
				assert.Equal(t, changes[0].After, changes[1].After)
				assert.Empty(t, refusals)
				once, err := p.Apply(changes[:1])
				require.NoError(t, err)
				both, err := p.Apply(changes)
				require.NoError(t, err)
				assert.Equal(t, once, both)
				changes, refusals = p.Chain([]Site{chains[fn][0], chains[fn][0]}, proof)
				assert.Empty(t, changes)
				require.Len(t, refusals, 2)
				assert.Contains(t, refusals[0].Reason, "loop")
			}
		}
	}
}

func TestLocate_refuses(t *testing.T) {
	p := load(t, "testdata/corpus")
	for name, f := range p.files {
		if filepath.Base(name) != "alike.go" {
			continue
		}
		_, chains := p.sitesOf(f)
		first := chains["alike"][0]
		for _, c := range []struct {
			s   Site
			why string
		}{
			{Site{File: "nowhere.go", Line: 1, API: "Send"}, "is not there"},
			{Site{File: name, Line: 1, API: "Sendrecv"}, "there is no call"},
			{Site{File: name, Line: first.Line, API: "Recv"}, "there is no call"},
		} {
			_, _, why := p.locate(c.s)
			assert.Contains(t, why, c.why)
		}
		_, l, why := p.locate(first)
		assert.Empty(t, why)
		assert.NotNil(t, l.list)
	}
}

func TestLoad_errors(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.go")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o666))
	require.NoError(t, os.WriteFile(name, []byte("package x\n\nvar y int = \"no number\"\n"), 0o666))
	_, err := Load(name)
	require.Error(t, err)
	assert.Contains(t, err.Error(), dir)
	require.NoError(t, os.WriteFile(name, []byte("package x\n\nvar y int\n"), 0o666))
	_, err = Load(name)
	require.NoError(t, err)
}

func TestDiff(t *testing.T) {
	var before, after bytes.Buffer
	for i := range 40 {
		fmt.Fprintln(&before, i)
		switch i {
		case 10:
			fmt.Fprintln(&after, "ten")
		case 14, 30:
		case 31:
			fmt.Fprintf(&after, "31\nmore\n")
		default:
			fmt.Fprintln(&after, i)
		}
	}
	text := Diff("a", "b", before.Bytes(), after.Bytes())
	assert.Equal(t, `--- a
+++ b
@@ -8,11 +8,10 @@
 7
 8
 9
-10
+ten
 11
 12
 13
-14
 15
 16
 17
@@ -28,8 +27,8 @@
 27
 28
 29
-30
 31
+more
 32
 33
 34
`, text)
	assert.Empty(t, Diff("a", "b", before.Bytes(), before.Bytes()))
	assert.Equal(t, "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n", Diff("a", "b", nil, []byte("x")))
	assert.Equal(t, "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n", Diff("a", "b", []byte("x\n"), nil))
}
