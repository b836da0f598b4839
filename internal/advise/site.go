package advise

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/weft-hpc/weft/internal/osthread"
)

const (
	depth   = 12 // stack frames that are looked at: frames of mpi and engine, the call, three above
	callers = 3  // return addresses above the call, as in the paper
)

// places finds the site of a call from the stack. The return addresses are a fast key; sites
// that print the same are one site. It belongs to one goroutine.
type places struct {
	byPCs  map[[depth]uintptr]int
	byText map[string]int
	sites  []Site
	tasks  []bool // by site: made by the communication thread
	pcs    [depth]uintptr
}

func newPlaces() *places {
	return &places{byPCs: map[[depth]uintptr]int{}, byText: map[string]int{}}
}

// here returns the index of the site from which package mpi has been called; skip is the
// number of frames of this package above.
func (p *places) here(skip int) int {
	clear(p.pcs[:])
	osthread.Returns(p.pcs[:])
	if i, known := p.byPCs[p.pcs]; known {
		return i
	}
	var pcs [depth]uintptr
	s, task := resolve(pcs[:runtime.Callers(skip+2, pcs[:])])
	text := fmt.Sprint(s, task)
	i, known := p.byText[text]
	if !known {
		i = len(p.sites)
		p.sites = append(p.sites, s)
		p.tasks = append(p.tasks, task)
		p.byText[text] = i
	}
	p.byPCs[p.pcs] = i
	return i
}

const (
	module        = "github.com/weft-hpc/weft/"
	mpiPackage    = module + "mpi."
	enginePackage = module + "internal/engine."
	toolFrames    = module + "internal/advise.(*"
	threadName    = module + "commthread."
)

// resolve turns program counters into a site. Frames of package mpi stand above the
// program's: the last of them is the method that the program called.
func resolve(pcs []uintptr) (s Site, task bool) {
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch {
		case f.Function == "":
		case s.File == "" && (strings.HasPrefix(f.Function, toolFrames) || strings.HasPrefix(f.Function, enginePackage)):
		case strings.HasPrefix(f.Function, mpiPackage) && s.File == "":
			s.API = method(f.Function)
		case s.File == "":
			s.Func, s.File, s.Line = f.Function, f.File, f.Line
			task = strings.HasPrefix(f.Function, threadName)
		case len(s.Callers) < callers && !strings.HasPrefix(f.Function, "runtime."):
			s.Callers = append(s.Callers, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
	}
	return s, task
}

// method returns the last part of the name of a function: "Sendrecv".
func method(function string) string { return function[strings.LastIndexByte(function, '.')+1:] }

// String names the site as reports do: "Sendrecv at file:line".
func (s *Site) String() string { return fmt.Sprintf("%s at %s:%d", s.API, base(s.File), s.Line) }

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
