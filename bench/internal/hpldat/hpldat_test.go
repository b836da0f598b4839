package hpldat

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl"
)

// stock is netlib's HPL.dat.
func stock(t testing.TB) string {
	text, err := os.ReadFile("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	return string(text)
}

// with replaces lines of the stock file: number, text, number, text...
func with(t testing.TB, changes ...any) string {
	lines := strings.Split(stock(t), "\n")
	for i := 0; i < len(changes); i += 2 {
		lines[changes[i].(int)-1] = changes[i+1].(string)
	}
	return strings.Join(lines, "\n")
}

func parse(text string) (*File, error) { return Parse("HPL.dat", strings.NewReader(text)) }

func TestStockFile(t *testing.T) {
	f, err := Read("../../xhpl/testdata/HPL.dat")
	require.NoError(t, err)
	assert.Equal(t, &File{
		Output: "HPL.out", Device: 6,
		N: []int{29, 30, 34, 35}, NB: []int{1, 2, 3, 4}, Grids: []Grid{{2, 2}, {1, 4}, {4, 1}}, Threshold: 16,
		PFact: []hpl.Factor{hpl.Left, hpl.Crout, hpl.Right}, NBMin: []int{2, 4}, NDiv: []int{2},
		RFact: []hpl.Factor{hpl.Left, hpl.Crout, hpl.Right}, Bcast: []hpl.Broadcast{hpl.Ring}, Depth: []int{0},
		Swap: hpl.Mix, SwapThreshold: 64, Align: 8,
	}, f)
	assert.Equal(t, 864, f.Count())
	assert.Equal(t, 4, f.Ranks())
	all := map[string]bool{}
	for c := range f.Tests() {
		require.NoError(t, c.Validate())
		all[fmt.Sprintf("%+v", c)] = true
	}
	assert.Len(t, all, 864, "no test twice")
}

func TestTests_are_in_netlibs_order(t *testing.T) {
	f, err := parse(with(t, 17, "2 4", 18, "2", 19, "2 3", 22, "2", 23, "0 4", 24, "2", 25, "0 1", 7, "2", 8, "8 16"))
	require.NoError(t, err)
	var keys [][9]int
	for c := range f.Tests() {
		grid := map[Grid]int{{2, 2}: 0, {1, 4}: 1, {4, 1}: 2}[Grid{c.P, c.Q}]
		keys = append(keys, [9]int{grid, c.N, c.NB, c.Depth, int(c.Bcast), int(c.RFact), int(c.PFact), c.NBMin, c.NDiv})
	}
	require.Len(t, keys, f.Count())
	for i := 1; i < len(keys); i++ {
		require.Negative(t, compare(keys[i-1], keys[i]), "%v before %v", keys[i-1], keys[i])
	}
	n := 0
	for range f.Tests() { // stopping early is allowed anywhere
		if n++; n == 5 {
			break
		}
	}
	assert.Equal(t, 5, n)
}

func compare(a, b [9]int) int {
	for i := range a {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return 0
}

// What netlib does with values that are out of the ordinary.
func TestValuesOutOfTheOrdinary(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ok   func(*File) bool
	}{
		"PMAP 1":              {with(t, 9, "1"), func(f *File) bool { return f.ColumnMajor }},
		"PMAP other":          {with(t, 9, "7"), func(f *File) bool { return !f.ColumnMajor }},
		"PFACT other":         {with(t, 15, "0 7 -1"), func(f *File) bool { return f.PFact[1] == hpl.Right && f.PFact[2] == hpl.Right }},
		"RFACT other":         {with(t, 21, "0 1 9"), func(f *File) bool { return f.RFact[2] == hpl.Right && f.RFact[1] == hpl.Crout }},
		"BCAST other":         {with(t, 22, "3", 23, "6 5 -2"), func(f *File) bool { return fmt.Sprint(f.Bcast) == "[1 5 1]" }},
		"SWAP other":          {with(t, 26, "3"), func(f *File) bool { return f.Swap == hpl.SpreadRoll }},
		"SWAP 0":              {with(t, 26, "0"), func(f *File) bool { return f.Swap == hpl.BinaryExchange }},
		"swapping threshold":  {with(t, 27, "-5"), func(f *File) bool { return f.SwapThreshold == 0 }},
		"L1 other":            {with(t, 28, "2"), func(f *File) bool { return !f.L1NoTrans }},
		"L1, U":               {with(t, 28, "1", 29, "1"), func(f *File) bool { return f.L1NoTrans && f.UNoTrans }},
		"EQUIL other":         {with(t, 30, "2"), func(f *File) bool { return !f.NoEquil }},
		"EQUIL 0":             {with(t, 30, "0"), func(f *File) bool { return f.NoEquil }},
		"ALIGN 0":             {with(t, 31, "0"), func(f *File) bool { return f.Align == 4 }},
		"threshold off":       {with(t, 13, "-1.0"), func(f *File) bool { return f.Threshold == -1 }},
		"threshold small":     {with(t, 13, "1e-2 threshold"), func(f *File) bool { return f.Threshold == 0.01 }},
		"comment at a number": {with(t, 13, "16.0threshold", 31, "8# words"), func(f *File) bool { return f.Threshold == 16 && f.Align == 8 }},
		"decimals":            {with(t, 8, "1.9 2 3 4"), func(f *File) bool { return f.NB[0] == 1 }},
		"tabs and blanks":     {with(t, 6, "\t 29   30\t34  35 Ns"), func(f *File) bool { return fmt.Sprint(f.N) == "[29 30 34 35]" }},
		"more than it says":   {with(t, 6, "29 30 34 35 36 37"), func(f *File) bool { return len(f.N) == 4 }},
		"N = 0":               {with(t, 6, "0 0 1 2"), func(f *File) bool { return f.N[0] == 0 }},
		"twenty":              {with(t, 5, "20", 6, strings.Repeat("5 ", 20)), func(f *File) bool { return len(f.N) == 20 }},
		"device":              {with(t, 3, "my.out comment", 4, "8"), func(f *File) bool { return f.Device == 8 && f.Output == "my.out" }},
		"no file":             {with(t, 3, " "), func(f *File) bool { return f.Output == "" && f.Device == 6 }},
		"ALIGN large":         {with(t, 31, "1048576"), func(f *File) bool { return f.Align == maxAlign }},
		"DOS":                 {strings.ReplaceAll(stock(t), "\n", "\r\n"), func(f *File) bool { return f.Output == "HPL.out" && f.Align == 8 }},
		"long lines":          {with(t, 1, strings.Repeat("x", 5000), 5, "4 "+strings.Repeat("y", 5000)), func(f *File) bool { return len(f.N) == 4 }},
		"more lines":          {stock(t) + "##### This line (no. 32) is ignored\n0\n", func(f *File) bool { return f.Align == 8 && f.Notes == nil }},
	} {
		f, err := parse(c.text)
		if assert.NoError(t, err, name) {
			assert.True(t, c.ok(f), "%s: %+v", name, f)
		}
	}
}

func TestShorterFiles(t *testing.T) {
	lines := strings.SplitAfter(stock(t), "\n")
	whole, err := parse(stock(t))
	require.NoError(t, err)
	for n := range 31 {
		f, err := parse(strings.Join(lines[:n], "") + "\n \n")
		if n < 25 {
			want := max(n+1, 3)
			where := fmt.Sprintf("The file ends after line %d", n)
			if n == 0 {
				where = "The file is empty"
			}
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, want, e.Line)
			assert.Contains(t, e.Text, fmt.Sprintf("%s: line %d has to give", where, want))
			continue
		}
		require.NoError(t, err)
		require.Len(t, f.Notes, 31-n)
		assert.Contains(t, f.Notes[0], fmt.Sprintf("has no line %d", n+1))
		f.Notes = nil
		assert.Equal(t, whole, f)
	}
}

