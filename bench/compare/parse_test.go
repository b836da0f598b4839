package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/bench/internal/report"
)

func writeHPCC(dir, verdict string) error {
	return os.WriteFile(filepath.Join(dir, "hpccoutf.txt"), []byte(oneHPL(verdict)+"SingleDGEMM_Gflops=55.5\n"), 0o600)
}

// captured is an output of hpcc 1.5 on two ranks, without the sections of its other
// benchmarks.
func captured(t *testing.T) string {
	text, err := os.ReadFile("testdata/hpccoutf.txt")
	require.NoError(t, err)
	return string(text)
}

func TestParseHPL_reads_what_hpcc_has_written(t *testing.T) {
	text := captured(t)
	v, err := parseHPL(text)
	require.NoError(t, err)
	assert.Contains(t, text, "HPL_Tflops=0."+strings.ReplaceAll(strings.TrimRight(decimal(v.value/1000), "0"), "0.", "")[:4], "its own summary says the same")
	rate, err := parseHPCCKernel(text)
	require.NoError(t, err)
	assert.InDelta(t, 57, rate, 10)
}

func TestParseHPL_refuses_what_is_no_result(t *testing.T) {
	text := captured(t)
	for name, bad := range map[string]string{
		"empty":         "",
		"cut off":       text[:strings.Index(text, "||Ax-b||")],
		"two results":   text + oneHPL("PASSED"),
		"no line":       strings.ReplaceAll(text, "\nWR", "\nXX"),
		"no number":     strings.Replace(oneHPL("PASSED"), "4.012e+01", "much", 1),
		"other program": "hello\n",
	} {
		_, err := parseHPL(bad)
		assert.Error(t, err, name)
	}
	_, err := parseHPL(strings.Replace(text, "...... PASSED", "...... FAILED", 1))
	assert.ErrorIs(t, err, errResidual)
	_, err = parseHPCCKernel("StarDGEMM_Gflops=3")
	assert.ErrorIs(t, err, errNone)
}

func TestParseNPB(t *testing.T) {
	v, err := parseNPB(npb("SUCCESSFUL"))
	require.NoError(t, err)
	assert.Equal(t, 7517.04, v.value)
	for _, verdict := range []string{"UNSUCCESSFUL", "NOT PERFORMED"} {
		_, err = parseNPB(npb(verdict))
		assert.ErrorIs(t, err, errUnverified)
	}
	_, err = parseNPB(" Mop/s total     =                  7517.04\n")
	assert.ErrorIs(t, err, errNone)
}

func TestVerifyFT(t *testing.T) {
	class, err := nas.Named("S")
	require.NoError(t, err)
	require.NoError(t, verifyFT(sums(nil), class))
	wrong := sums(func(t int, sum complex128) complex128 {
		if t == 4 {
			sum *= 1 + 1e-9
		}
		return sum
	})
	assert.ErrorIs(t, verifyFT(wrong, class), errUnverified)
	assert.ErrorIs(t, verifyFT("", class), errNone)
	assert.ErrorIs(t, verifyFT(strings.Replace(sums(nil), "checksum 2", "checksum 3", 1), class), errNone)
	assert.Error(t, verifyFT(strings.Replace(sums(nil), "e+02", "e+99999", 1), class))
}

func TestResultFigure(t *testing.T) {
	v, err := resultFigure("machine: x\nresult a=1 gflops=3 kernel_gflops=7\n", "gflops_median", "gflops")
	require.NoError(t, err)
	assert.Equal(t, sample{value: 3, kernel: 7}, v)
	_, err = resultFigure("result a=1\n", "b")
	assert.ErrorIs(t, err, errNone)
	_, err = resultFigure("result a=1\nresult a=2\n", "a")
	assert.ErrorContains(t, err, "one was expected")
	_, err = resultFigure("the result a=1\n", "a")
	assert.ErrorIs(t, err, errNone)
}

func TestHPLInput_has_the_lines_of_HPL_dat(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(hplInput(6, 4000), "\n"), "\n")
	require.Len(t, lines, 31)
	for number, want := range map[int]string{4: "6", 6: "4000", 8: "192", 11: "2", 12: "3", 13: "16.0", 25: "1", 27: "64", 31: "8"} {
		assert.Equal(t, want, strings.Fields(lines[number-1])[0], "line %d", number)
	}
}

func TestGrid(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 1}, 2: {1, 2}, 4: {2, 2}, 6: {2, 3}, 7: {1, 7}, 12: {3, 4}} {
		p, q := grid(n)
		assert.Equal(t, want, [2]int{p, q}, n)
	}
}

func TestBLASOf(t *testing.T) {
	for text, want := range map[string]string{"libopenblas.so.0": "OpenBLAS", "libmkl_core.so": "MKL", "libblas.so.3": "reference BLAS", "libc.so.6": "unknown BLAS (linked statically)"} {
		b := &bench{tools: &fake{answer: func(string, command) (string, error) { return text, nil }}}
		assert.Equal(t, want, b.blasOf("xhpl"))
	}
	assert.Contains(t, (&bench{tools: &fake{}}).blasOf("xhpl"), "unknown")
}

func TestVersionsOfPrograms(t *testing.T) {
	b := &bench{tools: &fake{answer: func(_ string, c command) (string, error) {
		switch strings.Join(c.argv[:2], " ") {
		case "ldd /usr/bin/hpcc":
			return "\tlibblas.so.3 => /none/libblas.so.3 (0x1)\n\tlibopenblas.so.0 => /none/libopenblas.so.0 (0x2)\n", nil
		case "dpkg-query -S":
			return "hpcc: /usr/bin/hpcc\n", nil
		case "dpkg-query -W":
			return "1.5.0-3", nil
		}
		return "", errors.New("unknown")
	}}}
	assert.Equal(t, "libopenblas.so.0", b.blasFile("/usr/bin/hpcc"), "not that of the name that is a link")
	assert.Equal(t, "hpcc 1.5.0-3", b.packageOf("/usr/bin/hpcc"))
	assert.Empty(t, b.blasFile("/usr/bin/other"))
	b.tools = &fake{}
	assert.Equal(t, "unknown version", b.packageOf("/usr/bin/hpcc"))
	assert.Equal(t, "an unknown commit", b.treeLine())
}

func TestIsOurs(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	assert.True(t, isOurs(self))
	assert.False(t, isOurs("testdata/hpccoutf.txt"))
	assert.False(t, isOurs("testdata/none"))
}

func TestResultLines_can_be_read(t *testing.T) {
	o := twoSides(false, []float64{10, 20, 30}, []float64{5, 5, 5})
	for _, line := range o.lines("hpl") {
		var text strings.Builder
		report.Line(&text, line...)
		pairs, ok := report.Parse(text.String())
		require.True(t, ok)
		assert.Equal(t, "4", pairs["advantage_median"])
		assert.Equal(t, "2", pairs["advantage_least"])
		assert.NotContains(t, pairs, "peer_kernel_gflops", "nothing measured it")
	}
}
