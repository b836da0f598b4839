package layout

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGofmt(t *testing.T) {
	for _, f := range readTree(t).files {
		if !gofmted(f.src) {
			t.Errorf("%s is not formatted: gofmt -w %s", f.path, f.path)
		}
	}
}

func gofmted(src []byte) bool {
	formatted, err := format.Source(src)
	return err == nil && bytes.Equal(formatted, src)
}

// ban is a call that has a better replacement.
type ban struct {
	call    string   // "package.Function", or "package.*", by the last part of the import path
	instead string   // what to do
	rooms   []string // where it is banned; empty: in every library. "a/" is a without the folders in it
	except  []string // files that may
}

// onThreads are the packages that may run on another machine than goroutines and the clock of
// the host: they make threads, wait and read the time through internal/osthread alone.
var onThreads = []string{"dataflow/", "internal/task", "internal/executor", "commthread/", "internal/engine", "mpi/", "mpi/local", "mpi/internal"}

const throughOsthread = "internal/osthread has it, and may stand on another machine"

var bans = append([]ban{
	{"time.Sleep", "park with internal/osthread, or wait for an event: a sleep is 1 ms too long or too short", nil,
		[]string{"internal/osthread/os_other.go"}}, // systems without a futex
	{"fmt.Print", "take an io.Writer, or return the text", nil, nil},
	{"fmt.Printf", "take an io.Writer, or return the text", nil, nil},
	{"fmt.Println", "take an io.Writer, or return the text", nil, nil},
	{"log.*", "return an error", nil, nil},
	{"os.Exit", "return an error: only programs exit", nil,
		[]string{"internal/commandline/commandline.go", "mpi/world/exit.go"}}, // how programs exit
	{"print", "it is for debugging", nil, nil},
	{"println", "it is for debugging", nil, nil},
	{"debug.SetGCPercent", "the collector belongs to the program", nil, nil},
	{"rand.Seed", "use math/rand/v2 with a source of your own, so that a run can be repeated", nil, nil},
	{"time.Now", "package deps makes no call of the operating system", []string{"deps"}, nil},
}, threadBans()...)

// threadBans returns the bans for the packages of onThreads.
func threadBans() (all []ban) {
	for _, call := range []string{"go", "runtime.LockOSThread", "runtime.UnlockOSThread", "time.AfterFunc", "time.NewTimer",
		"time.NewTicker", "time.Tick", "time.After", "runtime.Gosched", "time.Now", "time.Since", "time.Until"} {
		all = append(all, ban{call, throughOsthread, onThreads, nil})
	}
	return all
}

func TestBannedCalls(t *testing.T) {
	tree := readTree(t)
	for _, f := range tree.files {
		if f.library() {
			for _, s := range bannedCalls(tree, f) {
				t.Error(s)
			}
		}
	}
}

// covers reports whether the ban holds in f.
func (b *ban) covers(f *file) bool {
	here := func(room string) bool {
		alone, exact := strings.CutSuffix(room, "/")
		return within(f.dir(), room) || exact && f.dir() == alone
	}
	return !slices.Contains(b.except, f.path) && (len(b.rooms) == 0 || slices.ContainsFunc(b.rooms, here))
}

func bannedCalls(t *tree, f *file) (found []string) {
	names := importNames(f.ast)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		name := ""
		switch n := n.(type) {
		case *ast.CallExpr:
			name = calledName(n, names)
		case *ast.GoStmt:
			name = "go"
		default:
			return true
		}
		for _, b := range bans {
			pkg, all := strings.CutSuffix(b.call, ".*")
			hit := name == b.call || all && strings.HasPrefix(name, pkg+".")
			if hit && b.covers(f) {
				found = append(found, fmt.Sprintf("%s calls %s: %s", t.at(n.Pos()), name, b.instead))
			}
		}
		return true
	})
	return found
}

// importNames maps the names of imported packages in a file to the last part of
// their paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		base := path[strings.LastIndex(path, "/")+1:]
		if base == "v2" {
			path = strings.TrimSuffix(path, "/v2")
			base = path[strings.LastIndex(path, "/")+1:]
		}
		local := base
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = base
	}
	return names
}

