package advise

import (
	"time"

	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/mpi"
)

// Options of an analysis.
type Options struct {
	File string  // of the results, written by rank 0; an existing file is overwritten
	Size float64 // problem size, for sets of runs; 0: not told
	// Rehearse is how long the measurements after the run may take; 0: 2 s, or a fifth of the run if that is
	// longer; less than 0: there are none.
	Rehearse time.Duration
	Say      func(text string) // is given the line at the end of the run; nil: there is none
}

// FromEnvironment returns the options that the environment asks for (see the package); nil
// if it asks for no analysis. The error names a variable with an unusable value.
func FromEnvironment() (*Options, error) {
	o, err := advise.FromEnvironment()
	if o == nil || err != nil {
		return nil, err
	}
	return &Options{o.File, o.Size, o.Rehearse, o.Say}, nil
}

// Wrap returns a body that does what body does, analysed: all ranks run it, on the world
// communicator. If body fails on a rank its error is returned and no file is written. It
// adds collective calls before and after body. One body at a time is analysed in a process:
// the first touches of memory of [mpi.Alloc] are watched while it runs.
func Wrap(o *Options, body func(*mpi.Comm) error) func(*mpi.Comm) error {
	return advise.Wrap(&advise.Options{File: o.File, Size: o.Size, Rehearse: o.Rehearse, Say: o.Say, Watch: advise.NewPageWatch()}, body)
}
