package hplrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// ran holds the output of a run of the program.
type ran struct {
	code        int
	out, errors string
}

// launch runs p as its main does. Words of args are separated by blanks.
func launch(p Program, args string) ran {
	var out, complaints bytes.Buffer
	p.Name = "xhpl"
	err := p.Run(strings.Fields(args), &out, &complaints)
	code := 0
	if err != nil {
		fmt.Fprintln(&complaints, err)
		code = 1
		if errors.Is(err, world.ErrUsage) {
			code = 2
		}
	}
	return ran{code, out.String(), complaints.String()}
}

// faked solves nothing: each run ends with the next of the results, on all ranks.
func faked(results ...hpl.Result) Program {
	var mu sync.Mutex
	calls := map[int]int{} // per rank
	return Program{solve: func(c *mpi.Comm, _ hpl.Config) (hpl.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		i := calls[c.Rank()]
		calls[c.Rank()]++
		return results[i%len(results)], nil
	}}
}

// pairs returns the result lines, which have to be the last ones.
func pairs(t *testing.T, out string) (all []map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	begun := false
	for _, line := range lines {
		p, ok := report.Parse(line)
		require.True(t, ok || !begun, "after the first result line comes %q", line)
		if begun = ok; ok {
			all = append(all, p)
		}
	}
	return all
}

// Every driver solves, in every form of the options, on several grids; the output is
// netlib's, and after it come the figures.
func TestRun_solves(t *testing.T) {
	for _, args := range []string{
		"-n 150,0,1 -nb 16,32",
		"-n 150 -nb 16 -q 2 -variant lookahead -depth 0,2 -bcast 0,LnM",
		"-n 100 -nb 8 -p 2 -q 2 -variant blocking",
		"-n 100 -nb 8 -ranks 2 -seed 7 -isa portable",
		"-n 60 -nb 8 -p 1,2 -q 2,1 -ranks 3 -net ib",
		"-n 150 -nb 48 -q 2 -net gige -compare -reps 1",
	} {
		t.Run(args, func(t *testing.T) {
			r := launch(Program{}, args+" -workers 1")
			require.Zero(t, r.code, r.errors)
			all := pairs(t, r.out)
			last := all[len(all)-1]
			assert.Equal(t, fmt.Sprint(len(all)-1), last["runs"])
			assert.Equal(t, last["runs"], last["passed"])
			assert.Equal(t, len(all)-1, strings.Count(r.out, "...... PASSED\n"))
			assert.Contains(t, r.out, "\nEnd of Tests.\n"+double+"\nmachine: ")
			for _, p := range all[:len(all)-1] {
				assert.Equal(t, "passed", p["status"])
				assert.Contains(t, r.out, p["code"]+" ")
				for _, key := range []string{"seconds_best", "seconds_median", "gflops_best", "gflops_median", "residual", "ranks", "workers"} {
					assert.Contains(t, p, key)
				}
			}
		})
	}
}

// What a small run prints, with the times masked.
func TestRun_golden(t *testing.T) {
	r := launch(Program{}, "-n 29 -nb 4 -q 2 -bcast 0 -workers 1 -isa portable")
	require.Zero(t, r.code, r.errors)
	netlib, _, found := strings.Cut(r.out, "\nmachine: ")
	require.True(t, found)
	for pattern, mask := range map[string]string{
		`time( +)\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}`:    "time${1}<date>",
		`(WR90R2C8 +29 +4 +1 +2) +\d+\.\d\d +\d\.\d{4}e.\d\d`: "$1 <time> <gflops>",
		`\d\.\d{8}e-02 \.{6}`:                                 "<residual>e-02 ......",
	} {
		netlib = regexp.MustCompile(pattern).ReplaceAllString(netlib, mask)
	}
	golden, err := os.ReadFile("testdata/small.txt")
	require.NoError(t, err)
	assert.Equal(t, string(golden), netlib)
}

