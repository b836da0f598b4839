package layout

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	variableName = regexp.MustCompile(`^WEFT_[A-Z_]+$`)
	tableRow     = regexp.MustCompile("(?m)^\\| `(WEFT_[A-Z_]+)` \\|")
)

// ofChildren are variables by which a test tells a process that it starts what to do.
var ofChildren = map[string]bool{
	"WEFT_CORPUS": true, "WEFT_WORLD_TEST": true, "WEFT_DDS_CHILD": true, "WEFT_TASKBENCH_CHILD": true, "WEFT_TEST_CHILD": true,
}

// Every variable of the environment that the tree reads has a row in the table of
// tasks/README.md, and every row a variable. Names stand whole in the source: a reading of
// os.Getenv with a name that is put together would not be found.
func TestEnvironmentIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "tasks/README.md"))
	require.NoError(t, err)
	told := map[string]bool{}
	for _, m := range tableRow.FindAllStringSubmatch(string(text), -1) {
		told[m[1]] = true
	}
	read := variablesOf(readTree(t).files)
	require.Greater(t, len(read), 8, "the test looks in the wrong way")
	for name, place := range read {
		if !told[name] && !ofChildren[name] {
			t.Errorf("%s: tasks/README.md does not explain %s", place, name)
		}
	}
	for name := range told {
		if read[name] == "" {
			t.Errorf("tasks/README.md explains %s, which nothing reads", name)
		}
	}
}

// variablesOf returns the names of variables in string literals, with the file of each.
func variablesOf(files []*file) map[string]string {
	found := map[string]string{}
	for _, f := range files {
		if f.dir() == "internal/layout" {
			continue // names of this test
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if name, err := strconv.Unquote(lit.Value); err == nil && variableName.MatchString(name) {
					found[name] = f.path
				}
			}
			return true
		})
	}
	return found
}

func TestVariablesAreFound(t *testing.T) {
	src := "package p\n\nconst v = \"WEFT_NEW\"\n\nvar x = []string{`WEFT_OTHER`, \"WEFT_NEW=1\", \"see WEFT_THIS\", \"weft\"}\n"
	found := variablesOf([]*file{{path: "p.go", ast: parseText(t, token.NewFileSet(), "p.go", src)}})
	require.Equal(t, map[string]string{"WEFT_NEW": "p.go", "WEFT_OTHER": "p.go"}, found)
	require.Equal(t, []string{"WEFT_A"}, tableRow.FindStringSubmatch("| `WEFT_A` | b |")[1:])
}
