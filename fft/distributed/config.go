package distributed

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/codelet"
)

// Form is how computation and communication are arranged. All forms use the same
// kernels in the same order and give the same bytes.
type Form uint8

// The forms. On one rank nothing is sent, and the first three are the same.
const (
	Exchange Form = iota // all planes, then one all-to-all, then the last pencils
	Slabs                // the pieces of a plane are sent as soon as the plane is done
	Pencils              // as Slabs, in groups of rows; the pencils of a group start when it has arrived
	Tasks                // a graph of tasks; a communication thread moves the pieces
)

var formNames = []string{"exchange", "slabs", "pencils", "tasks"}

// Forms lists the forms.
func Forms() []Form { return []Form{Exchange, Slabs, Pencils, Tasks} }

// String returns the name that ParseForm reads.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("Form(%d)", uint8(f))
}

// ParseForm returns the form with a name: exchange, slabs, pencils or tasks.
func ParseForm(name string) (Form, error) {
	if i := slices.Index(formNames, name); i >= 0 {
		return Form(i), nil
	}
	return 0, fmt.Errorf("distributed: no form %q: there are %s", name, strings.Join(formNames, ", "))
}

// Rows changes the input of a transform on its way into the first pass. It fills dst with
// the values to use in place of src, a part of one row of the input. The first element has
// the global indices at; the last index runs. So factors (NAS FT's evolution, the symbol
// of a differential operator) need no pass over memory of their own.
//
// It is called once for every element of this rank, by several workers at the same time,
// in any order. dst is scratch memory, and does not overlap src. Rows may write to src. src
// is empty if the transform was called with nil.
type Rows func(dst, src []complex128, at [3]int)

// Config says what to transform and how. Only Dims must be set. All fields but the hooks,
// Runtime and Thread are the same on all ranks.
type Config struct {
	Dims [3]int // of the global array, row-major: the last runs fastest

	Form     Form
	OneSided bool // pieces are put into windows; arrays that receive are made by Plan.NewArray

	// Grid is the process grid P1 x P2: dimension 0 of the input is distributed over P1
	// ranks, dimension 1 over P2. Zero stands for slabs, P x 1. Slabs need one exchange
	// per transform, two-dimensional grids two.
	Grid [2]int

	// Groups is the number of groups into which Pencils and Tasks divide the rows of a
	// piece; 0 chooses by size. Pad is added to the leading dimension of arrays, the
	// elements from one plane to the next, so that it is no power of two. 4, a cache
	// line, is enough.
	Groups int
	Pad    int

	// Stage is the number of finished planes that may wait until they have been sent: the
	// memory of the staging buffer, in planes; 0 stands for all. Exchange needs all. Tasks
	// keeps with 0 what it may send behind the last pass, a third of all planes or less, and some
	// 8 planes; with another number it hides no messages behind the last pass.
	Stage int

	Workers int // cores of this rank; 0 stands for 1

	// Kernels nil: the fastest of the machine. With modelled kernels (codelet.Modelled) nothing is
	// computed: arrays and the rows of hooks cannot be accessed, and messages carry nothing.
	Kernels *codelet.Set

	BeforeForward Rows // nil: the input as it is
	BeforeInverse Rows

	// Runtime and Thread are the program's own: the plan then makes none, and ignores
	// Workers. A thread needs its runtime.
	Runtime *dataflow.Runtime
	Thread  *commthread.Thread

	// RuntimeOptions are for the runtime that the plan makes (dataflow.Trace,
	// dataflow.Seeded), ThreadOptions for its communication thread.
	RuntimeOptions []dataflow.Option
	ThreadOptions  []commthread.Option
}

// complete fills in defaults, and returns an error for values that cannot be.
func (c *Config) complete(ranks int) error {
	for i, n := range c.Dims {
		if n < 1 {
			return fmt.Errorf("distributed: dimension %d is %d: it must be at least 1", i, n)
		}
	}
	if c.Dims[0] > maxPoints/c.Dims[1]/c.Dims[2] {
		return fmt.Errorf("distributed: a grid of %v has more than %d points", c.Dims, maxPoints)
	}
	if c.Grid == [2]int{} {
		c.Grid = [2]int{ranks, 1}
	}
	switch {
	case c.Grid[0] < 1 || c.Grid[1] < 1 || c.Grid[0]*c.Grid[1] != ranks:
		return fmt.Errorf("distributed: a process grid of %d x %d on %d ranks: the product must be the number of ranks", c.Grid[0], c.Grid[1], ranks)
	case int(c.Form) >= len(formNames):
		return fmt.Errorf("distributed: form %d: there are %d", c.Form, len(formNames))
	case c.Pad < 0 || c.Stage < 0 || c.Workers < 0 || c.Groups < 0:
		return fmt.Errorf("distributed: padding %d, stage %d, %d workers, %d groups: none can be negative", c.Pad, c.Stage, c.Workers, c.Groups)
	case c.Groups > maxParts:
		return fmt.Errorf("distributed: %d groups: there can be %d, because each has a notification counter of a window", c.Groups, maxParts)
	case c.Form == Exchange && c.Stage > 0:
		return fmt.Errorf("distributed: a stage of %d planes with exchange: it keeps all planes until the end (stage 0)", c.Stage)
	case c.Thread != nil && c.Runtime == nil:
		return fmt.Errorf("distributed: a communication thread without its runtime: give both")
	}
	c.chooseGroups()
	if c.Kernels == nil {
		c.Kernels = codelet.Best()
	}
	return nil
}

// maxPoints bounds the size of grids so that no index overflows.
const maxPoints = math.MaxInt >> 8

// groupBytes is the least size of a message of a group: a smaller message costs more than
// its bytes. Those that Tasks defers have the rows of all planes.
const (
	groupBytes    = 16 << 10
	deferredBytes = 256 << 10
	maxGroups     = 16
)

// chooseGroups chooses the number of groups by the size of their messages. All ranks choose
// the same.
func (c *Config) chooseGroups() {
	if c.Form != Pencils && c.Form != Tasks {
		c.Groups = 1
	}
	if c.Groups > 0 {
		return
	}
	ranks := c.Grid[0]
	rows := (min(c.Dims[0], c.Dims[1]) + ranks - 1) / ranks
	bytes := rows * (c.Dims[2] / c.Grid[1]) * element
	n := bytes / groupBytes
	if c.Form == Tasks {
		planes := max(c.Dims[0], c.Dims[1]) / ranks
		n = max(n, planes*bytes/deferredBytes)
	}
	c.Groups = max(1, min(rows, n, maxGroups))
}
