package main

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"

	"github.com/weft-hpc/weft/dataflow/trace"
	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct {
	n, nb, workers int
	trace, dot     string
}

const about = `cholesky: a tiled factorization, as a plain loop and as tasks.

	go run ./examples/03-cholesky [-n 2048] [-nb 128] [-workers 2] [-trace file] [-dot file]

What to read: main.go declares the four kernels and contains the loop, kernels.go the
arithmetic. Tiles are blocks of one column-major matrix: they interleave in memory, and
the runtime compares them exactly. Try -nb 1024 (too few tasks) and -nb 16 (too small).
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("cholesky", about)
	line.Between(&o.n, "n", 2048, 1, 16384, "order of the matrix")
	line.Least(&o.nb, "nb", 128, 1, "order of a tile")
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.StringVar(&o.trace, "trace", "", "timeline: .html (any browser), .json (Perfetto), .txt (summary); if not given, in a new folder, which is printed")
	line.StringVar(&o.dot, "dot", "", "task graph of a small instance (graphviz); if not given, in a new folder")
	line.MustParse(func() error {
		for _, path := range []string{o.trace, o.dot} {
			if path == "" {
				continue // named by private
			}
			if err := trace.CheckFile(path); err != nil {
				return err
			}
		}
		return nil
	})
	return o
}

// viewers are the formats that package trace knows, by the ending of the name, and what
// shows each.
var viewers = map[string]string{
	".html": "open it in a browser", ".json": "drop it on https://ui.perfetto.dev",
	".dot": "dot -Tsvg -O on it draws the picture", ".txt": "text", ".log": "go run ./bench/trace shows it",
}

// private puts the files that were not named into a new folder that only this user can
// write to.
func (o *options) private() error {
	if o.trace != "" && o.dot != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "weft-cholesky-")
	o.trace, o.dot = cmp.Or(o.trace, filepath.Join(dir, "cholesky.json")), cmp.Or(o.dot, filepath.Join(dir, "cholesky.dot"))
	return err
}
