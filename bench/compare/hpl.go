package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
)

var hplSubject = subject{
	name: "hpl", title: "LINPACK", unit: gflops,
	question: "how fast a dense system is solved, against netlib's HPL",
	setting: "One dense system of order N, NB 192, solved with partial pivoting and checked by netlib's residual test (limit 16); the operations of LINPACK, 2/3 N³ + 3/2 N², by the time of factorization and solve. " +
		"HPL runs one process per core, with look-ahead 1 and the ring broadcast 1rM, and its C library is told to use huge pages, as weft does (on some machines that is a tenth). OpenBLAS is told to use its AVX-512 kernels where the processor has AVX-512, which some releases do not find out.",
	prepare: prepareHPL,
}

// hplBlock is the block size of all sides: a multiple of the tile of both kernels.
const hplBlock = 192

func prepareHPL(b *bench) ([]contest, []missing, error) {
	peers, absent := hplPeers(b)
	if len(peers) == 0 {
		return nil, absent, nil
	}
	program, err := b.weft("xhpl", "")
	if err != nil {
		return nil, absent, err
	}
	k, err := weftGemm(b)
	if err != nil {
		return nil, absent, err
	}
	var contests []contest
	for _, n := range pick(b, []int{1000}, []int{2000, 4000, 8000}) {
		sides := []*side{weftHPL(b, program, k, n, 1, b.cores)}
		if b.cores > 1 {
			sides = append(sides, weftHPL(b, program, k, n, b.cores, 1))
		}
		for _, p := range peers {
			sides = append(sides, p(n))
		}
		contests = append(contests, contest{name: fmt.Sprintf("N = %d", n), sides: sides})
	}
	return contests, absent, nil
}

func weftHPL(b *bench, program string, k kernel, n, ranks, workers int) *side {
	s := &side{name: "weft", version: "this tree", cores: ranks * workers, kernel: k, layout: oneProcess(workers)}
	argv := []string{program, "-n", fmt.Sprint(n), "-nb", fmt.Sprint(hplBlock), "-workers", fmt.Sprint(workers), "-ranks", fmt.Sprint(ranks)}
	if ranks > 1 {
		s.name, s.layout = fmt.Sprintf("weft, %d ranks", ranks), fmt.Sprintf("%d ranks of %s in 1 process", ranks, plural(workers, "thread"))
		p, q := grid(ranks)
		argv = append(argv, "-p", fmt.Sprint(p), "-q", fmt.Sprint(q))
	}
	s.run = func(b *bench) (sample, error) { return b.figure(command{argv: argv}, "gflops_median", "gflops") }
	return s
}

// figure runs one of our programs and returns the figure under the first of some keys.
func (b *bench) figure(c command, keys ...string) (sample, error) {
	text, err := b.tools.output(c)
	if err != nil {
		return sample{}, err
	}
	return resultFigure(text, keys...)
}

// resultFigure reads the only result line of a text.
func resultFigure(text string, keys ...string) (sample, error) {
	for _, key := range keys {
		switch v := report.Figures(text, key); len(v) {
		case 0:
		case 1:
			rate, _ := onlyFigure(text, "kernel_gflops")
			return sample{value: v[0], kernel: rate}, nil
		default:
			return sample{}, fmt.Errorf("%d results with %s, one was expected, in:\n%s", len(v), key, tail(text))
		}
	}
	return sample{}, unreadable("result with "+strings.Join(keys, " or "), text)
}

func onlyFigure(text, key string) (float64, bool) {
	v := report.Figures(text, key)
	if len(v) != 1 {
		return 0, false
	}
	return v[0], true
}

// grid is the process grid of n ranks, as square as possible, no higher than wide.
func grid(n int) (p, q int) {
	for p = int(math.Sqrt(float64(n))); n%p != 0; p-- {
	}
	return p, n / p
}

// hplPeers finds the HPLs of this machine. Each makes the side of a contest of order n.
func hplPeers(b *bench) (peers []func(n int) *side, absent []missing) {
	const build = "build netlib HPL 2.3 (https://www.netlib.org/benchmark/hpl/) with the BLAS of your choice, and put xhpl into PATH"
	if b.mpirun() == "" {
		return nil, []missing{absentMPI("HPL")}
	}
	if path, err := b.tools.find("hpcc"); err == nil {
		name := "HPL of hpcc, " + b.blasOf(path)
		peers = append(peers, func(n int) *side {
			return peerHPL(b, path, name, kernel{name: b.blasOf(path), how: "hpcc's SingleDGEMM in the same run"}, func(b *bench) (sample, error) { return runHPCC(b, path, n) })
		})
	} else {
		absent = append(absent, missing{"HPL of hpcc", errAbsent.Error(), "apt-get install hpcc"})
	}
	path, err := b.tools.find("xhpl")
	switch {
	case err != nil:
		absent = append(absent, missing{"xhpl", errAbsent.Error(), build})
	case isOurs(path):
		absent = append(absent, missing{"xhpl", path + " is weft's own", build})
	default:
		k := kernel{name: b.blasOf(path)}
		if open, err := openBLAS(b); err == nil && k.name == "OpenBLAS" { // the same library, as far as ldd tells
			k = open
		}
		peers = append(peers, func(n int) *side {
			return peerHPL(b, path, "xhpl, "+k.name, k, func(b *bench) (sample, error) { return runXHPL(b, path, n) })
		})
	}
	return peers, absent
}

