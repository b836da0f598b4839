package mistakes

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// The corpus: each mode's findings on programs with a mistake (wrong_test.go), and no
// complaints about right programs (right_test.go). The test compares the findings with the
// table in README.md; go test -run Corpus -table writes it, with -race its last column.

var writeTable = flag.Bool("table", false, "write the table of README.md")

const (
	tableFile = "README.md"
	seeds     = 12
	raceExit  = 66
	corpusEnv = "WEFT_CORPUS" // the program that a child process runs
)

// trial runs p in one mode and returns its result as text, and its error.
func (p *program) trial(opts ...dataflow.Option) (result string, err error) {
	var read func() any
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		read = p.run(rt)
		return rt.Wait()
	}, opts...)
	return fmt.Sprintf("%+v", flat(read())), err
}

// flat follows pointers, whose addresses differ from run to run.
func flat(x any) any {
	switch x := x.(type) {
	case []any:
		all := make([]any, len(x))
		for i := range x {
			all[i] = flat(x[i])
		}
		return all
	case *int:
		return *x
	case *bool:
		return *x
	case *byte:
		return *x
	case *int8:
		return *x
	case *uint16:
		return *x
	case *float64:
		return *x
	}
	return x
}

// seeded reports whether some seed gives an error or another result than Serial does.
func (p *program) seeded(want string) bool {
	for seed := range uint64(seeds) {
		if got, err := p.trial(dataflow.Seeded(seed + 1)); err != nil || got != want {
			return true
		}
	}
	return false
}

// raced reports whether the race detector complains of one of the programs named, in
// processes of their own.
func raced(t *testing.T, times int, names ...string) bool {
	for range times {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCorpusChild$")
		cmd.Env = append(os.Environ(), corpusEnv+"="+strings.Join(names, "|"), fmt.Sprintf("GORACE=halt_on_error=1 exitcode=%d", raceExit))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() == raceExit {
			return true
		}
		require.NoError(t, err, "%s", out)
	}
	return false
}

// TestCorpusChild is the process in which the race detector looks at programs.
func TestCorpusChild(t *testing.T) {
	names := strings.Split(os.Getenv(corpusEnv), "|")
	for _, p := range slices.Concat(mistakes, rights) {
		if slices.Contains(names, p.name) {
			for range 3 {
				_, _ = p.trial(dataflow.Workers(2), dataflow.Pin(false))
			}
		}
	}
}

// row holds the modes' findings on one program.
type row struct {
	name  string
	found [4]bool // Verify, Seeded, Debug, -race
}

func (r row) String() string {
	cells := make([]any, 1, 5)
	cells[0] = r.name
	for _, f := range r.found {
		cell := ""
		if f {
			cell = "yes"
		}
		cells = append(cells, cell)
	}
	return fmt.Sprintf("| %-52s | %-6s | %-6s | %-5s | %-5s |", cells...)
}

// written returns the rows of README.md.
func written(t *testing.T) (rows map[string]row, text string) {
	src, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	rows = map[string]row{}
	for line := range strings.Lines(string(src)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			continue
		}
		r := row{name: strings.TrimSpace(cells[1])}
		for i := range r.found {
			r.found[i] = strings.TrimSpace(cells[i+2]) == "yes"
		}
		rows[r.name] = r
	}
	return rows, string(src)
}

func TestCorpus_of_mistakes(t *testing.T) {
	if invariant.Enabled {
		t.Skip("the table is of a build without invariants: with them every mode fills Outputs with a pattern")
	}
	rows, text := written(t)
	var table []row
	verified, union := 0, 0
	for _, p := range mistakes {
		t.Run(p.name, func(t *testing.T) {
			r := row{name: p.name, found: rows[p.name].found}
			want, _ := p.trial(dataflow.Serial())
			_, err := p.trial(dataflow.Verify())
			r.found[0] = err != nil
			r.found[1] = p.seeded(want)
			_, err = p.trial(dataflow.Debug(), dataflow.Workers(1)) // two would race
			r.found[2] = err != nil
			if invariant.Race && (r.found[3] || *writeTable) { // a race that is not seen may be there
				times := 10
				if *writeTable {
					times = 4
				}
				r.found[3] = raced(t, times, p.name)
			}
			if !*writeTable {
				assert.Equal(t, rows[p.name].String(), r.String(), "the table of %s is out of date: go test -run Corpus -table", tableFile)
			}
			table = append(table, r)
			if r.found[0] {
				verified++
			}
			if slices.Contains(r.found[:], true) {
				union++
			}
		})
	}
	if *writeTable {
		writeRows(t, text, table)
	}
	n := len(mistakes)
	assert.GreaterOrEqual(t, n, 30)
	assert.Contains(t, text, fmt.Sprintf("Of %d mistakes Verify finds %d, and all modes together %d.", n, verified, union))
	assert.GreaterOrEqual(t, verified, 27)
	assert.GreaterOrEqual(t, 30*union, 27*n)
}

// writeRows replaces the table in text.
func writeRows(t *testing.T, text string, table []row) {
	before, rest, _ := strings.Cut(text, "| --- |")
	_, rest, _ = strings.Cut(rest, "\n")
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	var b strings.Builder
	b.WriteString(before + "| --- | --- | --- | --- | --- |\n")
	for _, r := range table {
		fmt.Fprintln(&b, r)
	}
	require.NoError(t, os.WriteFile(tableFile, []byte(b.String()+rest), 0o666))
}

// The control: no mode complains of a right program, and all compute the same.
func TestCorpus_of_right_programs(t *testing.T) {
	assert.GreaterOrEqual(t, len(rights), 20)
	for _, p := range rights {
		t.Run(p.name, func(t *testing.T) {
			want, err := p.trial(dataflow.Serial())
			fails := err != nil // on purpose, everywhere
			if fails {
				assert.Contains(t, err.Error(), "deliberate")
			}
			modes := map[string][]dataflow.Option{
				"Verify": {dataflow.Verify()}, "Debug 1": {dataflow.Debug(), dataflow.Workers(1)}, "Debug 2": {dataflow.Debug(), dataflow.Workers(2)},
			}
			for seed := range uint64(seeds) {
				modes[fmt.Sprintf("Seeded(%d)", seed+1)] = []dataflow.Option{dataflow.Seeded(seed + 1)}
			}
			for name, opts := range modes {
				got, err := p.trial(opts...)
				if name != "Verify" || !invariant.Enabled { // a failed body leaves the old value under Verify, the pattern elsewhere
					assert.Equal(t, want, got, name)
				}
				assert.Equal(t, fails, err != nil, "%s: %v", name, err)
				if err != nil {
					assert.NotContains(t, err.Error(), "verify:", name)
				}
			}
		})
	}
	if invariant.Race {
		var names []string
		for _, p := range rights {
			names = append(names, p.name)
		}
		assert.False(t, raced(t, 1, names...), "a race")
	}
}
