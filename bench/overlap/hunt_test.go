package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread/dds"
)

// hunted runs -reading, small.
func hunted(t *testing.T, args string, tamper func([]byte)) (string, error) {
	t.Helper()
	c, err := parseArgs(strings.Fields("-reading -reps 1 -bytes 65536 " + args))
	require.NoError(t, err)
	c.asleep, c.tamper = 10*time.Millisecond, tamper
	var out, progress bytes.Buffer
	err = huntMode(&out, &progress, c)
	return out.String(), err
}

// canForce reports whether readers can be made to wait here.
func canForce(t *testing.T) bool {
	t.Helper()
	a, err := dds.NewArena(1)
	require.NoError(t, err)
	name, _ := a.Backend()
	require.NoError(t, a.Close())
	return name == dds.Uffd
}

func TestHunt(t *testing.T) {
	for _, mode := range []string{ddsOff, ddsAuto, ddsForce} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			out, err := hunted(t, "-dds "+mode+" -out "+dir, nil)
			if mode == ddsForce && !canForce(t) {
				require.ErrorContains(t, err, "no reader can be made to wait here")
				return
			}
			require.NoError(t, err, out)
			cases := map[string]int{}
			for line := range strings.Lines(out) {
				if pairs, ok := report.Parse(line); ok {
					cases[pairs["case"]]++
					assert.Equal(t, mode, pairs["dds"])
				}
			}
			want := map[string]int{"start-up": 1, "arm-retire-1MiB-first-pages": 1, "table2": 2, "touch-arrived": 1, "overlap": 3, "ft": 4, "total": 1}
			if mode == ddsForce {
				want["collection"] = 2
				want["spare-worker"] = 1
				assert.Positive(t, report.Figures(out, "strips")[0])
			}
			if mode == ddsOff {
				assert.Zero(t, report.Figures(out, "strips")[0])
			}
			assert.Equal(t, want, cases)
			assert.Equal(t, []float64{4096, 16384, 65536}, report.Figures(out, "bytes"))
			for _, name := range []string{"hunt-self-induced", "hunt-independent"} {
				f, err := os.Open(filepath.Join(dir, name+".csv"))
				require.NoError(t, err)
				lines, err := chart.ReadLines(f)
				require.NoError(t, err)
				assert.Len(t, lines.Series[0].X, 3)
				require.NoError(t, f.Close())
				assertPicture(t, filepath.Join(dir, name+".svg"), mode)
			}
			assertPicture(t, filepath.Join(dir, "hunt-ft.svg"), mode)
		})
	}
}

// assertPicture sees that a picture says where it was measured.
func assertPicture(t *testing.T, path, mode string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, want := range []string{"machine: ", "network 10gige", "dds " + mode} {
		assert.True(t, strings.Contains(string(text), want), want)
	}
}

// A received byte that differs from the sent one is found.
func TestHunt_finds_damage(t *testing.T) {
	out, err := hunted(t, "-dds auto", func(b []byte) { b[len(b)-1]++ })
	require.ErrorContains(t, err, "number 131071 of the transfer is")
	assert.Equal(t, 1, codeOf(err))
	assert.NotContains(t, out, "result ")
}

// A folder that cannot be written to is found before anything is measured.
func TestHunt_needs_a_folder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	out, err := hunted(t, "-out "+file, nil)
	require.ErrorContains(t, err, "-out: ")
	assert.Empty(t, out)
}

func TestHunt_usage(t *testing.T) {
	for args, complaint := range map[string]string{
		"-reading -both":           "drop mpirun",
		"-reading -ranks 4":        "drop mpirun",
		"-reading -bytes 100":      "sizes begin at 4096",
		"-reading -dds on":         "off, auto or force",
		"-dds off":                 "for -reading",
		"-out here":                "for -reading",
		"-reading -variants plain": "plain",
	} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, exitCode(strings.Fields(args), &out, &complaints), args)
		assert.Contains(t, complaints.String(), complaint, args)
	}
}

func TestSpell(t *testing.T) {
	window := spell{10, 20}
	assert.Equal(t, 1.0, spell{12, 14}.within(window))
	assert.Equal(t, 0.5, spell{18, 22}.within(window))
	assert.Zero(t, spell{20, 22}.within(window))
	assert.Zero(t, spell{}.within(window))
}

func TestLongest(t *testing.T) {
	before := pauses()
	assert.Zero(t, longest(before, before))
	after := pauses()
	after.Counts[3]++
	assert.Equal(t, after.Buckets[4], longest(before, after))
}
