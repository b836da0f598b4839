package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// light are the modules that library packages may import: what programs that use weft carry
// along. Programs of bench, and tests, may import more; hpl/gonum is for programs that have
// gonum, and nothing imports it but programs.
var light = []string{"github.com/klauspost/cpuid/v2", "github.com/sourcegraph/conc", "golang.org/x/sys"}

func TestLibrariesAreLight(t *testing.T) {
	imports := readTree(t).imports()
	seen := 0
	for dir, all := range imports {
		if within(dir, "bench") || within(dir, "examples") {
			continue
		}
		for _, path := range all {
			if foreign(path) {
				seen++
			}
			if heavy(path) && !(dir == "hpl/gonum" && within(path, "gonum.org/v1/gonum")) {
				t.Errorf("%s imports %s: a library carries %s and nothing else", dir, path, strings.Join(light, ", "))
			}
		}
	}
	require.Greater(t, seen, 2, "the test looks in the wrong way")
	require.True(t, heavy("gonum.org/v1/plot/vg"))
	require.True(t, heavy("golang.org/x/system"))
	require.False(t, heavy("golang.org/x/sys/unix"))
	require.False(t, heavy("net/http"))
	require.False(t, heavy(module+"/deps"))
}

// foreign reports whether a package is neither ours nor of the standard library.
func foreign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !within(path, module)
}

func heavy(path string) bool {
	return foreign(path) && !slices.ContainsFunc(light, func(m string) bool { return within(path, m) })
}

// stabilityRow is a row of the table in CHANGELOG.md: packages and their promises.
var stabilityRow = regexp.MustCompile("(?m)^\\| ((?:`[a-z/-]+`(?:, )?)+) \\| ")

// Every package that users can import has its promise in CHANGELOG.md, and no other.
func TestStabilityIsPromised(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	require.NoError(t, err)
	var promised []string
	for _, row := range stabilityRow.FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			promised = append(promised, strings.Trim(name, "`"))
		}
	}
	slices.Sort(promised)
	require.Equal(t, publicPackages(readTree(t)), promised)
}

// publicPackages returns the folders of the packages that other modules can import.
func publicPackages(t *tree) (all []string) {
	for _, f := range t.files {
		hidden := slices.Contains(strings.Split(f.path, "/"), "internal") || within(f.dir(), "bench") || within(f.dir(), "examples")
		if f.library() && !hidden && !slices.Contains(all, f.dir()) {
			all = append(all, f.dir())
		}
	}
	slices.Sort(all)
	return all
}
