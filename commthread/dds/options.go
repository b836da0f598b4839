package dds

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Variable is the environment variable that forces a back end, like [Backend], in every
// arena without that option.
const Variable = "WEFT_DDS"

// Names of back ends.
const (
	Auto     = "auto"     // uffd if a probe has succeeded, else explicit
	Explicit = "explicit" // a transfer is given to its reader complete
	Uffd     = "uffd"     // readers of missing pages wait
)

// Option changes how an [Arena] works.
type Option func(*options) error

type options struct {
	backend string
	forced  bool
	trace   bool
	cores   osthread.CPUSet
	log     io.Writer
	forbid  forbidden
}

// forbidden disables features in tests.
type forbidden struct {
	minor bool    // the kernel has no MINOR mode
	ways  [3]bool // of getting a descriptor
}

// Backend forces a back end by name. NewArena fails if the machine does not support it; on a
// simulated machine it takes explicit, and says so.
func Backend(name string) Option {
	return func(o *options) error {
		switch name {
		case Auto, Explicit, Uffd:
			o.backend, o.forced = name, name != Auto
			return nil
		}
		return fmt.Errorf("dds: back end %q: there are %s, %s and %s", name, Auto, Explicit, Uffd)
	}
}

// Cores sets the cores of the fault thread; the default is all usable cores. After a fault,
// a reader runs again after 8 us if the thread has the core of the only reader, and after
// 24 to 42 us from another core (measured on two virtual cores).
func Cores(set osthread.CPUSet) Option {
	return func(o *options) error {
		o.cores = set
		return nil
	}
}

// Log sets the destination of one line per process with the chosen back end and the reason.
// The default is os.Stderr if uffd was possible in this build but not available, and
// silence otherwise.
func Log(w io.Writer) Option {
	return func(o *options) error {
		o.log = w
		return nil
	}
}

func newOptions(opts []Option) (options, error) {
	o := options{backend: Auto, cores: osthread.Usable()}
	if name := os.Getenv(Variable); name != "" {
		if err := Backend(name)(&o); err != nil {
			return o, fmt.Errorf("%w (from the environment variable %s)", err, Variable)
		}
	}
	for _, f := range opts {
		if err := f(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}