func TestRun_compares(t *testing.T) {
	r := launch(Program{}, "-n 120 -nb 16 -q 2 -compare -reps 3 -workers 1")
	require.Zero(t, r.code, r.errors)
	all := pairs(t, r.out)
	require.Len(t, all, 4)
	for i, v := range Variants[:3] {
		assert.Equal(t, v, all[i]["variant"])
		assert.Equal(t, "3", all[i]["reps"])
	}
	assert.Equal(t, "9", all[3]["runs"])
	assert.Contains(t, r.out, "time / task\n")
	codes := regexp.MustCompile(`(?m)^WR(\d)`).FindAllStringSubmatch(r.out, -1)
	order := ""
	for _, c := range codes {
		order += c[1]
	}
	assert.Equal(t, "910"+"109"+"091", order, "interleaved, each driver in each place")
}

func TestRun_stops_on_what_is_wrong(t *testing.T) {
	for args, complaint := range map[string]string{
		"-x":                                "not defined: -x",
		"more":                              `unexpected argument "more"`,
		"-n many":                           `"many" is no integer`,
		"-n -1":                             `"-1" is no integer from 0 to 2147483647`,
		"-n 99999999999":                    `"99999999999" is no integer from 0`,
		"-nb 0":                             `"0" is no integer from 1`,
		"-nb 1.5":                           `"1.5" is no integer`,
		"-p 0":                              `"0" is no integer from 1`,
		"-bcast 6":                          `"6" is none of 0 to 5, 1rg, 1rM`,
		"-bcast ring":                       `"ring" is none of 0 to 5, 1rg, 1rM`,
		"-depth -1":                         `"-1" is no integer from 0`,
		"-n " + strings.Repeat("1,", 20):    `"" is no integer`,
		"-n 1" + strings.Repeat(",1", 20):   "21 values: at most 20",
		"-p 1,2 -q 1":                       "-p lists 2 and -q 1",
		"-variant fast":                     `there is no driver "fast": there are task, lookahead, blocking`,
		"-workers -1":                       "-workers -1",
		"-reps 0":                           "-reps 0",
		"-reps 1000001":                     "-reps 1000001",
		"-dat=":                             "-dat is empty",
		"-trace=":                           "-trace is empty",
		"-trace x.pdf -n 1":                 `no format for "x.pdf"`,
		"-trace /dev/null/x.json -n 1 -q 2": "not a directory",
		"-q 100000":                         "100000 ranks of 1 worker(s) are too many for one process",
		"-workers 100000":                   "1 ranks of 100000 worker(s) are too many",
		"-ranks 0":                          "-ranks 0",
		"-isa abacus":                       "abacus",
		"-net pigeon":                       "pigeon",
		"-compare -variant task":            "leave -variant and -without out",
		"-without wings":                    `there is no refinement "wings"`,
		"-without parts -variant blocking":  "takes refinements away from the driver task",
		"-ablate -without parts":            "leave -variant and -without out",
		"-ablate -compare":                  "give one of them",
		"-trace x.json -compare":            "single run",
		"-trace x.json -n 1,2":              "single run",
		"-trace x.json -n 1 -nb 1,2":        "single run",
		"-trace x.json -nb 1,2":             "single run",
		"-n 10 -p 2 -q 2 -ranks 3":          "Need at least 4 processes for these tests, there are 3 ranks",
		"-n 600000000":                      "600000000",
		"-n 500000000":                      "needs",
	} {
		r := launch(Program{}, args)
		assert.Equal(t, 2, r.code, args)
		assert.Contains(t, r.errors, complaint, args)
		assert.Empty(t, r.out, args)
	}
}

// A matrix that does not fit is refused before anything is allocated, and the answer
// says what fits; that then is accepted.
func TestRun_checks_memory(t *testing.T) {
	p := faked(good)
	p.system = files("proc/meminfo", "MemAvailable:    100000 kB\n")
	r := launch(p, "-n 100,5000 -nb 64")
	assert.Equal(t, 2, r.code)
	found := regexp.MustCompile(`N = 5000 on 1 x 1 processes needs 0\.\d\d GiB of memory \(here 0\.10 GiB are available\): with NB = 64 at most N = (\d+) fits`).FindStringSubmatch(r.errors)
	require.NotNil(t, found, r.errors)
	assert.Zero(t, launch(p, "-nb 64 -n "+found[1]).code)

	p.system = files()
	assert.Zero(t, launch(p, "-n 5000 -nb 64").code, "where the system does not tell, the run may try")
}