// calledName returns "package.Function", "builtin", or "".
func calledName(call *ast.CallExpr, imports map[string]string) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		if fun.Name == "print" || fun.Name == "println" {
			return fun.Name
		}
	case *ast.SelectorExpr:
		if x, ok := fun.X.(*ast.Ident); ok && imports[x.Name] != "" {
			return imports[x.Name] + "." + fun.Sel.Name
		}
	}
	return ""
}

func TestPackageDocs(t *testing.T) {
	docs := map[string]string{}
	for _, f := range readTree(t).files {
		if f.test() {
			continue
		}
		docs[f.dir()] += f.ast.Doc.Text()
	}
	for _, dir := range slices.Sorted(maps.Keys(docs)) {
		if strings.TrimSpace(docs[dir]) == "" {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestExportedDocs(t *testing.T) {
	tree := readTree(t)
	for _, f := range tree.files {
		if f.library() {
			for _, s := range undocumented(tree, f.ast) {
				t.Error(s)
			}
		}
	}
}

// methodsOfInterfaces need no comment: their meaning is well known.
var methodsOfInterfaces = []string{"String", "Error", "Unwrap", "Is", "As", "Len", "Less", "Swap", "Read", "Write", "Close"}

// undocumented returns the exported declarations without a comment. A comment
// covers the functions that follow without an empty line, and a group.
func undocumented(t *tree, f *ast.File) (found []string) {
	covered, end := false, 0 // of the function just before, if it was one
	for _, d := range f.Decls {
		line := t.fset.Position(d.Pos()).Line
		covered = covered && line == end+1
		end = t.fset.Position(d.End()).Line
		switch d := d.(type) {
		case *ast.FuncDecl:
			covered = covered || d.Doc != nil
			if !covered && exportedFunc(d) {
				found = append(found, fmt.Sprintf("%s: %s has no comment", t.at(d.Pos()), d.Name.Name))
			}
		case *ast.GenDecl:
			covered = false
			for _, s := range d.Specs {
				if name := exportedSpec(s); name != "" && d.Doc == nil {
					found = append(found, fmt.Sprintf("%s: %s has no comment", t.at(s.Pos()), name))
				}
			}
		}
	}
	return found
}

func exportedFunc(d *ast.FuncDecl) bool {
	if !d.Name.IsExported() {
		return false
	}
	if d.Recv == nil {
		return true
	}
	return ast.IsExported(receiver(d)) && !slices.Contains(methodsOfInterfaces, d.Name.Name)
}

// receiver returns the name of the type that d is a method of.
func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// exportedSpec returns the exported name of a specification without its own comment, or "".
func exportedSpec(s ast.Spec) string {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return s.Name.Name
		}
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if n.IsExported() && s.Doc == nil && s.Comment == nil {
				return n.Name
			}
		}
	}
	return ""
}

// maxLines is the longest that a function may be.
const maxLines = 70

// longFunctions were longer when the rule was made. The list only shrinks, and so do the
// numbers.
var longFunctions = map[string]int{}

func TestFunctionLength(t *testing.T) {
	tree := readTree(t)
	left := maps.Clone(longFunctions)
	for _, f := range tree.files {
		if f.test() {
			continue
		}
		for name, lines := range functionLengths(tree.fset, f) {
			limit := max(maxLines, longFunctions[name])
			delete(left, name)
			switch {
			case lines > limit:
				t.Errorf("%s: %s has %d lines, more than %d: split it", f.path, name, lines, limit)
			case longFunctions[name] > max(lines, maxLines):
				t.Errorf("%s has %d lines now: lower its number in longFunctions", name, lines)
			case longFunctions[name] > 0 && lines <= maxLines:
				t.Errorf("%s has %d lines now: remove it from longFunctions", name, lines)
			}
		}
	}
	for name := range left {
		t.Errorf("%s does not exist: remove it from longFunctions", name)
	}
}

