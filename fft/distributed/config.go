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
	Slabs                // a plane's piece for each peer is sent as soon as the plane is done
	Pencils              // the same in groups of rows, whose last pencils start when they are there
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

// ParseForm returns the form of that name: exchange, slabs, pencils or tasks.
func ParseForm(name string) (Form, error) {
	if i := slices.Index(formNames, name); i >= 0 {
		return Form(i), nil
	}
	return 0, fmt.Errorf("distributed: no form %q: there are %s", name, strings.Join(formNames, ", "))
}

// Rows gives a transform other input than what lies in its array: it fills
// dst with what stands in the place of src, which is a part of one row of the input;
// the first element has the global indices at, and the last one runs. So factors
// (NAS FT's evolution, the symbol of a differential operator) cost no pass over memory of
// their own.
//
// It is called for every element of this rank's part once, by several workers at
// the same time, in any order. dst is scratch, and does not overlap src.
// It may write to src, and src is empty if the transform was called with nil.
type Rows func(dst, src []complex128, at [3]int)

// Config says what to transform and how. The zero value of all but Dims is usable.
// All ranks give the same, but for the hooks, Runtime and Thread.
type Config struct {
	Dims [3]int // of the global array, row-major: the last runs fastest

	Form     Form
	OneSided bool // pieces are put into windows; arrays that receive are made by Plan.NewArray

	// Grid is the process grid P1 x P2: of dimension 0 in the input over P1 ranks and
	// dimension 1 over P2. Zero stands for slabs, P x 1; 1-D decompositions need one
	// exchange per transform, 2-D ones two.
	Grid [2]int

	// Groups is into how many groups Pencils and Tasks cut the rows of a piece; 0 stands
	// for a choice by size. Pad is added to the leading dimension of arrays, the
	// elements from one plane to the next, so that it is no power of two; 4, a cache
	// line, does.
	Groups int
	Pad    int

	// Stage is how many finished planes may wait until they have been sent, 0 for all:
	// memory for that many planes. Exchange needs all, and so does Tasks for hiding
	// messages behind the last pass, too.
	Stage int

	// DDS lets Tasks transform the groups that it keeps back while they arrive: two-sided,
	// with pencils after the exchange, and all planes staged (Stage 0); otherwise it does
	// nothing. It costs a copy of these groups on both sides.
	DDS commthread.DDS

	Workers int          // cores of this rank; 0 stands for 1
	Kernels *codelet.Set // nil: the fastest of the machine

	BeforeForward Rows // nil: the input as it is
	BeforeInverse Rows

	// Runtime and Thread are the program's own: the plan then makes none, and Workers
	// is that of the runtime. A thread comes with its runtime.
	Runtime *dataflow.Runtime
	Thread  *commthread.Thread

	// RuntimeOptions are for the runtime that the plan makes (dataflow.Trace,
	// dataflow.Seeded), ThreadOptions for its communication thread.
	RuntimeOptions []dataflow.Option
	ThreadOptions  []commthread.Option
}

// complete fills in defaults, and reports what cannot be.
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
	case c.DDS < commthread.DDSOff || c.DDS > commthread.DDSForce:
		return fmt.Errorf("distributed: DDS is %v: it is off, auto or force", c.DDS)
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

// groupBytes is what a message of a group should have at least: below, the cost of a message
// is more than that of its bytes.
const (
	groupBytes = 16 << 10
	maxGroups  = 16
	// fewGroups is for Tasks with one-sided messages: there each group kept back is as
	// many messages as there are planes.
	fewGroups = 6
)

// chooseGroups cuts pieces into groups, as large as messages should be. All ranks choose
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
	most := maxGroups
	if c.Form == Tasks && c.OneSided {
		most = fewGroups
	}
	c.Groups = max(1, min(rows, bytes/groupBytes, most))
}