func TestRun_bad_input_file(t *testing.T) {
	dat := filepath.Join(t.TempDir(), "HPL.dat")
	stock, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dat, bytes.Replace(stock, []byte("1 2 3 4      NBs"), []byte("1 0 3 4      NBs"), 1), 0o666))
	r := launch(Program{}, "-dat "+dat)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.errors, "HPL ERROR from process # 0, on line 8 of file HPL.dat:\n>>> Value of NB less than 1: value 2 is \"0\" <<<\n")
	assert.Empty(t, r.out)
	assert.Equal(t, 1, launch(Program{}, "-netlib-exit -dat "+dat).code, "as netlib")

	r = launch(Program{}, "-dat "+dat+".not")
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.errors, "cannot open file")

	require.NoError(t, os.WriteFile(dat, stock, 0o666))
	r = launch(Program{}, "-ranks 2 -dat "+dat)
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.errors, "Need at least 4 processes")
}

// The stock file is run in full, in netlib's order, whatever the drivers do.
func TestRun_stock_file(t *testing.T) {
	r := launch(faked(good), "-dat ../../xhpl/testdata/HPL.dat")
	require.Zero(t, r.code, r.errors)
	assert.Contains(t, r.out, "\nFinished    864 tests with the following results:\n              864"[:56])
	all := pairs(t, r.out)
	require.Len(t, all, 865)
	assert.Equal(t, "4", all[0]["ranks"])
	codes := regexp.MustCompile(`(?m)^(WR\w+) +(\d+) +(\d+) +(\d+) +(\d+) `).FindAllStringSubmatch(r.out, -1)
	require.Len(t, codes, 864)
	assert.Equal(t, []string{"WR90L2L2", "29", "1", "2", "2"}, codes[0][1:])
	assert.Equal(t, []string{"WR90L2L4", "29", "1", "2", "2"}, codes[1][1:])
	assert.Equal(t, []string{"WR90L2C2", "29", "1", "2", "2"}, codes[2][1:])
	assert.Equal(t, []string{"WR90C2L2", "29", "1", "2", "2"}, codes[6][1:])
	assert.Equal(t, []string{"WR90R2R4", "35", "4", "4", "1"}, codes[863][1:])
}

// Flags replace lines of the file, and the file says where the output goes.
func TestRun_file_and_flags(t *testing.T) {
	dir := t.TempDir()
	stock, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	text := strings.Replace(string(stock), "HPL.out ", filepath.Join(dir, "here.out")+" ", 1)
	text = strings.Replace(text, "6            device", "8            device", 1)
	dat := filepath.Join(dir, "HPL.dat")
	require.NoError(t, os.WriteFile(dat, []byte(text[:strings.Index(text, "0            L1")]), 0o666))
	r := launch(faked(good), "-n 77 -nb 5 -p 1 -q 1 -depth 3 -bcast Lng -variant lookahead -dat "+dat)
	require.Zero(t, r.code, r.errors)
	written, err := os.ReadFile(filepath.Join(dir, "here.out"))
	require.NoError(t, err)
	assert.Contains(t, string(written), "WR34L2L2          77     5     1     1 ")
	assert.Contains(t, string(written), "End of Tests.")
	assert.NotContains(t, r.out, "End of Tests.")
	assert.Len(t, pairs(t, r.out), 19, "result lines stay on standard output")
	assert.Contains(t, r.errors, "HPL.dat has no line 28: L1 is 0")

	require.NoError(t, os.WriteFile(dat, []byte(strings.Replace(text, "8            device", "7            device", 1)), 0o666))
	r = launch(faked(good), "-dat "+dat+" -n 1 -nb 1 -p 1 -q 1")
	assert.Contains(t, r.errors, "End of Tests.")

	require.NoError(t, os.WriteFile(dat, []byte(strings.Replace(text, "here.out", "none/here.out", 1)), 0o666))
	r = launch(faked(good), "-dat "+dat+" -n 1 -nb 1 -p 1 -q 1")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.errors, "cannot open file")
}

