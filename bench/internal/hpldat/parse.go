package hpldat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/hpl"
)

// Error is a mistake in an HPL.dat.
type Error struct {
	File string // its name
	Line int    // counted from 1; 0 if the file as a whole is meant
	Text string // the mistake, the value, and the allowed values
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Text)
}

// Netlib returns the error as netlib's program prints its own, on several lines. The
// line is one of the input, where netlib tells one of its source.
func (e *Error) Netlib() string {
	where := "in file " + e.File
	if e.Line > 0 {
		where = fmt.Sprintf("on line %d of file %s", e.Line, e.File)
	}
	return fmt.Sprintf("HPL ERROR from process # 0, %s:\n>>> %s <<<\n\n", where, e.Text)
}

// Read reads the HPL.dat at path. It blocks on the disk. Every error is an *Error.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		var why *fs.PathError
		if errors.As(err, &why) {
			err = why.Err
		}
		return nil, &Error{File: path, Text: fmt.Sprintf("cannot open file %s: %v", path, err)}
	}
	defer f.Close()
	return Parse(path, f)
}

// maxBytes is far above the size of any HPL.dat: a longer file is something else.
const maxBytes = 1 << 20

// Parse reads an HPL.dat; name is for errors. Every error is an *Error.
func Parse(name string, r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, &Error{File: name, Text: fmt.Sprintf("cannot be read: %v", err)}
	}
	if len(text) > maxBytes {
		return nil, &Error{File: name, Text: fmt.Sprintf("has more than %d bytes: this is no HPL.dat", maxBytes)}
	}
	p := &parser{name: filepath.Base(name), lines: strings.Split(strings.TrimRight(string(text), " \t\r\n"), "\n")}
	f := &File{}
	p.lists(f)
	p.single(f)
	if p.err != nil {
		return nil, p.err
	}
	return f, nil
}

// lists reads lines 1 to 25.
func (p *parser) lists(f *File) {
	f.Output, f.Device = p.output()
	f.N = p.list("N", 0)
	f.NB = p.list("NB", 1)
	f.ColumnMajor = p.number("PMAP") == 1
	grids := p.count("grids")
	rows, columns := p.values("P", grids, 1), p.values("Q", grids, 1)
	if p.err == nil {
		for i := range rows {
			f.Grids = append(f.Grids, Grid{rows[i], columns[i]})
		}
		p.checkGrids(f.Grids)
	}
	f.Threshold = p.decimal("the threshold")
	f.PFact = factors(p.list("PFACT", anything))
	f.NBMin = p.list("NBMIN", 1)
	f.NDiv = p.list("NDIV", 2)
	f.RFact = factors(p.list("RFACT", anything))
	for _, v := range p.list("BCAST", anything) {
		f.Bcast = append(f.Bcast, hpl.Broadcast(known(v, int(hpl.LongModified), int(hpl.RingModified))))
	}
	f.Depth = p.list("DEPTH", 0)
}

// single reads lines 26 to 31, which may be missing.
func (p *parser) single(f *File) {
	f.Swap = hpl.Swap(known(p.optional("SWAP", int(hpl.Mix), f), int(hpl.Mix), int(hpl.SpreadRoll)))
	f.SwapThreshold = max(0, p.optional("the swapping threshold", 64, f))
	f.L1NoTrans = p.optional("L1", 0, f) == 1
	f.UNoTrans = p.optional("U", 0, f) == 1
	f.NoEquil = p.optional("EQUIL", 1, f) == 0
	line := p.next
	switch f.Align = p.optional("ALIGN", 8, f); {
	case f.Align <= 0:
		f.Align = 4
	case f.Align > maxAlign:
		p.fail(line, "Value of ALIGN greater than %d: it is \"%d\"", maxAlign, f.Align)
	}
}

// maxAlign is beyond any page: a column as long as that would take 8 MiB for itself.
const maxAlign = 1 << 20

// known returns v if it is from 0 to last, and other if not.
func known(v, last, other int) int {
	if v < 0 || v > last {
		return other
	}
	return v
}

func factors(values []int) (all []hpl.Factor) {
	for _, v := range values {
		all = append(all, hpl.Factor(known(v, int(hpl.Right), int(hpl.Right))))
	}
	return all
}
