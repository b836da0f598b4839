package dataflow

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Environment variables for the user of a program. Each sets an option that the program
// does not set itself. The table is in tasks/README.md.
const (
	workersVariable = "WEFT_WORKERS" // Workers
	traceVariable   = "WEFT_TRACE"   // Trace(0), and the file for the log
	stallVariable   = "WEFT_STALL"   // Stall, printed
)

const usualStall = 10 * time.Second

// readEnvironment reads the variables into o. An empty one counts as not set.
func (o *options) readEnvironment() error {
	o.workers, o.stall = osthread.Usable().Count(), usualStall
	errs := []error{
		variable(workersVariable, &o.workers, strconv.Atoi, "a number of cores, such as 2"),
		variable(stallVariable, &o.stall, time.ParseDuration, "a duration, such as 30s, or 0"),
	}
	if file := os.Getenv(traceVariable); file != "" {
		Trace(0)(o)
		o.logFile = file
		if !strings.HasSuffix(file, ".log") {
			errs = append(errs, fmt.Errorf("weft: %s=%s: the name must end in .log (go run github.com/weft-hpc/weft/bench/trace turns that file into a page, a timeline or a summary)", traceVariable, file))
		}
	}
	if o.workers < 1 || o.workers > maxWorkers {
		errs = append(errs, fmt.Errorf("weft: %s=%d: must be 1 to %d", workersVariable, o.workers, maxWorkers))
	}
	if o.stall < 0 {
		errs = append(errs, fmt.Errorf("weft: %s=%v: must not be negative", stallVariable, o.stall))
	}
	return errors.Join(errs...)
}

// variable parses the environment variable name into to, if it is set. On an error, to
// keeps its value.
func variable[T any](name string, to *T, parse func(string) (T, error), want string) error {
	text := os.Getenv(name)
	if text == "" {
		return nil
	}
	v, err := parse(text)
	if err != nil {
		return fmt.Errorf("weft: %s=%s: must be %s", name, text, want)
	}
	*to = v
	return nil
}

// logFiles counts the files that the runtimes of this process have made for WEFT_TRACE.
var logFiles atomic.Int64

// createLog creates the file for the log at the start, so that a missing folder is an error
// at once. %p in the name becomes the process number, for programs that run as several
// processes; the second runtime of a process adds -2, and so on.
func createLog(name string) (*os.File, error) {
	name = strings.ReplaceAll(name, "%p", strconv.Itoa(os.Getpid()))
	if n := logFiles.Add(1); n > 1 {
		name = fmt.Sprintf("%s-%d.log", strings.TrimSuffix(name, ".log"), n)
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("weft: %s: %w", traceVariable, err)
	}
	return f, nil
}

// writeLog writes the log, with the messages of executors, into the file of WEFT_TRACE, if there
// is one, as a gob of a Log.
// All workers have ended.
func (rt *Runtime) writeLog() error {
	if rt.logFile == nil {
		return nil
	}
	l := rt.Log()
	l.Rank, l.Ranks, l.Host, l.Messages = rt.kept.Rank, rt.kept.Ranks, rt.kept.Host, rt.kept.Messages
	err := errors.Join(gob.NewEncoder(rt.logFile).Encode(l), rt.logFile.Close())
	if err != nil {
		return fmt.Errorf("weft: %s: %w", traceVariable, err)
	}
	return nil
}