// Failed, skipped and broken runs end with code 1, unless netlib's is wanted.
func TestRun_fails(t *testing.T) {
	for name, c := range map[string]struct {
		result hpl.Result
		says   string
		counts string
	}{
		"failed":   {bad, "residual 1.23e+05", "failed=1 skipped=0"},
		"NaN":      {notANumber, "NaN: a value became not a number", "failed=1 skipped=0"},
		"singular": {singular, "the matrix is singular: column 16 has no pivot", "failed=0 skipped=1"},
	} {
		r := launch(faked(good, c.result), "-n 50 -nb 8,16")
		assert.Equal(t, 1, r.code, name)
		assert.Contains(t, r.errors, "1 of 2 runs failed", name)
		assert.Contains(t, r.errors, c.says, name)
		assert.Contains(t, r.out, "ATTENTION: WR91R2C8 N=50 NB=16 P=1 Q=1: "+c.says, name)
		all := pairs(t, r.out)
		assert.Equal(t, "passed", all[0]["status"], name)
		assert.Equal(t, "failed", all[1]["status"], name)
		assert.Contains(t, r.out, "runs=2 passed=1 "+c.counts, name)
		assert.Zero(t, launch(faked(good, c.result), "-n 50 -nb 8,16 -netlib-exit").code, name)
	}
}

// A residual that no solution meets fails in earnest; so does a NaN that the solver
// reports as an error. Other errors end the program.
func TestRun_fails_in_earnest(t *testing.T) {
	dat := filepath.Join(t.TempDir(), "HPL.dat")
	stock, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dat, bytes.Replace(stock, []byte("16.0  "), []byte("1e-9  "), 1), 0o666))
	r := launch(Program{}, "-n 50 -nb 8 -p 1 -q 1 -workers 1 -dat "+dat)
	assert.Equal(t, 1, r.code)
	assert.Equal(t, 18, strings.Count(r.out, "...... FAILED\n||Ax-b||_oo  . . ."))

	p := Program{solve: func(*mpi.Comm, hpl.Config) (hpl.Result, error) { return notANumber, fmt.Errorf("x: %w", hpl.ErrNaN) }}
	r = launch(p, "-n 50")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.out, "nan ...... FAILED")

	p.solve = func(*mpi.Comm, hpl.Config) (hpl.Result, error) { return hpl.Result{}, errors.New("no luck") }
	r = launch(p, "-n 50")
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.errors, "no luck")
	assert.NotContains(t, r.out, "result ")
}

func TestRun_without_a_threshold(t *testing.T) {
	dat := filepath.Join(t.TempDir(), "HPL.dat")
	stock, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dat, bytes.Replace(stock, []byte("16.0  "), []byte("0.0   "), 1), 0o666))
	r := launch(faked(good), "-n 50 -nb 8 -p 1 -q 1 -dat "+dat)
	require.Zero(t, r.code)
	assert.Contains(t, r.out, "18 tests completed without checking,")
	assert.Equal(t, "unchecked", pairs(t, r.out)[0]["status"])
}

func TestRun_sizes_the_matrix(t *testing.T) {
	if invariant.Race {
		t.Skip("it measures the kernels")
	}
	var solved hpl.Config
	p := Program{system: files("proc/meminfo", "MemAvailable:    100000 kB\n"), solve: func(comm *mpi.Comm, c hpl.Config) (hpl.Result, error) {
		if comm.Rank() == 0 {
			solved = c
		}
		return good, nil
	}}
	r := launch(p, "")
	require.Zero(t, r.code, r.errors)
	assert.Positive(t, solved.N)
	assert.LessOrEqual(t, hpl.Bytes(solved), int64(float64(100000<<10)*memoryPart))
	assert.Contains(t, r.errors, fmt.Sprintf("N = %d for 1 run(s) in about 15 s: the cores multiply at", solved.N))
	assert.Contains(t, r.out, "no -n and no -dat: ")
	assert.NotContains(t, strings.Split(r.out, "End of Tests")[0], "no -n")
	assert.NotContains(t, r.errors, "is not read")

	assert.Contains(t, launch(p, "-compare -q 2").errors, " for 15 run(s) in about 15 s")

	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("HPL.dat", nil, 0o666))
	assert.Contains(t, launch(p, "").errors, "the HPL.dat in this folder is not read")
}

