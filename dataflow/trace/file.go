package trace

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
)

// WriteFile writes the log, or the logs of all ranks of a run, to one file in
// the format that its extension names:
//
//	.json  Chrome and Perfetto, see WriteChrome
//	.prv   Paraver, see WriteParaver; .pcf and .row are written beside it
//	.dot   the task graph, see WriteDOT
//	.html  the timeline as a page for any browser, see WriteHTML
//	.txt   the summary, see WriteSummary
//
// Any other extension is an error, and no file is made. Nor is one if two logs
// are of one rank.
func WriteFile(path string, logs ...*dataflow.Log) error {
	extension := filepath.Ext(path)
	var write func(io.Writer, ...*dataflow.Log) error
	switch strings.ToLower(extension) {
	case ".json":
		write = WriteChrome
	case ".prv":
		return WriteParaver(strings.TrimSuffix(path, extension), logs...)
	case ".dot":
		write = WriteDOT
	case ".html":
		write = WriteHTML
	case ".txt":
		write = WriteSummary
	default:
		return fmt.Errorf("trace: no format for %q: the name must end in .json (Chrome, Perfetto), .prv (Paraver), .dot (graphviz), .html (a page for any browser) or .txt (summary)", path)
	}
	if _, err := chooseLogs(logs); err != nil {
		return err
	}
	return createFile(path, func(w io.Writer) error { return write(w, logs...) })
}
