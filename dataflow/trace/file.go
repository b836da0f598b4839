package trace

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
)

// formats has the writer of each extension.
var formats = map[string]func(io.Writer, ...*dataflow.Log) error{
	".json": WriteChrome,
	".dot":  WriteDOT,
	".html": WriteHTML,
	".txt":  WriteSummary,
	".log":  writeLogs,
}

// WriteFile writes the log, or the logs of all ranks of a run, to one file in
// the format that its extension names:
//
//	.json  Chrome and Perfetto, see WriteChrome
//	.dot   the task graph, see WriteDOT
//	.html  the timeline as a page for any browser, see WriteHTML
//	.txt   the summary, see WriteSummary
//	.log   the logs themselves, for ReadFile
//
// It makes no file, and returns an error, for another extension and for two logs of one
// rank.
func WriteFile(path string, logs ...*dataflow.Log) error {
	if err := CheckName(path); err != nil {
		return err
	}
	if _, err := chooseLogs(logs); err != nil {
		return err
	}
	write := formats[strings.ToLower(filepath.Ext(path))]
	return createFile(path, func(w io.Writer) error { return write(w, logs...) })
}

// CheckName returns an error if [WriteFile] has no format for the extension of path, so that a
// program can refuse the name before its run.
func CheckName(path string) error {
	if formats[strings.ToLower(filepath.Ext(path))] == nil {
		return fmt.Errorf("trace: no format for %q: the name must end in .json (Chrome, Perfetto), .dot (graphviz), .html (a page for any browser), .txt (summary) or .log (for bench/trace)", path)
	}
	return nil
}

// CheckFile returns an error if [WriteFile] cannot write a file of this name, for its extension or
// its place, so that a program can refuse the name before its run. It leaves files as they are.
func CheckFile(path string) error {
	if err := CheckName(path); err != nil {
		return err
	}
	s, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err == nil && !s.Mode().IsRegular() && !s.IsDir() {
		return nil // a pipe, which opening would begin to write
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	err = f.Close()
	if isNew {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// writeLogs writes logs in the format of encoding/gob, one after the other. Nil logs are left
// out.
func writeLogs(w io.Writer, logs ...*dataflow.Log) error {
	e := gob.NewEncoder(w)
	for _, l := range logs {
		if l == nil {
			continue
		}
		if err := e.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// ReadFile reads the logs in a file that [WriteFile] made with the extension .log, or that a
// runtime left with WEFT_TRACE. Errors: a file that cannot be read, or that has no log or a
// broken one.
func ReadFile(path string) ([]*dataflow.Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer func() { _ = f.Close() }()
	var logs []*dataflow.Log
	for d := gob.NewDecoder(f); ; {
		l := new(dataflow.Log)
		err := d.Decode(l)
		if err == io.EOF && len(logs) > 0 {
			return logs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("trace: %s is no log of a run that has ended: %w", path, err)
		}
		logs = append(logs, l)
	}
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
