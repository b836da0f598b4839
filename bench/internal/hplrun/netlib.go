package hplrun

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/weft-hpc/weft/bench/internal/hpldat"
	"github.com/weft-hpc/weft/hpl"
)

// printer writes what netlib's HPL 2.3 writes, to the character (HPL_pdinfo,
// HPL_pdtest, HPL_pddriver). It belongs to rank 0. After an error of the writer it
// writes nothing more.
type printer struct {
	w         io.Writer
	threshold float64
	timing    bool // as built with HPL_DETAILED_TIMING
	headed    bool // the head of the table is there, and is not repeated
	err       error

	passed, failed, skipped int
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// Rules of 80 characters.
var (
	double = strings.Repeat("=", 80) + "\n"
	single = strings.Repeat("-", 80) + "\n"
	timed  = strings.Repeat("--VVV", 15) + "-"
)

// eps is netlib's relative machine precision: half the distance from 1 to the next
// number.
const eps = 0x1p-53

// head writes everything before the first test.
func (p *printer) head(f *hpldat.File) {
	p.printf("%sHPLinpack 2.3  --  High-Performance Linpack benchmark  --   December 2, 2018\n", double)
	p.printf("Written by A. Petitet and R. Clint Whaley,  Innovative Computing Laboratory, UTK\n")
	p.printf("Modified by Piotr Luszczek, Innovative Computing Laboratory, UTK\n")
	p.printf("Modified by Julien Langou, University of Colorado Denver\n%s", double)
	p.printf("\nAn explanation of the input/output parameters follows:\n")
	p.printf("T/V    : Wall time / encoded variant.\n")
	p.printf("N      : The order of the coefficient matrix A.\n")
	p.printf("NB     : The partitioning blocking factor.\n")
	p.printf("P      : The number of process rows.\n")
	p.printf("Q      : The number of process columns.\n")
	p.printf("Time   : Time in seconds to solve the linear system.\n")
	p.printf("Gflops : Rate of execution for solving the linear system.\n\n")
	p.printf("The following parameter values will be used:\n")
	p.parameters(f)
	if p.threshold <= 0 {
		return
	}
	p.printf("%s\n- The matrix A is randomly generated for each test.\n", single)
	p.printf("- The following scaled residual check will be computed:\n")
	p.printf("      ||Ax-b||_oo / ( eps * ( || x ||_oo * || A ||_oo + || b ||_oo ) * N )\n")
	p.printf("- The relative machine precision (eps) is taken to be      %21.6e\n", eps)
	p.printf("- Computational tests pass if scaled residuals are less than         %11.1f\n\n", p.threshold)
}

// parameters echoes the values.
func (p *printer) parameters(f *hpldat.File) {
	var rows, columns []int
	for _, g := range f.Grids {
		rows, columns = append(rows, g.P), append(columns, g.Q)
	}
	echo(p, "N", f.N, "%8d ")
	echo(p, "NB", f.NB, "%8d ")
	p.printf("\nPMAP   : %s-major process mapping", pick(f.ColumnMajor, "Column", "Row"))
	echo(p, "P", rows, "%8d ")
	echo(p, "Q", columns, "%8d ")
	echo(p, "PFACT", named(f.PFact, factorNames), "%8s ")
	echo(p, "NBMIN", f.NBMin, "%8d ")
	echo(p, "NDIV", f.NDiv, "%8d ")
	echo(p, "RFACT", named(f.RFact, factorNames), "%8s ")
	echo(p, "BCAST", named(f.Bcast, castNames), "%8s ")
	echo(p, "DEPTH", f.Depth, "%8d ")
	p.printf("\nSWAP   : ")
	switch f.Swap {
	case hpl.BinaryExchange:
		p.printf("Binary-exchange")
	case hpl.SpreadRoll:
		p.printf("Spread-roll (long)")
	default:
		p.printf("Mix (threshold = %d)", f.SwapThreshold)
	}
	p.printf("\nL1     : %s form", pick(f.L1NoTrans, "no-transposed", "transposed"))
	p.printf("\nU      : %s form", pick(f.UNoTrans, "no-transposed", "transposed"))
	p.printf("\nEQUIL  : %s", pick(f.NoEquil, "no", "yes"))
	p.printf("\nALIGN  : %d double precision words\n\n", f.Align)
}

// Names in the output.
var (
	factorNames = []string{hpl.Left: "Left", hpl.Crout: "Crout", hpl.Right: "Right"}
	castNames   = []string{
		hpl.Ring: "1ring", hpl.RingModified: "1ringM", hpl.TwoRing: "2ring", hpl.TwoRingModified: "2ringM", hpl.Long: "Blong", hpl.LongModified: "BlongM",
	}
)

func named[T ~int](values []T, names []string) (all []string) {
	for _, v := range values {
		all = append(all, names[v])
	}
	return all
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// echo writes a list, eight values per line, up to the third line.
func echo[T any](p *printer, label string, values []T, format string) {
	p.printf("\n%-7s:", label)
	for i, v := range values {
		if i == 8 || i == 16 {
			p.printf("\n        ")
		}
		p.printf(format, v)
	}
}

// Code returns netlib's T/V of a test, such as WR11R2C4. The task drivers have the depth
// 9, the blocking one 0.
func Code(c hpl.Config) string {
	return fmt.Sprintf("W%s%1d%d%c%1d%c%1d", pick(c.ColumnMajor, "C", "R"), depthDigit(c), c.Bcast, factorNames[c.RFact][0], c.NDiv, factorNames[c.PFact][0], c.NBMin)
}

// depthDigit returns what stands for the depth.
func depthDigit(c hpl.Config) int {
	switch c.Variant {
	case hpl.Task, hpl.TaskPlain:
		return 9
	case hpl.Blocking:
		return 0
	}
	return c.Depth
}

// result writes the lines of one run, which began and ended then. It counts the run,
// and reports whether it was neither FAILED nor skipped.
func (p *printer) result(c hpl.Config, r hpl.Result, began, ended time.Time) bool {
	if !p.headed {
		p.printf("%sT/V                N    NB     P     Q               Time                 Gflops\n%s", double, single)
		p.headed = p.threshold <= 0
	}
	if r.Seconds > 0 || math.IsNaN(r.Seconds) {
		p.printf("%s%12d %5d %5d %5d %s    %s\n", Code(c), c.N, c.NB, c.P, c.Q, cFloat("%18.2f", r.Seconds), cFloat("%19.4e", r.GFlops))
		p.printf("HPL_pdgesv() start time %s\n\n", began.Format(time.ANSIC))
		p.printf("HPL_pdgesv() end time   %s\n\n", ended.Format(time.ANSIC))
	}
	if p.timing {
		p.details(r.Timing)
	}
	switch {
	case p.threshold <= 0:
		p.passed++
	case r.Singular != 0:
		p.printf("HPL ERROR from process # 0, in function HPL_pdtest:\n>>> Error code returned by solve is %d, skip <<<\n\n", r.Singular)
		p.skipped++
		return false
	default:
		return p.check(r)
	}
	return true
}

// check writes the residual.
func (p *printer) check(r hpl.Result) bool {
	passed := r.Residual < p.threshold // false for NaN, as in C
	p.printf("%s||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= %s ...... %s\n", single, cFloat("%16.8e", r.Residual), pick(passed, "PASSED", "FAILED"))
	if passed {
		p.passed++
		return true
	}
	p.failed++
	for _, n := range []struct {
		label string
		value float64
	}{
		{"||Ax-b||_oo  . . . . . . . . . . . . . . . . . = ", r.NormR},
		{"||A||_oo . . . . . . . . . . . . . . . . . . . = ", r.NormAInf},
		{"||A||_1  . . . . . . . . . . . . . . . . . . . = ", r.NormA1},
		{"||x||_oo . . . . . . . . . . . . . . . . . . . = ", r.NormXInf},
		{"||x||_1  . . . . . . . . . . . . . . . . . . . = ", r.NormX1},
		{"||b||_oo . . . . . . . . . . . . . . . . . . . = ", r.NormB},
	} {
		p.printf("%s%s\n", n.label, cFloat("%18.6f", n.value))
	}
	return false
}

// details writes the detailed timing: what took no time is left out.
func (p *printer) details(t hpl.Timing) {
	p.printf("%s\n", timed)
	for _, k := range []struct {
		label string
		took  time.Duration
	}{
		{"Max aggregated wall time rfact . . . : ", t.RFact},
		{"+ Max aggregated wall time pfact . . : ", t.PFact},
		{"+ Max aggregated wall time mxswp . . : ", t.MaxSwap},
		{"Max aggregated wall time update  . . : ", t.Update},
		{"+ Max aggregated wall time laswp . . : ", t.Swap},
		{"Max aggregated wall time up tr sv  . : ", t.BackSolve},
	} {
		if k.took > 0 {
			p.printf("%s%18.2f\n", k.label, k.took.Seconds())
		}
	}
	if p.threshold <= 0 {
		p.printf("%s", double)
	}
}

// tail writes everything after the last test.
func (p *printer) tail() {
	if !p.timing || p.threshold > 0 {
		p.printf("%s", double)
	}
	p.printf("\nFinished %6d tests with the following results:\n", p.passed+p.failed+p.skipped)
	if p.threshold > 0 {
		p.printf("         %6d tests completed and passed residual checks,\n", p.passed)
		p.printf("         %6d tests completed and failed residual checks,\n", p.failed)
	} else {
		p.printf("         %6d tests completed without checking,\n", p.passed)
	}
	p.printf("         %6d tests skipped because of illegal input values.\n%s\nEnd of Tests.\n%s", p.skipped, single, double)
}

// cFloat formats v as C's printf does, which writes nan and inf in lower case and
// without a plus.
func cFloat(format string, v float64) string {
	return strings.ReplaceAll(strings.ToLower(fmt.Sprintf(format, v)), "+inf", " inf")
}
