package advise

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleRun is a run with one chain of two calls on two ranks.
func sampleRun() *Run {
	pattern := func(rank int) Pattern {
		p := Pattern{Rank: rank, Seen: 10}
		for call := range 2 {
			p.Requests = append(p.Requests,
				Message{Call: call, Recv: true, Peer: 1 - rank, Tag: call, Blocks: 1, Block: 1000, Stride: 1000},
				Message{Call: call, Peer: 1 - rank, Tag: call, Blocks: 1, Block: 1000, Stride: 1000})
		}
		return p
	}
	return &Run{Program: "p", Ranks: 2, Seconds: 1,
		Network: Network{Points: []Point{{8, 1e-3}, {1008, 2e-3}, {2008, 3e-3}}},
		Sites:   []Site{{API: "Sendrecv", Func: "main.f", File: "f.go", Line: 3}, {API: "Sendrecv", Func: "main.f", File: "f.go", Line: 6}},
		Chains: []Chain{{Sites: []int{0, 1}, Ranks: []int{0, 1}, Count: 10, Even: true, Calls: []float64{2e-3, 2e-3}, Gaps: []float64{0, 0}, Movable: []int{0, 0},
			Written: Summary{N: 20, Mean: 4e-3}, Patterns: []Pattern{pattern(0), pattern(1)}, Successor: -1}},
	}
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	want := sampleRun()
	require.NoError(t, WriteFile(name, want))
	got, err := ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	want.Ranks = 3
	require.NoError(t, WriteFile(name, want), "over what is there")
	got, err = ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, 3, got.Ranks)
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file stays")
	_, err = ReadFile(name + "x")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Whatever is not the file that was written is refused, with a message that says why.
func TestFile_damaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, WriteFile(name, sampleRun()))
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	text := string(whole)
	refused := func(says, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		_, err := ReadFile(name)
		require.ErrorIs(t, err, ErrFile, text)
		assert.ErrorContains(t, err, says)
		assert.ErrorContains(t, err, name)
	}
	for n := 1; n < len(text)-2; n += 7 {
		refused("cut short", text[:n])
	}
	refused("empty", "")
	refused("empty", " \n")
	refused("no results file", "garbage")
	refused(`format is ""`, "{}")
	refused("format", strings.Replace(text, "weft-advise", "west-advise", 1))
	refused("version is 9", strings.Replace(text, `"version":1`, `"version":9`, 1))
	refused("checksum", strings.Replace(text, `"ranks":2`, `"ranks":4`, 1))
	refused("checksum", strings.Replace(text, "main.f", "main.g", 1))
	for says, damage := range map[string]func(*Run){
		"ranks":       func(r *Run) { r.Ranks = 0 },
		"site 7":      func(r *Run) { r.Chains[0].Sites[1] = 7 },
		"patterns":    func(r *Run) { r.Chains[0].Patterns = nil },
		"followed by": func(r *Run) { r.Chains[0].Successor = 1 },
		"measured":    func(r *Run) { r.Chains[0].Trial = &Trial{Written: []float64{1}} },
		"race":        func(r *Run) { r.Races = []Race{{Request: 1, Other: 2}} },
		"collective":  func(r *Run) { r.Collectives = []Place{{Site: 9}} },
		"calls":       func(r *Run) { r.Chains[0].Calls = nil },
	} {
		r := sampleRun()
		damage(r)
		require.NoError(t, WriteFile(name, r))
		_, err := ReadFile(name)
		require.ErrorContains(t, err, says)
	}
	refused("", "[]")
	require.NoError(t, os.WriteFile(name, whole, 0o666))
	_, err = ReadFile(name)
	require.NoError(t, err, "the control: the file itself is read")
}

func TestUnchanged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.go")
	require.NoError(t, os.WriteFile(name, []byte("package x\n"), 0o666))
	r := &Run{Sites: []Site{{File: name}, {File: name}, {File: "none.go"}}}
	r.Sources = sources(r.Sites)
	require.Len(t, r.Sources, 2)
	assert.True(t, r.Unchanged(name))
	assert.False(t, r.Unchanged("none.go"))
	require.NoError(t, os.WriteFile(name, []byte("package y\n"), 0o666))
	assert.False(t, r.Unchanged(name))
}

func TestFromEnvironment(t *testing.T) {
	t.Setenv(FileVariable, "")
	o, err := FromEnvironment()
	require.NoError(t, err)
	assert.Nil(t, o)
	t.Setenv(FileVariable, "x.json")
	t.Setenv(SizeVariable, "256")
	o, err = FromEnvironment()
	require.NoError(t, err)
	assert.Equal(t, "x.json", o.File)
	assert.Equal(t, 256.0, o.Size)
	for text, want := range map[string]time.Duration{"": 0, "0": -1, "300ms": 300 * time.Millisecond} {
		t.Setenv(RehearseVariable, text)
		o, err = FromEnvironment()
		require.NoError(t, err)
		assert.Equal(t, want, o.Rehearse)
	}
	for _, bad := range []string{"5", "-1s", "long"} {
		t.Setenv(RehearseVariable, bad)
		_, err = FromEnvironment()
		assert.ErrorContains(t, err, RehearseVariable, bad)
	}
	t.Setenv(RehearseVariable, "")
	for _, bad := range []string{"x", "0", "-1", "NaN"} {
		t.Setenv(SizeVariable, bad)
		_, err = FromEnvironment()
		assert.ErrorContains(t, err, SizeVariable, bad)
	}
}
