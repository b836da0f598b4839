package dds

import (
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/internal/osthread"
)

// Variable is the environment variable that forces a back end, as [Backend] does, in
// every arena that was not given one.
const Variable = "WEFT_DDS"

// Names of back ends.
const (
	Auto     = "auto"     // uffd where a probe has shown that it works, else explicit
	Explicit = "explicit" // a transfer is complete when it is given to its reader
	Uffd     = "uffd"     // missing pages make their readers wait
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

// forbidden is what tests take away from the probe.
type forbidden struct {
	minor bool    // the kernel has no MINOR mode
	ways  [3]bool // of getting a descriptor
}

// Backend forces a back end, by its name. An arena that cannot have it is not made.
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

// TracePages keeps pages armed after their bytes have arrived, until they are touched:
// [Arena.Pages] then tells which pages were touched in which order, and strips know
// their slack. Every page costs a fault.
func TracePages() Option {
	return func(o *options) error {
		o.trace = true
		return nil
	}
}

// Cores says where the thread that retires strips runs; the default is any usable core.
// On the core of the only reader a faulting reader runs again after 8 us, from another
// one after 24 to 42 us (measured on two virtual cores).
func Cores(set osthread.CPUSet) Option {
	return func(o *options) error {
		o.cores = set
		return nil
	}
}

// Log names where the choice of a back end and its reason are written, once per
// process. The default is os.Stderr for a back end that had to be something else than
// was hoped for, and silence otherwise.
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
