package trace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
)

// WriteFile writes the log, or the logs of all ranks of a run, to one file in
// the format that its extension names:
//
//	.json  Chrome and Perfetto, see WriteChrome
//	.dot   the task graph, see WriteDOT
//	.html  the timeline as a page for any browser, see WriteHTML
//	.txt   the summary, see WriteSummary
//
// It makes no file, and returns an error, for another extension and for two logs of one
// rank.
func WriteFile(path string, logs ...*dataflow.Log) error {
	var write func(io.Writer, ...*dataflow.Log) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		write = WriteChrome
	case ".dot":
		write = WriteDOT
	case ".html":
		write = WriteHTML
	case ".txt":
		write = WriteSummary
	default:
		return fmt.Errorf("trace: no format for %q: the name must end in .json (Chrome, Perfetto), .dot (graphviz), .html (a page for any browser) or .txt (summary)", path)
	}
	if _, err := chooseLogs(logs); err != nil {
		return err
	}
	return createFile(path, func(w io.Writer) error { return write(w, logs...) })
}

// createFile makes a file and calls write with it. After an error the unfinished file
// stays, to show how far it got.
func createFile(path string, write func(w io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			err = fmt.Errorf("trace: writing %s: %w", path, err)
		}
	}()
	return write(f)
}
