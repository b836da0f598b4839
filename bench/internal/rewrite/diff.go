package rewrite

import (
	"fmt"
	"strings"
)

const around = 3 // unchanged lines on either side of a hunk

// Diff returns the difference of two texts in the unified format, "" if there is none.
func Diff(oldName, newName string, before, after []byte) string {
	a, b := lines(string(before)), lines(string(after))
	script := compare(a, b)
	var out strings.Builder
	for i := 0; i < len(script); {
		if script[i].op == ' ' {
			i++
			continue
		}
		from := max(i-around, 0)
		to, quiet := i, 0
		for ; to < len(script) && quiet <= 2*around; to++ {
			if quiet++; script[to].op != ' ' {
				quiet = 0
			}
		}
		to = min(to-max(quiet-around, 0), len(script))
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
		}
		hunk(&out, script, from, to)
		i = to
	}
	return out.String()
}

// step is a line of a script that turns one text into another: ' ' both have it, '-' the
// first, '+' the second.
type step struct {
	op   byte
	text string
}

// hunk writes the steps [from, to).
func hunk(out *strings.Builder, script []step, from, to int) {
	count := func(part []step, other byte) (n int) {
		for _, s := range part {
			if s.op != other {
				n++
			}
		}
		return n
	}
	a0, b0 := count(script[:from], '+'), count(script[:from], '-')
	an, bn := count(script[from:to], '+'), count(script[from:to], '-')
	start := func(at, n int) int {
		if n == 0 {
			return at
		}
		return at + 1
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start(a0, an), an, start(b0, bn), bn)
	for _, s := range script[from:to] {
		out.WriteByte(s.op)
		out.WriteString(s.text)
		if !strings.HasSuffix(s.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// lines splits a text behind its line ends.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// compare returns a script with the longest common subsequence of lines. Equal beginnings
// and ends are taken off first, so the quadratic part is what lies between.
func compare(a, b []string) (script []step) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for _, s := range a[:head] {
		script = append(script, step{' ', s})
	}
	script = append(script, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	for _, s := range a[len(a)-tail:] {
		script = append(script, step{' ', s})
	}
	return script
}

func middle(a, b []string) (script []step) {
	common := make([][]int, len(a)+1) // [i][j]: of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			script = append(script, step{' ', a[i]})
			i, j = i+1, j+1
		case i < len(a) && (j == len(b) || common[i+1][j] >= common[i][j+1]):
			script = append(script, step{'-', a[i]})
			i++
		default:
			script = append(script, step{'+', b[j]})
			j++
		}
	}
	return script
}
