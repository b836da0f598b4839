package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

var (
	dotNode = regexp.MustCompile(`(?m)^\s*((?:r\d+)?t\d+) \[label="(.*?)", fillcolor="#[0-9a-f]{6}", tooltip="(.*?)"(.*)\];$`)
	dotRank = regexp.MustCompile(`(?m)^\s*subgraph cluster_rank(\d+) \{$`)
	dotEdge = regexp.MustCompile(`(?m)^\s*((?:r\d+)?t\d+) -> ((?:r\d+)?t\d+)( \[.*\])?;$`)
)

func dotOf(t *testing.T, limit int, logs ...*dataflow.Log) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, WriteDOTLimit(&out, limit, logs...))
	requireBalanced(t, out.String())
	return out.String()
}

func requireBalanced(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, readDOT(text))
}

// readDOT is an independent reader of the graph. It refuses texts that graphviz would refuse,
// and pictures that are wrong.
func readDOT(text string) error {
	if err := balanced(text); err != nil {
		return err
	}
	nodes := map[string]bool{}
	rank := "" // whose box is open
	for line := range strings.Lines(text) {
		if m := dotRank.FindStringSubmatch(line); m != nil {
			rank = "r" + m[1]
		}
		if n := dotNode.FindStringSubmatch(line); n != nil {
			if nodes[n[1]] || rankOf(n[1]) != rank {
				return fmt.Errorf("task %s is drawn twice, or outside the box of its rank", n[1])
			}
			nodes[n[1]] = true
		}
		e := dotEdge.FindStringSubmatch(line)
		switch {
		case e == nil:
		case !nodes[e[1]] || !nodes[e[2]]:
			return fmt.Errorf("edge %s joins tasks that are not drawn", e[0])
		case rankOf(e[1]) != rankOf(e[2]) && !strings.Contains(e[3], "dashed"):
			return fmt.Errorf("edge %s leaves its rank, and is no message", e[0])
		}
	}
	return nil
}

// rankOf is the part of the name of a node that says its rank.
func rankOf(node string) string { return node[:strings.Index(node, "t")] }

// balanced checks braces and quotes.
func balanced(text string) error {
	depth, quoted := 0, false
	for i := 0; i < len(text) && depth >= 0; i++ {
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
	}
	if depth != 0 || quoted {
		return errors.New("braces or quotes do not match")
	}
	return nil
}

func TestDOTReaderRefuses(t *testing.T) {
	const node = `[label="x\n#1", fillcolor="#000000", tooltip="x"];`
	one := "digraph {\nsubgraph cluster_rank0 {\nr0t1 " + node + "\nr0t2 " + node + "\n}\n"
	two := one + "subgraph cluster_rank1 {\nr1t1 " + node + "\n}\n"
	for name, text := range map[string]string{
		"box not closed":     one,
		"one brace too many": one + "}\n}\n",
		"quote":              one + "r0t1 -> r0t2 [tooltip=\"];\n}\n",
		"drawn twice":        one + "r0t1 " + node + "\n}\n",
		"in another box":     one + "r1t1 " + node + "\n}\n",
		"no such task":       one + "r0t1 -> r0t3;\n}\n",
		"no such rank":       one + "r0t1 -> r1t1 [style=dashed];\n}\n",
		"no message":         two + "r0t1 -> r1t1 [penwidth=2.5];\n}\n",
	} {
		assert.Error(t, readDOT(text), name)
	}
	assert.NoError(t, readDOT(two+"r0t1 -> r1t1 [style=dashed];\nr0t1 -> r0t2;\n}\n"))
}

// graphviz lays out a text with the real dot, and returns its picture as SVG. It skips the
// test where there is no dot.
func graphviz(t *testing.T, text string) (svg string, err error) {
	t.Helper()
	dot, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("no dot in PATH: install graphviz (Debian: apt-get install graphviz) to have the graphs read by it")
	}
	guard, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(guard, dot, "-Tsvg")
	var out, says bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), &out, &says
	if err := c.Run(); err != nil || says.Len() > 0 {
		return "", fmt.Errorf("dot: %v: %s", err, says.String())
	}
	return out.String(), nil
}

// Graphviz itself reads every graph without a warning, and draws each task, dependence and
// box of it.
func TestDOTInGraphviz(t *testing.T) {
	odd := cholesky()
	for i := range odd.Labels {
		odd.Labels[i].Name += `"\<b>` + "\n{é}|;"
	}
	for name, text := range map[string]string{
		"cholesky": dotOf(t, DOTLimit, cholesky()),
		"halo":     dotOf(t, DOTLimit, twoRanks()...),
		"limit":    dotOf(t, 4, twoRanks()...),
		"labels":   dotOf(t, DOTLimit, odd),
	} {
		svg, err := graphviz(t, text)
		require.NoError(t, err, name)
		boxes := strings.Count(text, "subgraph cluster_")
		assert.Equal(t, len(dotNode.FindAllString(text, -1)), strings.Count(svg, `class="node"`), "%s: tasks", name)
		assert.Equal(t, len(dotEdge.FindAllString(text, -1)), strings.Count(svg, `class="edge"`), "%s: dependences", name)
		assert.Equal(t, boxes, strings.Count(svg, `class="cluster"`), "%s: boxes", name)
	}
	for name, broken := range map[string]string{"quote": `label="x`, "attribute": `[label=,]`} {
		_, err := graphviz(t, "digraph { a -> b "+broken+" }")
		assert.Error(t, err, name)
	}
}

func TestDOTOfCholesky(t *testing.T) {
	text := dotOf(t, DOTLimit, cholesky())
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
	text := dotOf(t, 4, cholesky())
	assert.Len(t, dotNode.FindAllString(text, -1), 4)
	assert.Contains(t, text, "// The first 4 of 10 tasks; 6 tasks are left out.")
	assert.Contains(t, text, `label="the first 4 of 10 tasks; 6 are left out"`)
	for _, limit := range []int{0, -1} {
		assert.Empty(t, dotNode.FindAllString(dotOf(t, limit, cholesky()), -1))
	}
	assert.Len(t, dotNode.FindAllString(dotOf(t, 9, cholesky()), -1), 9, "a parent without all of its children")
}

func TestDOTOddTasks(t *testing.T) {
	b := newBuilder(1, "worker 0")
	bad := b.spawn(0, 0, `a"b\c`, 0)
	b.spawn(0, 0, "poisoned", 0, bad)
	b.spawn(0, 0, "late", 0)
	b.start(0, 1*us, bad)
	b.add(0, 2*us, dataflow.EventEnd, bad, 1, 0)
	b.add(0, 2*us, dataflow.EventEnd, 2, 2, 0)
	text := dotOf(t, DOTLimit, &b.log)
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
	assert.Equal(t, fill.FindStringSubmatch(dotOf(t, 9, &one.log))[1], fill.FindStringSubmatch(dotOf(t, 9, &two.log))[1])
	assert.Equal(t, chromeOf(t, &one.log).phase("X")[0].Color, chromeOf(t, &two.log).phase("X")[0].Color)
}
