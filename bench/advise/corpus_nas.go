package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/advise"
)

// nasPrograms are the plain NAS benchmarks of bench/npb. MG exchanges faces with Sendrecv, which can
// be under way together; IS has collectives only.
var nasPrograms = []struct{ bench, must string }{{"is", "keep"}, {"mg", "change"}}

const nasPackage = "bench/npb"

// tryNAS treats the NAS benchmarks like programs of the corpus: advice is made from class S on
// corpusRanks ranks, and the changed program runs in classes S and W on powers of two.
func (x *corpus) tryNAS() error {
	before, err := x.shop.build("npb", nasPackage, nil)
	if err != nil {
		return err
	}
	for _, n := range nasPrograms {
		p := &corpusProgram{Name: "nas-" + n.bench, Must: n.must}
		x.programs = append(x.programs, p)
		files, err := x.adviseNAS(p, n.bench, before)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if len(files) == 0 {
			continue
		}
		after, err := x.shop.build(p.Name+"-after", nasPackage, files)
		if err != nil {
			return fmt.Errorf("the changed %s: %w", p.Name, err)
		}
		for _, class := range []string{"S", "W"} {
			for _, ranks := range []int{1, 2, 4, 8} {
				if err := p.compareNAS(before, after, n.bench, class, ranks); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (x *corpus) adviseNAS(p *corpusProgram, bench, program string) (map[string][]byte, error) {
	j := nasJob(program, bench, "S", corpusRanks)
	j.args = append(j.args, "-net", corpusNet)
	j.results, j.size = filepath.Join(x.shop.dir, p.Name+"-run.json"), corpusSize
	if _, _, err := j.run(); err != nil {
		return nil, err
	}
	r, err := advise.ReadFile(j.results)
	if err != nil {
		return nil, err
	}
	a := consider(j.results, r, 0)
	a.Items = append(a.Items, a.Small...)
	p.Changes = len(a.Items)
	if len(a.Refused) > 0 {
		p.Reason = a.Refused[0].Reason
	}
	return (&document{Runs: []*advice{a}}).changed()
}

// compareNAS compares what a run computes: the norm to its last digit, and the verification.
func (p *corpusProgram) compareNAS(before, after, bench, class string, ranks int) error {
	var values [2]string
	for i, program := range []string{before, after} {
		out, _, err := nasJob(program, bench, class, ranks).run()
		if err != nil {
			return fmt.Errorf("%s, class %s on %d ranks: %w", p.Name, class, ranks, err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		pairs, ok := report.Parse(lines[len(lines)-1])
		if !ok || pairs["verified"] != "true" {
			return fmt.Errorf("%s, class %s on %d ranks: not verified: %s", p.Name, class, ranks, lines[len(lines)-1])
		}
		values[i] = pairs["norm"] + pairs["checks_passed"]
	}
	if values[0] != values[1] {
		p.Differs = append(p.Differs, fmt.Sprintf("class %s on %d ranks: %s, not %s", class, ranks, values[1], values[0]))
	}
	return nil
}

func nasJob(program, bench, class string, ranks int) *job {
	return &job{program: program, args: []string{"-bench", bench, "-class", class, "-ranks", strconv.Itoa(ranks)}}
}
