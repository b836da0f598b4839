package trace

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
)

// HTMLLimit is the number of tasks that [WriteHTML] puts on its page, and also
// that of messages: what a browser opens in about a second and draws without a
// delay that one notices.
const HTMLLimit = 200_000

// The page and its parts. They are joined to one file that loads nothing.
var (
	//go:embed page/page.html
	pageFrame string
	//go:embed page/style.css
	pageStyle string
	//go:embed page/data.js
	pageData string
	//go:embed page/lanes.js
	pageLanes string
	//go:embed page/draw.js
	pageDraw string
	//go:embed page/panel.js
	pagePanel string
	//go:embed page/input.js
	pageInput string
	//go:embed page/selfcheck.js
	pageSelfcheck string
)

// WriteHTML writes a page that shows the timeline in any browser; see
// [WriteHTMLLimit]. It has at most [HTMLLimit] tasks.
func WriteHTML(w io.Writer, logs ...*dataflow.Log) error {
	return WriteHTMLLimit(w, HTMLLimit, logs...)
}

// WriteHTMLLimit writes a page for any browser, in one file: no server, no
// network and nothing else is needed to look at it, and it asks for nothing.
//
// Each worker of each rank is a lane, with bodies in the colours of their labels
// (those of the other formats) and its states in grey; tasks that one body runs
// inside itself are drawn lower than it. Below them the messages of the rank
// have a lane, in as many rows as there were at one time. Arrows lead from the
// post of a send to the completion of its receive. The strip on top shows how
// busy all workers were, and what part of the run is on the screen.
//
// A click on a task draws its dependences and says when it was submitted,
// released, started and done, what it waited for, and what made it late. The
// page searches for labels, task numbers and source lines, marks the critical
// path of each rank, and has the totals of the labels and the summary of
// [WriteSummary]. The wheel, dragging and the keys that "?" lists move the view.
//
// At most limit tasks, and as many messages and spells of sleep, are on the page:
// those that began first. What begins after the first one that is left out is
// left out, too, on all ranks, so that a prefix of the run is complete; the page
// says how much that was. Figures and summary are of the whole run.
//
// The file takes about 70 bytes per task with its dependences and bodies, and 60
// KB of script and style beside them: 14 MB for 200 000 tasks with 300 000
// dependences, written in 0.5 s, opened by Chromium in 1.1 s, and drawn in 5 ms
// (two cores of a Xeon virtual machine). The error is that of w, or says which two logs
// are of one rank.
func WriteHTMLLimit(w io.Writer, limit int, logs ...*dataflow.Log) error {
	r, err := newRun(logs)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 64<<10)
	rest := pageFrame
	for _, part := range []struct {
		mark  string
		write func()
	}{
		{"/*style*/", func() { _, _ = b.WriteString(pageStyle) }},
		{"/*data*/", func() { writePageData(b, r, limit) }},
		{"/*script*/", func() {
			for _, script := range []string{pageData, pageLanes, pageDraw, pagePanel, pageInput, pageSelfcheck} {
				_, _ = b.WriteString(script)
			}
		}},
	} {
		before, after, found := strings.Cut(rest, part.mark)
		if !found {
			return fmt.Errorf("trace: page.html has no %s: the program was built from a damaged tree", part.mark)
		}
		_, _ = b.WriteString(before)
		part.write()
		rest = after
	}
	_, _ = b.WriteString(rest)
	return b.Flush() // reports the first error of any write
}

// summaryText is the summary as people read it.
func summaryText(s Summary) string {
	var b bytes.Buffer
	_ = s.Write(&b) // a buffer takes everything
	return b.String()
}
