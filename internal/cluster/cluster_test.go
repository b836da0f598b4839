package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const small = `{"nodes": 2, "cores": 4, "network": "gige"`

func TestParse(t *testing.T) {
	m, err := Parse([]byte(small + `, "name": "x", "eager": 5, "inside": "L=1us", "speed": 0.5, "noise_every": "10ms", "noise_length": "100us", "sleeper": "20us",
		"kernels": {"gflops": 10, "efficiency": 0.5, "half": 1, "memory": 2, "cached": 1, "call": 0}}`))
	require.NoError(t, err)
	assert.Equal(t, 125e6, m.Network.Bandwidth)
	assert.Equal(t, 5, *m.Eager)
	assert.Equal(t, 100*time.Microsecond, m.NoiseLength.Duration)
	assert.Equal(t, 0.5, m.Kernels.Efficiency)
	assert.Contains(t, m.String(), "x: 2 nodes with 4 cores, network gige")
}

func TestParse_errors(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "ends before the closing brace",
		`{"nodes": 2, "cores"`:        "ends before the closing brace",
		`[1, 2]`:                      "a JSON array and not an object",
		`{"nodes": 2,` + "\n" + `,}`:  "line 2",
		`{"nodes": "2"}`:              `line 1: "nodes" is a JSON string: it is of type int`,
		`{"node": 2}`:                 `no field "node"`,
		`{"nodes": 0}`:                `"nodes" is 0`,
		`{"nodes": 1}`:                `"cores" is 0`,
		`{"nodes": 1, "cores": 2000}`: `"cores" is 2000`,
		`{"nodes": 1, "cores": 1}`:    `"network" is missing`,
		`{"nodes": 1, "cores": 1, "network": "fast"}`:                                                   `"fast" is no preset`,
		small + `, "eager": -1}`:                                                                        `"eager" is -1`,
		small + `, "speeds": [1, 0]}`:                                                                   `"speeds" has 0`,
		small + `, "copy": -1}`:                                                                         `"copy" is -1`,
		small + `, "speed": -1}`:                                                                        `"speed" is -1`,
		small + `, "kernels": {"gflops": 1}}`:                                                           `"efficiency" is 0`,
		small + `, "kernels": {"gflops": 1, "efficiency": 2, "memory": 1}}`:                             `"efficiency" is 2`,
		small + `, "kernels": {"gflops": -1, "efficiency": 1, "memory": 1}}`:                            `"gflops" is -1`,
		small + `, "kernels": {"gflops": 1, "efficiency": 1, "call": 1}}`:                               `"memory" is 0`,
		small + `, "kernels": {"gflops": 1, "efficiency": 1, "memory": 1, "cached": 1, "spread": 0.5}}`: `"spread" is 0.5: it is from 0 to 0.3`,
		small + `, "waker": "-1us"}`:                                                                    "it is at least 0",
		small + `, "waker": "soon"}`:                                                                    "invalid duration",
		small + `, "noise_every": "1ms", "noise_length": "2ms"}`:                                        `"noise_length" is 2ms: it is at most half`,
		small + `, "spawn": "2h"}`:                                                                      `"spawn" is 2h0m0s`,
		small + `} x`:                                                                                   "after the closing brace",
	} {
		_, err := Parse([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func TestLoad(t *testing.T) {
	for _, name := range Presets() {
		m, err := Load(name)
		require.NoError(t, err)
		require.NoError(t, m.check(), name)
		text, err := json.Marshal(m) // a preset is a machine file
		require.NoError(t, err)
		again, err := Parse(text)
		require.NoError(t, err, name)
		assert.Equal(t, m.String(), again.String())
		assert.NotEmpty(t, m.Source)
	}
	_, err := Load("nowhere")
	assert.ErrorContains(t, err, "there is no such preset (cluster, elan3, elan4, infiniband, js21, myrinet)")
	_, err = Load("no/where.json")
	assert.ErrorContains(t, err, "no such file")
	file := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(file, []byte(small+"}"), 0o600))
	m, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, file, m.Name)
}

func TestPlace(t *testing.T) {
	m, err := Load("js21")
	require.NoError(t, err)
	for ranks, want := range map[int]int{1: 1, 128: 1, 129: 2, 512: 4} {
		n, err := m.Place(ranks, 1)
		require.NoError(t, err)
		assert.Equal(t, want, n, ranks)
	}
	_, err = m.Place(513, 1)
	assert.ErrorContains(t, err, "do not fit")
	_, err = m.Place(256, 4)
	assert.ErrorContains(t, err, "do not fit")
}