// isOurs tells whether a program was built from this module: bench/xhpl has the name of
// netlib's program.
func isOurs(path string) bool {
	info, err := buildinfo.ReadFile(path)
	return err == nil && strings.HasPrefix(info.Main.Path, "github.com/weft-hpc/weft")
}

func peerHPL(b *bench, path, name string, k kernel, run func(*bench) (sample, error)) *side {
	version := b.packageOf(path)
	if library := b.blasFile(path); library != "" {
		version += " with " + library
	}
	return &side{name: name, version: version + " over " + b.firstLine(b.mpirun(), "--version"), cores: b.cores, layout: manyProcesses(b.cores), kernel: k, run: run}
}

// runHPCC runs the suite in its own folder. HPCC cannot run HPL alone; the sizes of its
// other benchmarks follow from N, and they take as long as HPL or longer.
func runHPCC(b *bench, program string, n int) (sample, error) {
	dir, err := b.scratch()
	if err != nil {
		return sample{}, err
	}
	input := hplInput(b.cores, n) + "##### line 32: ignored\n0 additional sizes for PTRANS\n0\n0 additional block sizes\n0\n"
	if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(input), 0o600); err != nil {
		return sample{}, err
	}
	if _, err := b.tools.output(command{argv: append(b.ranks(b.cores), program), dir: dir, env: hugePages}); err != nil {
		return sample{}, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))
	if err != nil {
		return sample{}, fmt.Errorf("hpcc left no output: %w", err)
	}
	v, err := parseHPL(string(text))
	if err != nil {
		return sample{}, err
	}
	v.kernel, err = parseHPCCKernel(string(text))
	return v, err
}

func runXHPL(b *bench, program string, n int) (sample, error) {
	dir, err := b.scratch()
	if err != nil {
		return sample{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "HPL.dat"), []byte(hplInput(b.cores, n)), 0o600); err != nil {
		return sample{}, err
	}
	text, err := b.tools.output(command{argv: append(b.ranks(b.cores), program), dir: dir, env: hugePages})
	if err != nil {
		return sample{}, err
	}
	return parseHPL(text)
}

// hugePages tells the GNU C library to ask for huge pages.
var hugePages = []string{"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"}

// hplInput is HPL.dat for one system: 31 lines.
func hplInput(ranks, n int) string {
	p, q := grid(ranks)
	var text strings.Builder
	text.WriteString("HPLinpack benchmark input file\nweft bench/compare\n")
	for _, line := range []string{"HPL.out file", "6 device", "1 # of N", fmt.Sprint(n, " Ns"), "1 # of NB", fmt.Sprint(hplBlock, " NBs"), "0 PMAP row-major",
		"1 # of grids", fmt.Sprint(p, " Ps"), fmt.Sprint(q, " Qs"), "16.0 threshold", "1 # of PFACT", "2 right", "1 # of NBMIN", "4 NBMINs", "1 # of NDIV", "2 NDIVs",
		"1 # of RFACT", "1 Crout", "1 # of BCAST", "1 ring, modified", "1 # of DEPTH", "1 look-ahead", "2 SWAP mix", "64 threshold of SWAP",
		"0 L1 transposed", "0 U transposed", "1 EQUIL", "8 ALIGN"} {
		text.WriteString(line + "\n")
	}
	return text.String()
}

// hplLine is a result of HPL: code, N, NB, P, Q, time, Gflops.
var (
	hplLine     = regexp.MustCompile(`(?m)^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+[\d.]+\s+(\S+)\s*$`)
	hplResidual = regexp.MustCompile(`(?m)^\|\|Ax-b\|\|.*\.\.\.\.\.\. (PASSED|FAILED)\s*$`)
	hpccKernel  = regexp.MustCompile(`(?m)^SingleDGEMM_Gflops=(\S+)$`)
)

var errResidual = errors.New("the residual test FAILED")

// parseHPL reads the only result of an output of HPL.
func parseHPL(text string) (sample, error) {
	results, checks := hplLine.FindAllStringSubmatch(text, -1), hplResidual.FindAllStringSubmatch(text, -1)
	if len(results) != 1 || len(checks) != 1 {
		return sample{}, unreadable("one result line and one residual", text)
	}
	if checks[0][1] != "PASSED" {
		return sample{}, fmt.Errorf("%w: %s", errResidual, strings.TrimSpace(checks[0][0]))
	}
	v, err := strconv.ParseFloat(results[0][1], 64)
	return sample{value: v}, err
}

func parseHPCCKernel(text string) (float64, error) {
	m := hpccKernel.FindStringSubmatch(text)
	if m == nil {
		return 0, unreadable("SingleDGEMM_Gflops", text)
	}
	return strconv.ParseFloat(m[1], 64)
}