func TestRun_traces(t *testing.T) {
	for _, args := range []string{"", " -q 2", " -q 2 -ranks 3", " -q 2 -variant lookahead", " -q 2 -variant blocking"} {
		file := filepath.Join(t.TempDir(), "run.txt")
		r := launch(Program{}, "-n 100 -nb 16 -workers 1 -trace "+file+args)
		require.Zero(t, r.code, r.errors)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Contains(t, string(text), "critical path")
	}
}

// A trace that cannot be written in the end takes no result with it.
func TestRun_without_its_trace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.txt")
	p := Program{solve: func(c *mpi.Comm, cfg hpl.Config) (hpl.Result, error) {
		if c.Rank() == 0 {
			if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o777)); err != nil {
				return hpl.Result{}, err
			}
		}
		return hpl.Run(c, cfg)
	}}
	r := launch(p, "-n 100 -nb 16 -q 2 -workers 1 -trace "+file)
	assert.Equal(t, 1, r.code)
	assert.Contains(t, r.errors, "run.txt: is a directory")
	require.Contains(t, r.out, "End of Tests.")
	assert.Equal(t, "passed", pairs(t, r.out)[0]["status"])
}

// The log says how NB was chosen where neither -nb nor an HPL.dat gives it.
func TestRun_chosen_blocks(t *testing.T) {
	p := faked(good)
	const says = "no -nb: NB = "
	r := launch(p, "-n 20,2000 -p 2,1 -q 1,1 -workers 3")
	require.Zero(t, r.code, r.errors)
	results := pairs(t, r.out)
	widths := map[int]bool{}
	for i, c := range []struct{ n, rows, cores int }{{20, 2, 6}, {2000, 2, 6}, {20, 1, 3}, {2000, 1, 3}} {
		nb := hpl.BlockWidth(c.n, c.rows, c.cores, nil)
		widths[nb] = true
		assert.Equal(t, fmt.Sprint(nb), results[i]["nb"])
		assert.Contains(t, r.out, fmt.Sprintf("%d for N = %d, P = %d, %d cores", nb, c.n, c.rows, c.cores))
	}
	assert.Contains(t, r.out, says)
	assert.Greater(t, len(widths), 2, "each order and grid has its own")
	assert.Contains(t, r.out, "Finished      4 tests")
	for _, args := range []string{"-n 20 -nb 4", "-dat ../../xhpl/testdata/HPL.dat"} {
		r := launch(p, args)
		require.Zero(t, r.code, r.errors)
		assert.NotContains(t, r.out, says, args)
	}
}

// narrowTiles are kernels with tiles of 12 rows, as on a host with AVX2 only.
type narrowTiles struct{ blas.Kernels }

func (narrowTiles) Strips() (rows, columns int) { return 12, 4 }

// wideTiles are kernels with tiles of 24 rows, as on a host with AVX-512.
type wideTiles struct{ blas.Kernels }

func (wideTiles) Strips() (rows, columns int) { return 24, 8 }

// Ranks on hosts with different kernels choose the same NB, the narrower one.
func TestRun_chosen_blocks_of_different_hosts(t *testing.T) {
	kernels := []blas.Kernels{wideTiles{blas.Portable()}, narrowTiles{blas.Portable()}}
	narrow, wide := hpl.BlockWidth(2000, 1, 2, kernels[1]), hpl.BlockWidth(2000, 1, 2, kernels[0])
	require.Less(t, narrow, wide)
	err := local.Run(2, func(c *mpi.Comm) error {
		o := &options{kernels: kernels[c.Rank()], drivers: []driver{{}}, workers: 1, line: commandline.New("test", "")}
		r := &rank{Comm: c, options: o, file: &hpldat.File{N: []int{2000}, Grids: []hpldat.Grid{{P: 1, Q: 2}}}}
		err := r.chooseBlocks()
		assert.Equal(t, []int{narrow}, r.file.NB)
		return err
	})
	require.NoError(t, err)
}

// A block wider than the matrix is one block, whatever it is said to be.
func TestRun_wide_blocks(t *testing.T) {
	p := Program{solve: func(c *mpi.Comm, cfg hpl.Config) (hpl.Result, error) {
		assert.Equal(t, max(1, cfg.N), cfg.NB)
		return hpl.Run(c, cfg)
	}}
	r := launch(p, "-n 0,20 -nb 2147483647 -p 2 -q 2 -workers 1")
	require.Zero(t, r.code, r.errors)
	assert.Contains(t, r.out, " 2147483647     2     2 ")
	assert.Equal(t, "2147483647", pairs(t, r.out)[1]["nb"])
}

