package main

import (
	"runtime"

	"github.com/weft-hpc/weft/internal/commandline"
)

type options struct{ frames, length, workers int }

const about = `pipeline: frames that follow one another through one buffer, without waiting for each other.

	go run ./examples/12-pipeline [-frames 200] [-length 32768] [-workers 2]

What to read: main.go, throughSlice and throughBuffer: the same three calls for each frame.
The first overwrites what the last one reads. With a slice it must wait for that; a
tasks.Buffer gets fresh storage instead (renaming), which the dependences hide from the
program. go doc ./dataflow RenameBudget bounds the memory for that. Try -workers 1: with
one core there is nothing to gain.
`

// parse reads the flags; a mistake ends the program with exit code 2.
func parse() (o options) {
	line := commandline.New("pipeline", about)
	line.Between(&o.frames, "frames", 200, 1, 1<<20, "how many frames there are")
	line.Between(&o.length, "length", 1<<15, 3, 1<<24, "numbers of a frame")
	line.Workers(&o.workers, runtime.NumCPU(), "cores that compute, the spawning goroutine's included")
	line.MustParse(nil)
	return o
}
