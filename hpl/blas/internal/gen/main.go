// Command gen writes the assembly of package blas into the current folder: one
// file per instruction set, from one description of each kernel. The declarations in the
// package say what a kernel computes, this command how.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, s := range []*isa{avx512, avx2} {
		f := &file{isa: s}
		f.header()
		f.gemmColumn()
		f.trsmTile()
		f.copyStrip("copyMR", s.mr)
		f.copyStrip("copyNR", s.nr)
		f.transpose()
		f.unpack()
		f.absMax()
		f.indexAbs()
		f.scal()
		f.axpy()
		f.swap()
		f.exchange4()
		f.gather8()
		f.scatter8()
		f.ger4()
		f.gemvN4()
		f.gemvT4()
		name := "kernels_" + s.name + "_amd64.s"
		if err := os.WriteFile(name, f.text.Bytes(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
