package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The C programs check their results: as they are they succeed, and with a mistake in
// them they fail.
func TestPeers_check_their_results(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C programs; run without -short")
	}
	for _, p := range []struct {
		name, key string
		flags     []string
		args      []string
		from, to  string // the mistake
		file      string // that has it
	}{
		{"gemm", "gflops_median", []string{"-lopenblas", "-lm"}, []string{"65", "33", "17", "2"}, "m, n, k, -1, a", "m, n, k, -1.001, a", "gemm.c"},
		{"fftw", "gflops_median", []string{"-lfftw3", "-lm"}, []string{"interleaved", "20", "3", "2"}, "[i] / length", "[i] / (length + 1e-6)", "fftw.c"},
		{"fftw", "gflops_median", []string{"-lfftw3", "-lm"}, []string{"dims", "4", "6", "8", "2"}, "[i] / length", "[i] / (length + 1e-6)", "fftw.c"},
		{"omptasks", "us_per_task", []string{"-fopenmp"}, []string{"5", "40", "100", "1"}, "->place = x;", "->place = x + (t == 7);", "stencil.h"},
	} {
		t.Run(p.name+" "+p.args[0], func(t *testing.T) {
			b := testBench(t, installed{t.Context()}, 1)
			program, err := b.compile(p.name, "cc", p.flags...)
			if err != nil {
				t.Skipf("the peer cannot be compiled here: %v", err)
			}
			v, err := b.figure(command{argv: append([]string{program}, p.args...)}, p.key)
			require.NoError(t, err)
			assert.Positive(t, v.value)
			wrong := damaged(t, b, p.name, p.file, p.from, p.to, p.flags)
			assert.Error(t, exec.Command(wrong, p.args...).Run(), "the mistake is not found")
			assert.Error(t, exec.Command(program).Run(), "no arguments")
		})
	}
}

// damaged compiles a program with a mistake.
func damaged(t *testing.T, b *bench, name, file, from, to string, flags []string) string {
	t.Helper()
	path := filepath.Join(b.dir, "c", file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), from)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), from, to)), 0o600))
	out := filepath.Join(b.dir, "damaged")
	said, err := exec.Command("cc", append([]string{"-O2", "-o", out, filepath.Join(b.dir, "c", name+".c")}, flags...)...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return out
}

func TestInstalled_says_why_a_command_failed(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	text, err := installed{t.Context()}.output(command{argv: []string{sh, "-c", "echo out; echo broken >&2; exit 3"}})
	assert.Equal(t, "out\n", text)
	assert.ErrorContains(t, err, "broken")
	assert.ErrorContains(t, err, "exit status 3")
	text, err = installed{t.Context()}.output(command{argv: []string{sh, "-c", "pwd; echo $MINE $OPENBLAS_NUM_THREADS"}, dir: "/", env: []string{"MINE=7"}})
	require.NoError(t, err)
	assert.Equal(t, "/\n7 1\n", text)
	_, err = installed{t.Context()}.find("no such program, surely")
	assert.ErrorIs(t, err, exec.ErrNotFound)
}
