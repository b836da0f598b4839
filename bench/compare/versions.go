package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
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

// versionLine is the line in which a C program names its libraries.
var versionLine = regexp.MustCompile(`(?m)^version (.*)$`)

func versionOf(text string) string {
	if m := versionLine.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	return "unknown version"
}

// blasLibraries maps parts of the path of a BLAS to its name.
var blasLibraries = []struct{ part, name string }{
	{"openblas", "OpenBLAS"}, {"mkl", "MKL"}, {"blis", "BLIS"}, {"atlas", "ATLAS"}, {"libblas", "reference BLAS"},
}

// blasOf says which BLAS a program is linked with, by ldd. If libblas.so is a link, the
// dependences of its target tell.
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

// blasFile is the file of the BLAS a program is linked with, links followed: its name tells
// the version on most systems. "" if it is not known.
func (b *bench) blasFile(program string) string {
	text, err := b.tools.output(command{argv: []string{"ldd", program}})
	if err != nil {
		return ""
	}
	for _, l := range blasLibraries {
		for line := range strings.Lines(text) {
			_, found, _ := strings.Cut(line, "=>")
			if fields := strings.Fields(found); len(fields) > 0 && strings.Contains(fields[0], l.part) {
				if path, err := filepath.EvalSymlinks(fields[0]); err == nil {
					return filepath.Base(path)
				}
				return filepath.Base(fields[0])
			}
		}
	}
	return ""
}

// packageOf is the Debian package of a program and its version, or "unknown version".
func (b *bench) packageOf(program string) string {
	name, _, found := strings.Cut(b.firstLine("dpkg-query", "-S", program), ":")
	if !found {
		return "unknown version"
	}
	if version := b.firstLine("dpkg-query", "-W", "-f", "${Version}", name); version != "" {
		return name + " " + version
	}
	return "unknown version"
}

// treeLine names the commit of the source: go run records none in a program.
func (b *bench) treeLine() string {
	commit := b.firstLine("git", "rev-parse", "--short=12", "HEAD")
	if commit == "" {
		return "an unknown commit"
	}
	if b.firstLine("git", "status", "--porcelain", "--untracked-files=no") != "" {
		return "commit " + commit + " with changes"
	}
	return "commit " + commit
}

// noise is how many cores others use above which a machine is not quiet.
const noise = 0.2

// ticks are what all cores together have spent since the start of the machine, by the
// first line of /proc/stat; ok is false where there is none.
type ticks struct{ idle, all float64 }

func readTicks(text string) (t ticks, ok bool) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return t, false
	}
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal; guests are in user
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return t, false
		}
		t.all += v
		if i == 3 || i == 4 {
			t.idle += v
		}
	}
	return t, true
}

// inUse is the share of all cores that was in use between two readings, hypervisor and
// neighbours included.
func (t ticks) inUse(later ticks) float64 {
	if later.all <= t.all {
		return 0
	}
	return 1 - (later.idle-t.idle)/(later.all-t.all)
}

// coresInUse watches the machine for a while and returns how many cores others use; 0
// where that is not known.
func coresInUse(ctx context.Context, d time.Duration) float64 {
	look := func() ticks {
		text, _ := os.ReadFile("/proc/stat")
		t, _ := readTicks(string(text))
		return t
	}
	before := look()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return before.inUse(look()) * float64(osthread.Online())
}

// load is the load average of the machine, or "" where that is not known.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
