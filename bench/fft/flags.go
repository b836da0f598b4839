package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/codelet"
	"github.com/weft-hpc/weft/internal/commandline"
)

// config is the whole command line.
type config struct {
	n, batch int
	layout   string
	dims     []int // nil: a batch
	workers  int
	set      *codelet.Set
	reps     int
	inPlace  bool
	peer     bool
}

const about = `fft measures Fourier transforms, checks them by a round trip, and compares with FFTW.

	fft -n 512 -batch 16 -layout interleaved
	fft -dims 256x256x128 -workers 2
	fft -n 1024 -isa avx2 -peer
`

// parse reads the command line. It returns the error of Parse.
func parse(args []string) (*config, error) {
	c := &config{set: codelet.Best()}
	set := commandline.New("fft", about)
	set.Least(&c.n, "n", 512, 1, "`length` of a transform")
	set.Least(&c.batch, "batch", 16, 1, "`number` of transforms in a batch")
	set.StringVar(&c.layout, "layout", "contiguous", "the batch: contiguous or interleaved")
	set.Func("dims", "`sizes` of one array instead of a batch, as in 256x256x128", func(s string) (err error) {
		c.dims, err = parseDims(s)
		return err
	})
	set.Workers(&c.workers, 1, "`cores` that compute (more than 1 only with -dims)")
	set.Func("isa", "`kernels`: avx512, avx2 or portable (default the best of this machine)", func(s string) (err error) {
		c.set, err = codelet.Named(s)
		return err
	})
	set.Least(&c.reps, "reps", 20, 1, "`repetitions`")
	set.BoolVar(&c.inPlace, "inplace", false, "transform in place (an array of -dims always is)")
	set.BoolVar(&c.peer, "peer", false, "compare with FFTW, compiled at run time, with as many threads")
	return c, set.Parse(args, set.NoArgs, c.validate)
}

func parseDims(s string) (dims []int, err error) {
	for part := range strings.SplitSeq(s, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("sizes are numbers from 1 with x between them, as in 256x256x128")
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// maxPoints is the most this program allocates memory for.
const maxPoints = 1 << 32

// validate reports values that make no sense, and puts the flags together.
func (c *config) validate() error {
	switch {
	case c.layout != "contiguous" && c.layout != "interleaved":
		return fmt.Errorf("-layout %q: contiguous or interleaved", c.layout)
	case c.workers > 1 && c.dims == nil:
		return fmt.Errorf("-workers %d: a batch is for one core; more work on an array of -dims", c.workers)
	case c.peer && len(c.dims) != 0 && len(c.dims) != 3:
		return fmt.Errorf("-peer with %d dimensions: FFTW is compared on batches and on three dimensions", len(c.dims))
	}
	points := 1.0
	for _, n := range c.dims {
		points *= float64(n)
	}
	if c.dims == nil {
		points = float64(c.n) * float64(c.batch)
	}
	if points > maxPoints {
		return fmt.Errorf("%.0f points: at most %d", points, int64(maxPoints))
	}
	c.inPlace = c.inPlace || c.dims != nil
	return nil
}

func (c *config) points() int {
	if c.dims == nil {
		return c.n * c.batch
	}
	points := 1
	for _, n := range c.dims {
		points *= n
	}
	return points
}

// flops counts the operations of a forward transform as is usual.
func (c *config) flops() float64 {
	n := c.n
	if c.dims != nil {
		n = c.points()
	}
	return 5 * float64(c.points()) * math.Log2(float64(n))
}

func (c *config) placement() fft.Layout {
	if c.layout == "interleaved" {
		return fft.Interleaved(c.batch)
	}
	return fft.Contiguous(c.n)
}

func (c *config) title() string {
	if c.dims == nil {
		return fmt.Sprintf("%d of length %d, %s", c.batch, c.n, c.layout)
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(c.dims), " ", " x "), "[]")
}

func (c *config) placeText() string {
	if c.inPlace {
		return "in place"
	}
	return "out of place"
}
