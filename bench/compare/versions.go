package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
)

// firstLine is the first line that a command prints, or "" if it fails.
func (b *bench) firstLine(argv ...string) string {
	text, err := b.tools.output(command{argv: argv})
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

// versionLine is the line of a C program that says what it was linked with.
var versionLine = regexp.MustCompile(`(?m)^version (.*)$`)

func versionOf(text string) string {
	if m := versionLine.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return "unknown version"
}

// blasLibraries are names in the path of a BLAS, and what they mean.
var blasLibraries = []struct{ part, name string }{
	{"openblas", "OpenBLAS"}, {"mkl", "MKL"}, {"blis", "BLIS"}, {"atlas", "ATLAS"}, {"libblas", "reference BLAS"},
}

// blasOf says which BLAS a program is linked with, as far as ldd tells; a library that
// libblas.so is a link to is named by what it needs itself.
func (b *bench) blasOf(program string) string {
	text, err := b.tools.output(command{argv: []string{"ldd", program}})
	if err != nil {
		return "unknown BLAS (ldd: " + err.Error() + ")"
	}
	for _, l := range blasLibraries {
		if strings.Contains(text, l.part) {
			return l.name
		}
	}
	return "unknown BLAS (linked statically)"
}

// busy tells whether a load average says that something else was running.
func busy(load string) bool {
	first, _, _ := strings.Cut(load, " ")
	v, err := strconv.ParseFloat(first, 64)
	return err == nil && v > 0.5
}

// load is the load average of the machine, or "" where that is not known.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
