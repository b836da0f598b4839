package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake is a machine on which nothing runs: it has some programs, and answers for them.
type fake struct {
	programs []string                                     // that are in PATH
	answer   func(name string, c command) (string, error) // name is the last part of the path of what runs
	ran      []string
}

func (f *fake) find(name string) (string, error) {
	if slices.Contains(f.programs, name) {
		return "/bin/" + name, nil
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func (f *fake) output(c command) (string, error) {
	name := filepath.Base(c.argv[0])
	if name == "mpirun" && len(c.argv) > 3 {
		name = filepath.Base(c.argv[3])
	}
	f.ran = append(f.ran, name)
	if f.answer == nil {
		return "", errors.New(name + ": it does nothing")
	}
	return f.answer(name, c)
}

// everything is a machine with all peers, on which all programs answer something right.
func everything() *fake {
	return &fake{programs: []string{"mpirun", "mpicc", "cc", "hpcc", "xhpl", "ft.S.x", "pkg-config"}, answer: right}
}

// right is what each program would print.
func right(name string, c command) (string, error) {
	switch name {
	case "ldd":
		return "libopenblas.so.0 => /usr/lib/libopenblas.so.0\nlibmpi.so.40", nil
	case "weft-xhpl":
		return "result gflops_best=100 gflops_median=90\n", nil
	case "weft-npbft":
		return "result mops_median=5000\n", nil
	case "weft-blas", "weft-fft":
		return "result isa=avx512 gflops_median=100\n", nil
	case "weft-taskbench":
		return "result us_per_task_median=0.5 gflops_best=7\n", nil
	case "weft-osu", "weft-osu-mpi", "pingpong":
		return "result latency_us=0.25\nversion Open MPI v4\n", nil
	case "gemm", "fftw", "fftwthreads":
		return "result gflops_median=50 kernel=Haswell\nversion 1.2\n", nil
	case "omptasks-cc", "omptasks-clang", "starputasks-cc":
		return "result us_per_task=2 kernel_gflops=6\nversion 3\n", nil
	case "nasft":
		return sums(nil), nil
	case "ft.S.x":
		return npb("SUCCESSFUL"), nil
	case "xhpl":
		return oneHPL("PASSED"), nil
	case "hpcc":
		return "", writeHPCC(c.dir, "PASSED")
	}
	return "a line\n", nil // compilers, versions
}

// testBench is a bench on a fake machine with two cores.
func testBench(t *testing.T, tools tools, pairs int) *bench {
	t.Helper()
	c, err := parseArgs([]string{"-quick", "-pairs", fmt.Sprint(pairs), "-out", filepath.Join(t.TempDir(), "out")})
	require.NoError(t, err)
	b, err := newBench(t.Context(), c, io.Discard)
	require.NoError(t, err)
	t.Cleanup(b.close)
	b.tools, b.cores = tools, 2
	return b
}

// npb is the end of an output of NPB 3.4, after the format of its print_results.
func npb(verification string) string {
	return strings.ReplaceAll(`
 FT Benchmark Completed
 Class           =                        S
 Size            =             64x  64x  64
 Iterations      =                        6
 Time in seconds =                     0.02
 Total processes =                        2
 Mop/s total     =                  7517.04
 Mop/s/process   =                  3758.52
 Operation type  =           floating point
 Verification    =               SUCCESSFUL
 Version         =                    3.4.1
`, "SUCCESSFUL", verification)
}

// sums is the output of our FT on FFTW for class S; change, if there is one, is made to
// its checksums.
func sums(change func(t int, sum complex128) complex128) string {
	text := "result mops_median=2000\n"
	for i, sum := range classS {
		if change != nil {
			sum = change(i+1, sum)
		}
		text += fmt.Sprintf("checksum %d %.16e %.16e\n", i+1, real(sum), imag(sum))
	}
	return text
}

// classS is what our FT on FFTW has printed.
var classS = []complex128{
	554.60870049639277 + 484.53633319777515i, 554.63854091896769 + 486.53042695108701i, 554.61484061707620 + 488.39107223366318i,
	554.54236074148412 + 490.12731690463630i, 554.42550396240472 + 491.74758579931620i, 554.26834119025716 + 493.25972449408300i,
}

// oneHPL is the part of an output of HPL that has the result.
func oneHPL(verdict string) string {
	return `T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4        1000   192     1     2               0.01              4.012e+01
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0027586 ...... ` + verdict + "\n"
}
