package main

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
)

var ftSubject = subject{
	name: "ft", title: "NAS FT", unit: "Mop/s",
	question: "how fast the NAS Fourier benchmark is, against the NPB",
	setting: "The NAS Parallel Benchmark FT: a spectral solver of a heat equation, dominated by three-dimensional Fourier transforms; every iteration is verified by " +
		"the checksum of its class. Mop/s are those of the benchmark's own formula. The kernel figure of weft is a batch of 16 transforms of 256 points on one core.",
	prepare: prepareFT,
}

func prepareFT(b *bench) (contests []contest, absent []missing, err error) {
	const build = "download NPB 3.4 (https://www.nas.nasa.gov/software/npb.html); cd NPB3.4*/NPB3.4-MPI; cp config/make.def.template config/make.def; make ft CLASS=%s; put bin/ft.%[1]s.x into PATH"
	var program string
	var k kernel
	for _, class := range pick(b, []string{"S"}, []string{"A", "B"}) {
		name := "ft." + class + ".x"
		path, err := b.tools.find(name)
		if err != nil {
			absent = append(absent, missing{"NPB " + name, errAbsent.Error() + "; no distribution packages it", fmt.Sprintf(build, class)})
			continue
		}
		if program == "" {
			if program, err = b.weft("npbft", ""); err != nil {
				return nil, absent, err
			}
			if k, err = weftTransform(b); err != nil {
				return nil, absent, err
			}
		}
		contests = append(contests, contest{name: "class " + class, sides: []*side{weftFT(b, program, class, k), npbFT(b, path)}})
	}
	return contests, absent, nil
}

func weftFT(b *bench, program, class string, k kernel) *side {
	argv := []string{program, "-class", class, "-variant", "tasks", "-ranks", "1", "-workers", fmt.Sprint(b.cores)}
	return &side{name: "weft", version: "this tree", cores: b.cores, layout: oneProcess(b.cores), kernel: k,
		run: func(b *bench) (sample, error) { return b.figure(command{argv: argv}, "mops_median", "mops") }}
}

// npbFT runs the MPI version on as many ranks as FT accepts, a power of two, and any
// other version with as many threads as cores.
func npbFT(b *bench, path string) *side {
	s := &side{name: "NPB", version: "as built", cores: b.cores, layout: oneProcess(b.cores), kernel: kernel{name: "NPB's own transform in Fortran"}}
	c := command{argv: []string{path}, env: []string{fmt.Sprint("OMP_NUM_THREADS=", b.cores)}}
	if text, err := b.tools.output(command{argv: []string{"ldd", path}}); err == nil && strings.Contains(text, "libmpi") {
		for s.cores = 1; 2*s.cores <= b.cores; s.cores *= 2 {
		}
		s.layout = manyProcesses(s.cores)
		c.argv = append(b.ranks(s.cores), path)
	}
	s.run = func(b *bench) (sample, error) {
		text, err := b.tools.output(c)
		if err != nil {
			return sample{}, err
		}
		return parseNPB(text)
	}
	return s
}

// The lines of NPB's print_results that matter.
var (
	npbRate     = regexp.MustCompile(`(?m)^\s*Mop/s total\s*=\s*(\S+)\s*$`)
	npbVerified = regexp.MustCompile(`(?m)^\s*Verification\s*=\s*(\S+)`)
)

var errUnverified = errors.New("the benchmark did not verify its result")

func parseNPB(text string) (sample, error) {
	rate, verified := npbRate.FindStringSubmatch(text), npbVerified.FindStringSubmatch(text)
	if rate == nil || verified == nil {
		return sample{}, unreadable("Mop/s total and Verification", text)
	}
	if verified[1] != "SUCCESSFUL" {
		return sample{}, fmt.Errorf("%w: Verification = %s", errUnverified, verified[1])
	}
	v, err := strconv.ParseFloat(rate[1], 64)
	return sample{value: v}, err
}

func lines(text string) iter.Seq[string] { return strings.Lines(text) }
