package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
)

func smallCorpus(spoil func(map[string][]byte)) (string, error) {
	var out bytes.Buffer
	err := tryCorpus(&corpus{sizes: []int{33, 128}, ranks: []int{2, 3}, spoil: spoil}, &out, &bytes.Buffer{})
	return out.String(), err
}

// Advice changes nothing that it must not, and what it changes gives the same bytes.
// WEFT_LONG=1 runs it; .ci/run runs all programs of the corpus.
func TestCorpus(t *testing.T) {
	if os.Getenv("WEFT_LONG") != "1" {
		t.Skip("WEFT_LONG=1 runs it: it builds and runs programs")
	}
	t.Parallel() // its programs mostly wait for a network
	out, err := smallCorpus(nil)
	require.NoError(t, err, out)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	pairs, ok := report.Parse(lines[len(lines)-1])
	require.True(t, ok)
	number := func(key string) int {
		i, err := strconv.Atoi(pairs[key])
		require.NoError(t, err, key)
		return i
	}
	assert.Zero(t, number("wrong"))
	assert.GreaterOrEqual(t, number("programs"), 40)
	assert.GreaterOrEqual(t, number("keep"), 20)
	assert.GreaterOrEqual(t, number("changeable"), 20)
	assert.GreaterOrEqual(t, number("changed"), 20, out)
	assert.Contains(t, out, "seen 16 times: it has to wait", "the call that meets another one from step 8 on")
}

// The controls: a change that sends something else, and batches that do not compare buffers, are
// found. WEFT_LONG=1 runs it.
func TestCorpus_finds(t *testing.T) {
	if os.Getenv("WEFT_LONG") != "1" {
		t.Skip("WEFT_LONG=1 runs it: it builds and runs the programs twice more")
	}
	out, err := smallCorpus(func(files map[string][]byte) {
		for name, text := range files {
			files[name] = bytes.Replace(text, []byte("mpi.Of(t.part(14)), t.right, 1"), []byte("mpi.Of(t.part(13)), t.right, 1"), 1)
		}
	})
	require.ErrorContains(t, err, "WRONG")
	assert.Contains(t, out, "WRONG: other bytes with 33 on 2 ranks")

	out, err = smallCorpus(func(files map[string][]byte) {
		name, err := filepath.Abs("../../mpi/batch.go")
		require.NoError(t, err)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		files[name] = bytes.Replace(text, []byte("{ return engine.CellsOf(x)"), []byte("{ return false && engine.CellsOf(x)"), 1)
		require.NotEqual(t, text, files[name])
	})
	require.ErrorContains(t, err, "WRONG")
	assert.Regexp(t, `by-(size|ranks|data) +either +changed +WRONG`, out)
}