func TestErrorsNameLineAndValue(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		says string
	}{
		{with(t, 5, "0"), 5, `Number of values of N is less than 1 or greater than 20: it is "0"`},
		{with(t, 5, "21"), 5, `Number of values of N is less than 1 or greater than 20: it is "21"`},
		{with(t, 5, "Ns"), 5, `Value of the number of values of N is "Ns": it has to be an integer`},
		{with(t, 6, "29 -1 34 35"), 6, `Value of N less than 0: value 2 is "-1"`},
		{with(t, 6, "29 30 34 Ns"), 6, `Too few values of N: there are 3, and line 5 says 4`},
		{with(t, 6, "Ns"), 6, `Value of N is "Ns": it has to be an integer`},
		{with(t, 6, "99999999999 1 1 1"), 6, `Value of N is "99999999999": it has to be from -2147483648 to 2147483647`},
		{with(t, 8, "1 2 0 4"), 8, `Value of NB less than 1: value 3 is "0"`},
		{with(t, 9, "row"), 9, `Value of PMAP is "row"`},
		{with(t, 10, "-3"), 10, `Number of values of grids is less than 1 or greater than 20: it is "-3"`},
		{with(t, 11, "0 1 4"), 11, `Value of P less than 1: value 1 is "0"`},
		{with(t, 12, "2 4"), 12, `Too few values of Q: there are 2, and line 10 says 3`},
		{with(t, 11, "100000 1 4", 12, "100000 4 1"), 12, `Process grid 100000 x 100000 is too large`},
		{with(t, 13, "high"), 13, `Value of the threshold is "high": it has to be a number`},
		{with(t, 13, "1e999"), 13, `Value of the threshold is "1e999"`},
		{with(t, 13, "nan"), 13, `Value of the threshold is "nan"`},
		{with(t, 14, "99"), 14, `Number of values of PFACT`},
		{with(t, 17, "2 0"), 17, `Value of NBMIN less than 1: value 2 is "0"`},
		{with(t, 19, "1"), 19, `Value of NDIV less than 2: value 1 is "1"`},
		{with(t, 3, "", 4, "8"), 3, `The line is blank: it has to give the name of the output file, which the device 8 asks for`},
		{with(t, 3, "", 4, "x"), 4, `Value of the device out is "x"`},
		{with(t, 21, ""), 21, `The line is blank: it has to give 3 value(s) of RFACT`},
		{with(t, 25, "-1"), 25, `Value of DEPTH less than 0: value 1 is "-1"`},
		{with(t, 26, "mix"), 26, `Value of SWAP is "mix"`},
		{with(t, 28, ""), 28, `The line is blank: it has to give L1`},
		{with(t, 31, "ALIGN"), 31, `Value of ALIGN is "ALIGN"`},
		{with(t, 31, "1048577"), 31, `Value of ALIGN greater than 1048576: it is "1048577"`},
		{"\x00\x01\x02\n\xff\n\x80\n\x00\n", 4, `Value of the device out is "\x00"`},
	} {
		f, err := Parse("dir/HPL.dat", strings.NewReader(c.text))
		assert.Nil(t, f)
		var e *Error
		if assert.ErrorAs(t, err, &e, c.says) {
			assert.Equal(t, c.line, e.Line, c.says)
			assert.Contains(t, e.Text, c.says)
			assert.Equal(t, fmt.Sprintf("HPL.dat, line %d: %s", e.Line, e.Text), e.Error())
			assert.Equal(t, fmt.Sprintf("HPL ERROR from process # 0, on line %d of file HPL.dat:\n>>> %s <<<\n\n", e.Line, e.Text), e.Netlib())
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.dat")
	_, err := Read(missing)
	assert.EqualError(t, err, missing+": cannot open file "+missing+": no such file or directory")
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.Contains(t, e.Netlib(), "HPL ERROR from process # 0, in file "+missing+":\n>>> cannot open file")

	_, err = Read(t.TempDir())
	assert.ErrorContains(t, err, "cannot be read")
	_, err = Parse("x", iotest.ErrReader(io.ErrUnexpectedEOF))
	assert.ErrorContains(t, err, "cannot be read: unexpected EOF")
	_, err = Parse("x", strings.NewReader(strings.Repeat("x", maxBytes+1)))
	assert.ErrorContains(t, err, "this is no HPL.dat")
}

func TestDefault_is_one_test(t *testing.T) {
	f := Default(1000)
	require.Equal(t, 1, f.Count())
	for c := range f.Tests() {
		assert.Equal(t, hpl.Default(1000), c)
	}
}

// write prints f as an HPL.dat that means the same.
func write(f *File) string {
	ints := func(v any) string { return strings.Trim(fmt.Sprint(v), "[]") }
	bit := map[bool]int{true: 1}
	var p, q []int
	for _, g := range f.Grids {
		p, q = append(p, g.P), append(q, g.Q)
	}
	return fmt.Sprintf("title\ntitle\n%s\n%d\n%d\n%s\n%d\n%s\n%d\n%d\n%s\n%s\n%g\n%d\n%s\n%d\n%s\n%d\n%s\n%d\n%s\n%d\n%s\n%d\n%s\n%d\n%d\n%d\n%d\n%d\n%d\n",
		f.Output, f.Device, len(f.N), ints(f.N), len(f.NB), ints(f.NB), bit[f.ColumnMajor], len(p), ints(p), ints(q), f.Threshold,
		len(f.PFact), ints(f.PFact), len(f.NBMin), ints(f.NBMin), len(f.NDiv), ints(f.NDiv), len(f.RFact), ints(f.RFact),
		len(f.Bcast), ints(f.Bcast), len(f.Depth), ints(f.Depth),
		f.Swap, f.SwapThreshold, bit[f.L1NoTrans], bit[f.UNoTrans], bit[!f.NoEquil], f.Align)
}

// Whatever is accepted keeps the rules, and means the same when it is written and read
// again; every refusal names a line of the file.
func FuzzParse(f *testing.F) {
	f.Add(stock(f))
	f.Add(with(f, 6, "29 -1 34 35"))
	f.Add(with(f, 13, "1e-2x", 23, "9", 31, ""))
	f.Add("")
	f.Add("\n\nHPL.out\n6\n1\n1000\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parse(text)
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Text)
			require.True(t, e.Line >= 3 && e.Line <= 31 || len(text) > maxBytes, err)
			return
		}
		for _, list := range [][]int{file.N, file.NB, file.NBMin, file.NDiv, file.Depth} {
			require.NotEmpty(t, list)
			require.LessOrEqual(t, len(list), MaxValues)
		}
		for c := range file.Tests() {
			if c.N <= 1<<29 {
				require.NoError(t, c.Validate())
			}
			break
		}
		file.Notes = nil
		again, err := parse(write(file))
		require.NoError(t, err)
		require.Equal(t, file, again)
	})
}