// Without a driver that looks ahead, -depth is remarked.
func TestRun_depth_of_other_drivers(t *testing.T) {
	for args, remark := range map[string]string{
		"-depth 2":                    "-depth is for the driver lookahead: task has none",
		"-depth 2 -variant blocking":  "-depth is for the driver lookahead: blocking has none",
		"-depth 2 -variant lookahead": "",
		"-depth 2 -compare":           "",
		"":                            "",
	} {
		r := launch(faked(good), "-n 50 "+args)
		require.Zero(t, r.code, r.errors)
		if remark == "" {
			assert.Empty(t, r.errors, args)
		}
		assert.Contains(t, r.errors, remark, args)
	}
}

// Result lines that cannot be written are an error, too, where netlib's lines can.
func TestRun_results_that_cannot_be_written(t *testing.T) {
	dat := filepath.Join(t.TempDir(), "HPL.dat")
	stock, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dat, bytes.Replace(stock, []byte("6            device"), []byte("7            device"), 1), 0o666))
	var complaints bytes.Buffer
	err = faked(good).Run([]string{"-dat", dat, "-n", "1", "-nb", "1", "-p", "1"}, failing{}, &complaints)
	require.ErrorIs(t, err, os.ErrClosed)
	assert.ErrorContains(t, err, "writing the results")
	assert.Contains(t, complaints.String(), "End of Tests.")
}

func TestRun_fixed_driver(t *testing.T) {
	v := hpl.LookAhead
	p := faked(good)
	p.Fixed = &v
	r := launch(p, "-n 50 -depth 2")
	require.Zero(t, r.code, r.errors)
	assert.Equal(t, "WR21R2C8", pairs(t, r.out)[0]["code"])
	assert.Equal(t, 2, launch(p, "-n 50 -variant task").code)
	assert.Equal(t, 2, launch(p, "-n 50 -trace x.json").code)
}

func TestRun_help(t *testing.T) {
	r := launch(Program{About: "NAME is a program."}, "-h")
	assert.Zero(t, r.code)
	assert.Empty(t, r.errors)
	assert.Contains(t, r.out, "xhpl is a program.\n")
	for _, word := range []string{"-dat FILE", "-variant", "-netlib-exit", "-compare", "-trace FILE", "-net", "WR11R2C4", "Exit codes", "mpirun", "(default"} {
		assert.Contains(t, r.out, word)
	}
	assert.NotContains(t, r.out, "NAME")
	assert.NotContains(t, r.out, "default 2)", "in-process ranks are as many as the grid needs")
}

func TestResidualsAboveTheHealthyAreRemarked(t *testing.T) {
	r := launch(faked(hpl.Result{Seconds: 1, GFlops: 1, Residual: 0.5}), "-n 50")
	assert.Zero(t, r.code, "it passes all the same")
	assert.Contains(t, r.errors, "residual 0.5: a healthy one is")
	r = launch(faked(hpl.Result{Seconds: 1, GFlops: 1, Residual: 0.5}), "-n 2")
	assert.NotContains(t, r.errors, "healthy")
}

func TestRun_ablates(t *testing.T) {
	r := launch(Program{}, "-n 120 -nb 16 -q 2 -ablate -reps 1 -workers 1")
	require.Zero(t, r.code, r.errors)
	all := pairs(t, r.out)
	require.Len(t, all, 2+len(hpl.Refinements()))
	assert.NotContains(t, all[0], "without")
	assert.Equal(t, "priorities", all[1]["without"])
	assert.Contains(t, r.out, "task without leases")
	r = launch(Program{}, "-n 120 -nb 16 -q 2 -without parts,late -workers 1")
	require.Zero(t, r.code, r.errors)
	assert.Equal(t, "parts,late", pairs(t, r.out)[0]["without"])
	r = launch(Program{}, "-n 120 -nb 60 -variant blocking -without narrow -workers 1")
	require.Zero(t, r.code, r.errors)
	assert.Equal(t, "narrow", pairs(t, r.out)[0]["without"])
}
