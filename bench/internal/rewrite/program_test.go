package rewrite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// output runs the program in testdata/program, with another text for its source if
// that is not nil.
func output(t *testing.T, name string, text []byte) string {
	t.Helper()
	args := []string{"run"}
	if text != nil {
		dir := t.TempDir()
		changed, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
		require.NoError(t, os.WriteFile(changed, text, 0o666))
		table, err := json.Marshal(map[string]any{"Replace": map[string]string{name: changed}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(overlay, table, 0o666))
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, "./testdata/program")...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// The changed program gives the same bytes: data, statuses, errors. The control changes one
// tag by hand, and the bytes are others.
func TestChangedProgramGivesTheSameBytes(t *testing.T) {
	p := load(t, "testdata/program")
	var name string
	var all []*Change
	for n, f := range p.files {
		name = n
		funcs, chains := p.sitesOf(f)
		require.Equal(t, []string{"square", "told", "long", "pairs"}, funcs)
		for _, fn := range funcs {
			changes, refusals := p.Chain(chains[fn], proof)
			require.Len(t, changes, 1, fn)
			require.Empty(t, refusals, fn)
			all = append(all, changes...)
		}
	}
	files, err := p.Apply(all)
	require.NoError(t, err)
	text := string(files[name])
	assert.NotRegexp(t, `\bc(\.Comm)?\.(Sendrecv|Send|Recv)\(`, text)
	want := output(t, name, nil)
	assert.Equal(t, want, output(t, name, files[name]))
	assert.Contains(t, want, "second: ", "an error came through")

	wrong := strings.Replace(text, "Sendrecv(c, mpi.Of(out[:2]), left, 5", "Sendrecv(c, mpi.Of(out[2:4]), left, 5", 1)
	require.NotEqual(t, text, wrong)
	assert.NotEqual(t, want, output(t, name, []byte(wrong)))
}
