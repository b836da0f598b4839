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

// All formats of one hand-made log, and of the logs of two ranks, for a reviewer to read.
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
		for _, known := range []string{".json", ".dot", ".html", ".txt", ".log"} {
			assert.Contains(t, err.Error(), known)
		}
	}
	made, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, made)
	assert.NoError(t, WriteFile(filepath.Join(dir, "RUN.JSON"), cholesky()))
}

// ReadFile returns the written logs without the nil ones; a file without a log, or with
// part of one, is an error.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "run.log")
	logs := twoRanks()
	require.NoError(t, WriteFile(name, append(logs, nil)...))
	got, err := ReadFile(name)
	require.NoError(t, err)
	require.Len(t, got, len(logs))
	for i := range logs {
		assert.Equal(t, logs[i].Workers, got[i].Workers)
		assert.Equal(t, logs[i].Messages, got[i].Messages)
		assert.Equal(t, logs[i].Rank, got[i].Rank)
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	for what, broken := range map[string][]byte{"empty.log": nil, "cut.log": text[:len(text)-1], "no.log": []byte("no log")} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, what), broken, 0o600))
		_, err := ReadFile(filepath.Join(dir, what))
		assert.ErrorContains(t, err, what+" is no log of a run that has ended")
	}
	_, err = ReadFile(filepath.Join(dir, "none.log"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// The check of a name before a run makes no file and changes none.
func TestCheckFile(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.json")
	require.NoError(t, os.WriteFile(there, []byte("kept"), 0o600))
	require.NoError(t, CheckFile(there))
	require.NoError(t, CheckFile(filepath.Join(dir, "new.json")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.json"), 0o700))
	for _, bad := range []string{"folder.json", "none/new.json", "there.json/new.json", "new.pdf"} {
		assert.ErrorContains(t, CheckFile(filepath.Join(dir, bad)), bad)
	}
	text, err := os.ReadFile(there)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(text))
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, all, 2)
}

func TestWriteFileReportsWhereItFailed(t *testing.T) {
	for _, name := range []string{"x.json", "x.dot", "x.html", "x.txt", "x.log"} {
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
	assert.ErrorIs(t, writeLogs(&failing{100}, l), errFull)
	assert.NoError(t, WriteSummary(&failing{1 << 20}, l))
}
