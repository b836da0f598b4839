package commandline

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Columns is the width of help texts.
const Columns = 100

// longestName is how wide the names of a list may make its left column.
const longestName = 22

// print writes the help text: about, lists, flags, exit codes.
func (l *Line) print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(strings.TrimRight(l.about, "\n") + "\n")
	for _, s := range l.sections {
		s.print(&b)
	}
	if flags := l.flags(); len(flags.rows) > 0 {
		flags.print(&b)
	}
	b.WriteString("\n" + strings.Join(wrap("Exit codes: "+l.exits, Columns), "\n") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// flags returns the list of the flags. A default that is the zero value is not worth words.
func (l *Line) flags() section {
	s := section{title: "Flags"}
	l.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			usage += " (default " + f.DefValue + ")"
		}
		s.rows = append(s.rows, Row{strings.TrimSpace("-" + f.Name + " " + value), usage})
	})
	return s
}

// print writes the list in two columns. A name that is too long for the left one has its
// own line.
func (s section) print(w io.Writer) {
	width := 0
	for _, r := range s.rows {
		if n := len(r.Name); n <= longestName {
			width = max(width, n)
		}
	}
	fmt.Fprintf(w, "\n%s:\n", s.title)
	for _, r := range s.rows {
		left := r.Name
		if len(left) > longestName {
			fmt.Fprintf(w, "  %s\n", left)
			left = ""
		}
		for _, text := range wrap(r.Text, Columns-width-4) {
			fmt.Fprintf(w, "  %-*s  %s\n", width, left, text)
			left = ""
		}
	}
}

// wrap breaks a text at blanks into lines of at most width bytes; a longer word has a line of
// its own. There is at least one line.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
