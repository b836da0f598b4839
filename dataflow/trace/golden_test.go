package trace

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// All formats of one hand-made log, and of those of two ranks, for a reviewer to
// read.
func TestGolden(t *testing.T) {
	dir := t.TempDir()
	for _, extension := range []string{".json", ".dot", ".txt"} {
		require.NoError(t, WriteFile(filepath.Join(dir, "cholesky"+extension), cholesky()))
		require.NoError(t, WriteFile(filepath.Join(dir, "halo"+extension), twoRanks()...))
	}
	made, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, made, 6)
	for _, f := range made {
		got, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		golden := filepath.Join("testdata", f.Name())
		if *update {
			require.NoError(t, os.WriteFile(golden, got, 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s differs; if it should, run the test with -update", f.Name())
	}
}

func TestWriteFileRefusesOtherExtensions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run", "run.csv", "run.json.gz", ".", "run.prv"} {
		err := WriteFile(filepath.Join(dir, name), cholesky())
		require.Error(t, err, name)
		for _, known := range []string{".json", ".dot", ".html", ".txt"} {
			assert.Contains(t, err.Error(), known)
		}
	}
	made, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, made)
	assert.NoError(t, WriteFile(filepath.Join(dir, "RUN.JSON"), cholesky()))
}

func TestWriteFileReportsWhereItFailed(t *testing.T) {
	for _, name := range []string{"x.json", "x.dot", "x.html", "x.txt"} {
		err := WriteFile(filepath.Join(t.TempDir(), "missing", name), cholesky())
		require.ErrorIs(t, err, os.ErrNotExist)
		assert.Contains(t, err.Error(), "missing")
	}
}

// failing accepts some bytes and then fails.
type failing struct{ left int }

var errFull = errors.New("disk full")

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWriteErrorsAreReported(t *testing.T) {
	l := cholesky()
	assert.ErrorIs(t, WriteChrome(&failing{100}, l), errFull)
	assert.ErrorIs(t, WriteDOT(&failing{100}, l), errFull)
	assert.ErrorIs(t, WriteHTML(&failing{100}, l), errFull)
	assert.ErrorIs(t, WriteSummary(&failing{100}, l), errFull)
	assert.NoError(t, WriteSummary(&failing{1 << 20}, l))
}
