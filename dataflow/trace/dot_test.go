package trace

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

var (
	dotNode = regexp.MustCompile(`(?m)^\s*t(\d+) \[label="(.*?)", fillcolor="#[0-9a-f]{6}", tooltip="(.*?)"(.*)\];$`)
	dotEdge = regexp.MustCompile(`(?m)^\s*t(\d+) -> t(\d+)( \[.*\])?;$`)
)

func dotOf(t *testing.T, l *dataflow.Log, limit int) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteDOTLimit(&out, l, limit))
	requireBalanced(t, out.String())
	return out.String()
}

// requireBalanced checks braces and quotes, and that edges join drawn nodes.
func requireBalanced(t *testing.T, text string) {
	t.Helper()
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			depth--
		}
		require.GreaterOrEqual(t, depth, 0)
	}
	require.False(t, quoted)
	require.Zero(t, depth)
	nodes := map[string]bool{}
	for _, n := range dotNode.FindAllStringSubmatch(text, -1) {
		require.False(t, nodes[n[1]], "task %s is drawn twice", n[1])
		nodes[n[1]] = true
	}
	for _, e := range dotEdge.FindAllStringSubmatch(text, -1) {
		require.True(t, nodes[e[1]] && nodes[e[2]], "edge %s joins tasks that are not drawn", e[0])
	}
}

func TestDOTOfCholesky(t *testing.T) {
	text := dotOf(t, cholesky(), DOTLimit)
	nodes := dotNode.FindAllStringSubmatch(text, -1)
	require.Len(t, nodes, 10)
	assert.NotContains(t, text, "left out")
	assert.Contains(t, text, `tooltip="gemm #5: 8.50 us on worker 0, cholesky/main.go:13"`)
	assert.Contains(t, text, `tooltip="file #10: 2.00 us on worker 0, failed, cholesky/main.go:16"`)
	edges := dotEdge.FindAllStringSubmatch(text, -1)
	assert.Len(t, edges, 12, "10 dependences, 2 children without")
	assert.Equal(t, 4, strings.Count(text, "penwidth=2.5, color"), "potrf, trsm, gemm, check, norm")
	box := text[strings.Index(text, "subgraph cluster_8"):]
	box = box[:strings.Index(box, "}")]
	assert.Len(t, dotNode.FindAllString(box, -1), 3, "check with its children")
}

func TestDOTLimit(t *testing.T) {
	text := dotOf(t, cholesky(), 4)
	assert.Len(t, dotNode.FindAllString(text, -1), 4)
	assert.Contains(t, text, "// The first 4 of 10 tasks; 6 tasks are left out.")
	assert.Contains(t, text, `label="the first 4 of 10 tasks; 6 are left out"`)
	for _, limit := range []int{0, -1} {
		assert.Empty(t, dotNode.FindAllString(dotOf(t, cholesky(), limit), -1))
	}
	assert.Len(t, dotNode.FindAllString(dotOf(t, cholesky(), 9), -1), 9, "a parent without all of its children")
}

func TestDOTOddTasks(t *testing.T) {
	b := newBuilder(1, "worker 0")
	bad := b.spawn(0, 0, `a"b\c`, 0)
	b.spawn(0, 0, "poisoned", 0, bad)
	b.spawn(0, 0, "late", 0)
	b.start(0, 1*us, bad)
	b.add(0, 2*us, dataflow.EventEnd, bad, 1, 0)
	b.add(0, 2*us, dataflow.EventEnd, 2, 2, 0)
	text := dotOf(t, &b.log, DOTLimit)
	assert.Contains(t, text, `label="a\"b\\c\n#1"`)
	assert.Contains(t, text, "poisoned #2: skipped")
	assert.Contains(t, text, "late #3: never started")
	assert.Equal(t, 2, strings.Count(text, "dashed"))
}

func TestColoursFollowTheNameOnly(t *testing.T) {
	one, two := newBuilder(1, "worker 0"), newBuilder(1, "worker 0")
	one.run(0, 1*us, 2*us, one.spawn(0, 0, "gemm", 0))
	two.spawn(0, 0, "other", 0)
	two.run(0, 1*us, 2*us, two.spawn(0, 0, "gemm", 0))
	fill := regexp.MustCompile(`label="gemm.*fillcolor="(#......)"`)
	assert.Equal(t, fill.FindStringSubmatch(dotOf(t, &one.log, 9))[1], fill.FindStringSubmatch(dotOf(t, &two.log, 9))[1])
	assert.Equal(t, chromeOf(t, &one.log).phase("X")[0].Color, chromeOf(t, &two.log).phase("X")[0].Color)
}
