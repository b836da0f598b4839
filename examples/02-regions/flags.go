package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct {
	workers  int
	patience time.Duration
}

const about = `regions: which tasks may run side by side, and which wait, is read from their data.

	go run ./examples/02-regions [-workers 2] [-patience 300ms]

What to read: the table in pairs; go doc ./deps says what a region can be. With
-patience 1us nobody meets, and the check fails.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("regions", about)
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.DurationVar(&o.patience, "patience", 300*time.Millisecond, "how long a task stays to meet the other")
	line.MustParse(func() error {
		if o.patience <= 0 {
			return fmt.Errorf("-patience %v: it has to be more than 0", o.patience)
		}
		return nil
	})
	return o
}