// functionLengths returns the lines of every function of f, by "dir.Function" or
// "dir.Type.Method".
func functionLengths(fset *token.FileSet, f *file) map[string]int {
	lengths := map[string]int{}
	for _, d := range f.ast.Decls {
		d, ok := d.(*ast.FuncDecl)
		if !ok || d.Body == nil {
			continue
		}
		name := f.dir() + "." + d.Name.Name
		if d.Recv != nil {
			name = f.dir() + "." + receiver(d) + "." + d.Name.Name
		}
		lengths[name] = fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1
	}
	return lengths
}

// machinePath matches an absolute path that exists on somebody's machine only.
var machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.})/-])/(work|tmp|home|root|Users|mnt|scratch)/`)

func TestNoMachinePaths(t *testing.T) {
	tree := readTree(t)
	for _, f := range slices.Concat(tree.files, tree.texts) {
		if f.ast != nil && f.test() {
			continue
		}
		n := 0
		for line := range bytes.Lines(f.src) {
			n++
			if machinePath.Match(line) {
				t.Errorf("%s:%d has a path of one machine: %s", f.path, n, bytes.TrimSpace(line))
			}
		}
	}
}

// Threads and the clock are banned in the packages that may run on another machine, and not
// in the folders below them.
func TestThreadBans(t *testing.T) {
	const src = "package x\n\nimport (\n\t\"runtime\"\n\t\"time\"\n)\n\nfunc f() {\n\tgo f()\n\truntime.LockOSThread()\n\t<-time.After(1)\n\t_ = time.Now()\n}\n"
	for path, want := range map[string]int{"dataflow/x.go": 4, "dataflow/trace/x.go": 0, "mpi/local/x.go": 4, "dataflow/log.go": 4, "commthread/dds/x.go": 0, "internal/osthread/x.go": 0} {
		tr := &tree{fset: token.NewFileSet()}
		f := &file{path: path, src: []byte(src), ast: parseText(t, tr.fset, path, src)}
		require.Len(t, bannedCalls(tr, f), want, path)
	}
}

// TestStyleFindsViolations is the negative control of the rules above.
func TestStyleFindsViolations(t *testing.T) {
	tr := &tree{fset: token.NewFileSet()}
	f := &file{path: "deps/bad.go"}
	f.src = []byte(badSource)
	f.ast = parseText(t, tr.fset, f.path, badSource)
	require.False(t, gofmted(f.src))
	require.True(t, f.library())

	calls := strings.Join(bannedCalls(tr, f), "\n")
	for _, call := range []string{"time.Sleep", "time.Now", "fmt.Println", "log.Fatal", "println"} {
		require.Contains(t, calls, "calls "+call+":")
	}
	require.Equal(t, 5, strings.Count(calls, "\n")+1, calls)

	require.Equal(t, []string{
		"deps/bad.go:17: Bare has no comment",
		"deps/bad.go:21: Method has no comment",
		"deps/bad.go:23: A has no comment",
	}, undocumented(tr, f.ast))
	require.Equal(t, map[string]int{"deps.f": 7, "deps.Bare": 1, "deps.Also": 1, "deps.T.Method": 1, "deps.T.String": 1}, functionLengths(tr.fset, f))

	for text, hit := range map[string]bool{
		`"/tmp/x"`: true, "/home/me/go": true,
		"bench/tmp/x": false, "$dir/tmp/x": false, "./tmp/x": false, "https://host/home/x": false, "network/": false,
	} {
		require.Equal(t, hit, machinePath.MatchString(text), text)
	}
}

const badSource = `package deps

import (
	"fmt"
	nonsense "log"
	"time"
)

func f() {
	time.Sleep(time.Since(time.Now()))
	fmt.Println("x")
	nonsense.Fatal("x")
	println("x")
	fmt.Fprintln(nil, "this one is allowed")
}

func Bare() {}

// T is documented.
type T struct{}
func (T) Method() {}
func (T) String() string { return "" }
var A = 1

// Also is documented.
func Also() {}
`
