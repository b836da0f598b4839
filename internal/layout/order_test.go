package layout

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed order.txt
var orderText string

// outside lists the packages that may import third-party packages, or delicate ones of the
// standard library: directly, with the packages in their folders. Other imports are allowed
// everywhere (standard library) or nowhere.
var outside = map[string][]string{
	"C":                             {"mpi/system", "commthread/dds", "hpl/blas/openblas", "bench"},
	"unsafe":                        {"deps", "tasks", "internal", "dataflow", "commthread", "mpi", "hpl", "fft", "bench"},
	"github.com/klauspost/cpuid/v2": {"hpl/blas", "internal/codelet", "bench"},
	"github.com/sourcegraph/conc":   {"dataflow", "commthread", "mpi"},
	"gonum.org/v1/plot":             {"bench/internal/chart"},
	"gonum.org/v1/gonum":            {"hpl/gonum", "bench/dense", "bench/hplnet", "examples/14-least-squares"},
	"golang.org/x/sys":              {"internal/osthread", "internal/pages", "internal/reserved", "internal/advise", "commthread", "mpi/local", "mpi/system", "bench"},
}

func TestImportOrder(t *testing.T) {
	order, err := parseOrder(orderText)
	require.NoError(t, err)
	for _, v := range order.violations(readTree(t).imports()) {
		t.Error(v)
	}
}

// The negative control: each of these breaks the order, and is found.
func TestImportOrderFindsViolations(t *testing.T) {
	order, err := parseOrder(orderText)
	require.NoError(t, err)
	for _, c := range []struct{ importer, imported, says string }{
		{"deps", module + "/tasks", "deps imports tasks, which is not below it"},
		{"tasks", module + "/dataflow", "tasks imports dataflow, which is not below it"},
		{"dataflow", module + "/mpi", "dataflow imports mpi, which is not below it"},
		{"dataflow", module + "/dataflow/trace", "dataflow imports dataflow/trace, which is not below it"},
		{"mpi/local", module + "/tasks", "mpi/local imports tasks, which is not below it"},
		{"mpi/local", module + "/mpi/system", "mpi/local imports mpi/system, which is not below it"},
		{"hpl", module + "/mpi/local", "hpl imports mpi/local, which is not below it"},
		{"hpl/grid", module + "/mpi/world", "hpl/grid imports mpi/world, which is not below it"},
		{"hpl", module + "/fft", "hpl imports fft, which is not below it"},
		{"hpl/blas", module + "/dataflow", "hpl/blas imports dataflow, which is not below it"},
		{"mpi/world", module + "/examples/01-hello", "mpi/world imports examples/01-hello, which is not below it"},
		{"attic", "fmt", "attic is not in order.txt"},
		{"deps", module + "/attic", "deps imports attic, which is not in order.txt"},
		{"hpl/blas", "C", "hpl/blas imports C, which is for"},
		{"hpl/dense", "gonum.org/v1/gonum/mat", "hpl/dense imports gonum.org/v1/gonum/mat, which is for"},
		{"hpl", module + "/hpl/gonum", "hpl imports hpl/gonum, which is not below it"},
		{"tasks", "golang.org/x/sys/unix", "tasks imports golang.org/x/sys/unix, which is for"},
		{"tasks", "github.com/stretchr/testify/require", "tasks imports github.com/stretchr/testify/require, which nothing but tests may"},
	} {
		found := order.violations(map[string][]string{c.importer: {c.imported}})
		require.Len(t, found, 1, c)
		require.Contains(t, found[0], c.says)
	}
}

func TestImportOrderAllows(t *testing.T) {
	order, err := parseOrder(orderText)
	require.NoError(t, err)
	require.Empty(t, order.violations(map[string][]string{
		"tasks":                {"fmt", module + "/deps", module + "/internal/osthread"},
		"commthread":           {module + "/dataflow", module + "/deps", module + "/mpi", "golang.org/x/sys/unix"},
		"hpl":                  {module + "/hpl/blas", module + "/commthread", module + "/mpi"},
		"hpl/grid":             {module + "/hpl"},
		"bench/taskbench":      {module + "/bench/internal/machine", module + "/dataflow/trace"},
		"examples/06-two":      {module + "/mpi/world", module + "/hpl"},
		"mpi/system":           {"C"},
		"commthread/dds/arena": {"C", "unsafe"},
	}))
}

func TestOrderTextMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"a < b; b < c; c < a;": "a is above itself",
		"a < b":                "no ; at the end",
		"a << b;":              "empty name",
		"a, < b;":              "empty name",
		"a b < c;":             "a b",
	} {
		_, err := parseOrder(text)
		require.ErrorContains(t, err, says, text)
	}
}

// order is the relation that order.txt describes.
type order struct {
	below map[string]map[string]bool // room to the rooms that it may import
}

func parseOrder(text string) (*order, error) {
	o := &order{below: map[string]map[string]bool{}}
	var plain strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		plain.WriteString(line + " ")
	}
	statements := strings.Split(plain.String(), ";")
	if last := statements[len(statements)-1]; strings.TrimSpace(last) != "" {
		return nil, fmt.Errorf("order: no ; at the end of %q", strings.TrimSpace(last))
	}
	for _, s := range statements[:len(statements)-1] {
		if err := o.add(s); err != nil {
			return nil, err
		}
	}
	return o, o.close()
}

// add takes in one statement: sets of rooms with < between them.
func (o *order) add(statement string) error {
	var lower []string
	for set := range strings.SplitSeq(statement, "<") {
		var rooms []string
		for room := range strings.SplitSeq(set, ",") {
			room = strings.TrimSpace(room)
			if room == "" || strings.ContainsAny(room, " \t") {
				return fmt.Errorf("order: empty name or two names without a comma: %q in %q", room, strings.TrimSpace(statement))
			}
			if o.below[room] == nil {
				o.below[room] = map[string]bool{}
			}
			rooms = append(rooms, room)
			for _, l := range lower {
				o.below[room][l] = true
			}
		}
		lower = rooms
	}
	return nil
}

// close makes the relation transitive, and checks that it is an order.
func (o *order) close() error {
	for _, via := range slices.Sorted(maps.Keys(o.below)) {
		for _, below := range o.below {
			if below[via] {
				maps.Copy(below, o.below[via])
			}
		}
	}
	for _, room := range slices.Sorted(maps.Keys(o.below)) {
		if o.below[room][room] {
			return fmt.Errorf("order: %s is above itself", room)
		}
	}
	return nil
}

// room returns the longest room that holds the package.
func (o *order) room(pkg string) (room string, ok bool) {
	for r := range o.below {
		if within(pkg, r) && len(r) > len(room) {
			room, ok = r, true
		}
	}
	return room, ok
}

func within(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// violations returns a sentence for every import that breaks the order. The keys
// are packages relative to the module, the values import paths.
func (o *order) violations(imports map[string][]string) (found []string) {
	for _, importer := range slices.Sorted(maps.Keys(imports)) {
		room, ok := o.room(importer)
		if !ok {
			found = append(found, importer+" is not in order.txt: give its room a place there")
			continue
		}
		for _, path := range imports[importer] {
			if s := o.check(importer, room, path); s != "" {
				found = append(found, s)
			}
		}
	}
	return found
}

func (o *order) check(importer, room, path string) string {
	pkg, ours := strings.CutPrefix(path, module+"/")
	if !ours {
		return checkOutside(importer, path)
	}
	target, ok := o.room(pkg)
	switch {
	case !ok:
		return fmt.Sprintf("%s imports %s, which is not in order.txt", importer, pkg)
	case target != room && !o.below[room][target]:
		return fmt.Sprintf("%s imports %s, which is not below it in order.txt: move the code down, or pass what it needs as a value", importer, pkg)
	}
	return ""
}

func checkOutside(importer, path string) string {
	for prefix, importers := range outside {
		if !within(path, prefix) {
			continue
		}
		if !slices.ContainsFunc(importers, func(r string) bool { return within(importer, r) }) {
			return fmt.Sprintf("%s imports %s, which is for %s only", importer, path, strings.Join(importers, ", "))
		}
		return ""
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return fmt.Sprintf("%s imports %s, which nothing but tests may", importer, path)
	}
	return ""
}
