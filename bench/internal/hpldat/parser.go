package hpldat

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// parser goes through the lines of a file. After the first error it returns zeros.
type parser struct {
	name  string
	lines []string
	next  int // line to be read next, from 1
	err   error
}

// anything is the least value where there is none.
const anything = math.MinInt32

func (p *parser) fail(line int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{File: p.name, Line: line, Text: fmt.Sprintf(format, args...)}
	}
}

// words returns the words of the next line, at least one, and its number.
func (p *parser) words(what string) (words []string, line int) {
	if p.err != nil {
		return nil, 0
	}
	line = p.next
	p.next++
	switch ends := len(p.lines); {
	case ends == 1 && p.lines[0] == "":
		p.fail(line, "The file is empty: line %d has to give %s", line, what)
		return nil, line
	case line > ends:
		p.fail(line, "The file ends after line %d: line %d has to give %s", ends, line, what)
		return nil, line
	}
	words = strings.Fields(p.lines[line-1])
	if len(words) == 0 {
		p.fail(line, "The line is blank: it has to give %s", what)
	}
	return words, line
}

// word returns the first word of the next line.
func (p *parser) word(what string) (word string, line int) {
	words, line := p.words(what)
	if len(words) == 0 {
		return "", line
	}
	return words[0], line
}

// output reads lines 3 and 4. A blank name will do where the output does not go there.
func (p *parser) output() (name string, device int) {
	p.next = 3
	blank := len(p.lines) >= 3 && strings.TrimSpace(p.lines[2]) == ""
	if blank {
		p.next++
	} else {
		name, _ = p.word("the name of the output file")
	}
	device = p.number("the device out")
	if blank && device != 6 && device != 7 {
		p.fail(3, "The line is blank: it has to give the name of the output file, which the device %d asks for", device)
	}
	return name, device
}

// number reads a line with one integer.
func (p *parser) number(what string) int {
	w, line := p.word(what)
	if p.err != nil {
		return 0
	}
	return p.integer(line, w, what)
}

// Numbers as atoi and atof find them at the beginning of a word.
var (
	leadingInteger = regexp.MustCompile(`^[+-]?[0-9]+`)
	leadingDecimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?`)
)

// integer reads the number that a word of a line begins with.
func (p *parser) integer(line int, word, what string) int {
	v, err := strconv.ParseInt(leadingInteger.FindString(word), 10, 32)
	if err != nil && leadingInteger.MatchString(word) {
		p.fail(line, "Value of %s is %q: it has to be from %d to %d", what, word, math.MinInt32, math.MaxInt32)
	} else if err != nil {
		p.fail(line, "Value of %s is %q: it has to be an integer", what, word)
	}
	return int(v)
}

// decimal reads a line with one number, which is finite.
func (p *parser) decimal(what string) float64 {
	w, line := p.word(what)
	if p.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(leadingDecimal.FindString(w), 64)
	if err != nil {
		p.fail(line, "Value of %s is %q: it has to be a number; 0 switches the check off", what, w)
	}
	return v
}

// count reads a line with the number of values of a list.
func (p *parser) count(of string) int {
	w, line := p.word("the number of values of " + of)
	if p.err != nil {
		return 0
	}
	n := p.integer(line, w, "the number of values of "+of)
	if n < 1 || n > MaxValues {
		p.fail(line, "Number of values of %s is less than 1 or greater than %d: it is %q", of, MaxValues, w)
	}
	return n
}

// values reads a line with n integers that are at least least.
func (p *parser) values(of string, n, least int) (all []int) {
	words, line := p.words(fmt.Sprintf("%d value(s) of %s", n, of))
	for i := 0; i < n && p.err == nil; i++ {
		if i >= len(words) || i > 0 && !leadingInteger.MatchString(words[i]) {
			p.fail(line, "Too few values of %s: there are %d, and line %d says %d", of, i, countLine(line, of), n)
			break
		}
		v := p.integer(line, words[i], of)
		if p.err == nil && v < least {
			p.fail(line, "Value of %s less than %d: value %d is %q", of, least, i+1, words[i])
		}
		all = append(all, v)
	}
	return all
}

// countLine returns the line that says how many values the list on a line has: the one
// before, or for the second list of the grids, two before.
func countLine(line int, of string) int {
	if of == "Q" {
		return line - 2
	}
	return line - 1
}

// list reads the number of values and the values.
func (p *parser) list(of string, least int) []int {
	n := p.count(of)
	if p.err != nil {
		return nil
	}
	return p.values(of, n, least)
}

// checkGrids refuses grids whose number of processes is beyond what MPI can count.
func (p *parser) checkGrids(all []Grid) {
	for _, g := range all {
		if int64(g.P)*int64(g.Q) > math.MaxInt32 {
			p.fail(p.next-1, "Process grid %d x %d is too large: P times Q has to be at most %d", g.P, g.Q, math.MaxInt32)
		}
	}
}

// optional reads a line with one integer. If the file has ended, that is other, and a
// note.
func (p *parser) optional(what string, other int, f *File) int {
	if p.err == nil && p.next > len(p.lines) {
		f.Notes = append(f.Notes, fmt.Sprintf("%s has no line %d: %s is %d", p.name, p.next, what, other))
		p.next++
		return other
	}
	return p.number(what)
}
