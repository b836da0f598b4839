package deps

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata/*.txt")

// The scripts in testdata show the rules of dependence, line by line. The left side is an
// action:
//
//	name: mode region, ...    a task is submitted
//	release name ...          tasks end
//	fail name ...             tasks end without success
//	close [region]            open reductions are combined
//	forgive                   failures are forgotten
//
// and the right side its result: "ready", or the tasks that the new one waits for; for
// tasks that end, the tasks that become ready. join(a, b) is a join node of a and b,
// combine(x) the node that combines the private copies of a reduction. "== title" starts
// afresh, "#" a comment.
//
// Regions: x is a separate block of 64 bytes; x[2:6] is its bytes 2 to 5; x(0:4,2:6) is the
// tile with rows 0 to 3 and columns 2 to 5 of x seen as a column-major matrix of 8 x 8
// bytes; @7 is a handle. reduction(+) names an operation.
//
// After a change, go test ./deps -update rewrites the right sides.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScript(t, string(want))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(want), got)
		})
	}
}

const arrow = "=> "

// runScript returns the script with its right sides filled in.
func runScript(t *testing.T, script string) string {
	var out, left, right []string
	flush := func() { // aligns the arrows of a paragraph
		width := 0
		for _, l := range left {
			width = max(width, utf8.RuneCountInString(l))
		}
		for i := range left {
			out = append(out, strings.TrimRight(fmt.Sprintf("%-*s  %s%s", width, left[i], arrow, right[i]), " "))
		}
		left, right = nil, nil
	}
	s := newScript(t)
	for line := range strings.SplitSeq(strings.TrimRight(script, "\n"), "\n") {
		do, _, _ := strings.Cut(line, strings.TrimSpace(arrow))
		do = strings.TrimRight(do, " ")
		if do == "" || strings.HasPrefix(do, "#") || strings.HasPrefix(do, "==") {
			flush()
			out = append(out, do)
			if strings.HasPrefix(do, "==") {
				s = newScript(t)
			}
			continue
		}
		left, right = append(left, do), append(right, s.line(do))
	}
	flush()
	return strings.Join(out, "\n") + "\n"
}

// A script is the state of one case.
type script struct {
	*testing.T
	bed     *bed
	memory  []byte
	places  map[string]int // in memory
	nodes   []*named
	event   []string // combine nodes that the line made
	regions map[Region]string
}

type named struct {
	Node // first
	name string
}

func newScript(t *testing.T) *script {
	s := &script{T: t, bed: newBed(), memory: make([]byte, 64*64), places: map[string]int{}, regions: map[Region]string{}}
	s.bed.Configure(s.bed.next, s.combine, nil)
	return s
}

func (s *script) line(do string) string {
	s.event = nil
	if name, accesses, ok := strings.Cut(do, ":"); ok && !strings.Contains(name, " ") {
		return s.result(s.task(name, strings.TrimSpace(accesses)))
	}
	words := strings.Fields(do)
	switch words[0] {
	case "release", "fail":
		var ready []string
		for _, name := range words[1:] {
			for _, n := range chain(s.find(name).Release(words[0] == "fail")) {
				ready = append(ready, s.label(n))
			}
		}
		if ready == nil {
			return "nothing"
		}
		return "ready: " + strings.Join(ready, ", ")
	case "close":
		var r Region
		if len(words) > 1 {
			r = s.region(words[1])
		}
		s.bed.CloseReductions(r)
		return s.result("")
	case "forgive":
		for _, n := range s.nodes {
			n.Forgive()
		}
		s.bed.Forgive()
		return ""
	}
	require.Fail(s, "not understood", do)
	return ""
}

func (s *script) result(r string) string {
	if r != "" {
		s.event = append(s.event, r)
	}
	return strings.Join(s.event, "; ")
}

func (s *script) begin(name string) *named {
	n := &named{name: name}
	s.bed.begin(&n.Node)
	s.nodes = append(s.nodes, n)
	return n
}

func (s *script) task(name, accesses string) string {
	n := s.begin(name)
	var edges int32
	for _, text := range splitAccesses(accesses) {
		mode, region, _ := strings.Cut(text, " ")
		var op any
		if inner, ok := strings.CutPrefix(mode, "reduction("); ok {
			mode, op = "reduction", inner
		}
		m := slices.Index(modeNames[:], mode)
		require.GreaterOrEqual(s, m, 0, "mode %q", mode)
		e, _, err := s.bed.Access(&n.Node, s.region(strings.TrimSpace(region)), Mode(m), op)
		if err != nil {
			return "error: " + err.Error()
		}
		edges += e
	}
	return s.commit(n, edges)
}

// splitAccesses cuts at the commas outside of parentheses.
func splitAccesses(text string) (all []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	if text = strings.TrimSpace(text[from:]); text != "" {
		all = append(all, text)
	}
	return all
}

func (s *script) commit(n *named, edges int32) string {
	if n.Commit(edges) {
		if n.Poisoned() {
			return "ready (poisoned)"
		}
		return "ready"
	}
	return "after " + s.predecessors(&n.Node)
}

// predecessors lists the predecessors of n, in the order of submission.
func (s *script) predecessors(n *Node) string {
	var names []string
	var joins []*Node
	follows := func(p *Node) (yes bool) {
		p.Successors(func(q *Node) { yes = yes || q == n })
		return yes && !p.Ended()
	}
	for _, p := range s.nodes {
		if follows(&p.Node) {
			names = append(names, p.name)
		}
		p.Successors(func(j *Node) {
			if j.join && !slices.Contains(joins, j) {
				joins = append(joins, j)
			}
		})
	}
	for _, j := range joins {
		if follows(j) {
			names = append(names, "join("+s.predecessors(j)+")")
		}
	}
	return strings.Join(names, ", ")
}

func (s *script) combine(e *Entry) {
	name := "combine(" + s.regions[e.Region()] + ")"
	for k := 2; s.lookup(name) != nil; k++ {
		name = fmt.Sprintf("combine(%s)#%d", s.regions[e.Region()], k)
	}
	n := s.begin(name)
	edges, _, err := s.bed.Access(&n.Node, e.Region(), Inout, nil)
	require.NoError(s, err)
	s.event = append(s.event, name+" "+s.commit(n, edges))
}

func (s *script) lookup(name string) *named {
	i := slices.IndexFunc(s.nodes, func(n *named) bool { return n.name == name })
	if i < 0 {
		return nil
	}
	return s.nodes[i]
}

func (s *script) find(name string) *named {
	n := s.lookup(name)
	require.NotNil(s, n, "task %q", name)
	return n
}

func (s *script) label(n *Node) string {
	name := (*named)(unsafe.Pointer(n)).name
	if n.Poisoned() {
		return name + " (poisoned)"
	}
	return name
}

var (
	interval = regexp.MustCompile(`^(\w+)\[(\d+):(\d+)\]$`)
	tile     = regexp.MustCompile(`^(\w+)\((\d+):(\d+),(\d+):(\d+)\)$`)
)

func (s *script) region(text string) (r Region) {
	if id, ok := strings.CutPrefix(text, "@"); ok {
		r = Handle(uintptr(s.number(id)))
	} else if m := interval.FindStringSubmatch(text); m != nil {
		lo, hi := s.number(m[2]), s.number(m[3])
		r = Bytes(unsafe.Pointer(&s.memory[s.place(m[1])+lo]), uintptr(hi-lo))
	} else if m := tile.FindStringSubmatch(text); m != nil {
		i, k, j, l := s.number(m[2]), s.number(m[3]), s.number(m[4]), s.number(m[5])
		var err error
		r, err = Tile(unsafe.Pointer(&s.memory[s.place(m[1])+i+8*j]), k-i, l-j, 8, 1)
		require.NoError(s, err)
	} else {
		r = Bytes(unsafe.Pointer(&s.memory[s.place(text)]), 64)
	}
	s.regions[r] = text
	return r
}

func (s *script) place(name string) int {
	p, ok := s.places[name]
	if !ok {
		p = 64 * len(s.places)
		s.places[name] = p
	}
	return p
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(s, err)
	return n
}
