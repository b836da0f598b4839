package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/fft"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

const ftRanks = 4

// ftForm is a form of the transposition (HUNT, figure 10).
type ftForm struct {
	name, about string
	hints       []dds.Hint // nil: not wrapped
	byHand      bool
}

// The forms; those with hints are the blocking program under dds.Wrap.
var ftForms = []ftForm{
	{name: "FT", about: "blocking gets"},
	{name: "FT-nb", about: "non-blocking gets, one wait", byHand: true},
	{name: "FT-md", about: "decomposition only", hints: []dds.Hint{dds.Strips(4)}},
	{name: "FT-H", about: "decomposition and scheduling", hints: []dds.Hint{dds.PiggybackAfter(1), dds.Order(dds.Up)}},
}

// transpose measures a two-dimensional Fourier transform whose rows are spread over the
// ranks: rows, a transposition by one get from each peer, columns. Package fft/distributed
// exchanges by one collective operation, which is never lazy; this kernel has the pattern
// of HUNT's FT, a gather of blocks and then work on them.
func (h *hunt) transpose() error {
	n := 1024
	for h.cfg.line.Given("bytes") && n > 64 && n*n > h.cfg.bytes {
		n /= 2
	}
	fmt.Fprintf(h.out, "\nFT kernel, %d x %d points, %d ranks, over %s: medians of %d (HUNT, figure 10)\n", n, n, ftRanks, h.net(), h.cfg.reps)
	var seconds []float64
	var first []complex128
	for _, f := range ftForms {
		h.progress.Say("%s", f.name)
		s, result, err := h.ft(f, n)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if first == nil {
			first = result
		}
		if !slices.Equal(first, result) {
			return fmt.Errorf("%s: the transform differs from that of %s", f.name, ftForms[0].name)
		}
		seconds = append(seconds, s)
		fmt.Fprintf(h.out, "%-6s %9.3f ms %6.3f of FT   %s\n", f.name, s*1e3, s/seconds[0], f.about)
		h.result("ft", report.Text("form", f.name), report.Decimal("seconds", s), report.Decimal("ratio", s/seconds[0]), report.Integer("n", n),
			report.Integer("ranks", ftRanks), report.Text("net", h.net().String()))
	}
	base, wanted := h.chartBase("hunt-ft")
	if !wanted {
		return nil
	}
	bars := &chart.Bars{
		Title: fmt.Sprintf("FT kernel, %d x %d points, %d ranks", n, n, ftRanks), Note: h.note(),
		X: chart.Axis{Title: "form"}, Y: chart.Axis{Title: "time / time of " + ftForms[0].name},
		Series: []chart.BarSeries{{Label: "time"}},
	}
	for i, f := range ftForms {
		bars.Groups, bars.Series[0].Y = append(bars.Groups, f.name), append(bars.Series[0].Y, seconds[i]/seconds[0])
	}
	fmt.Fprintf(h.out, "%s.svg, %s.csv\n", base, base)
	return bars.Write(base)
}

// ft runs one form, and returns its median time and rank 0's part of the transform.
func (h *hunt) ft(f ftForm, n int) (seconds float64, result []complex128, err error) {
	config := world.Default()
	config.Ranks, config.Net = ftRanks, h.net()
	err = config.Run(func(c *mpi.Comm) error {
		r := &ftRank{hunt: h, form: f, c: c, n: n, rows: n / ftRanks}
		if err := r.open(); err != nil {
			return err
		}
		var all []float64
		for range h.cfg.reps {
			t, err := r.timed()
			if err != nil {
				return err
			}
			all = append(all, t)
		}
		if c.Rank() == 0 {
			seconds, result = report.Median(all), slices.Clone(r.out)
		}
		return r.close()
	})
	return seconds, result, err
}

// ftRank is one rank of the transform: rows rows of n points.
type ftRank struct {
	*hunt
	form    ftForm
	c       *mpi.Comm // wrapped, if the form is
	n, rows int
	arena   *dds.Arena
	w       *dds.Wrapped // or nil
	in, out []complex128
	blocks  []complex128 // of the window: what each peer gets, one after another
	got     [][]complex128
	win     *mpi.Win
	plan    *fft.Plan
}

func (r *ftRank) open() (err error) {
	size := r.n * r.rows
	if r.arena, err = dds.NewArena(16*size+(ftRanks+1)*64<<10, r.arenaOptions()...); err != nil {
		return err
	}
	if r.form.hints != nil {
		if r.w, err = dds.Wrap(r.c, r.hints(r.form.hints...)...); err != nil {
			return err
		}
		r.c = r.w.Comm
	}
	r.in, r.out, r.blocks = make([]complex128, size), make([]complex128, size), make([]complex128, size)
	for i := range r.in {
		r.in[i] = complex(float64((i*7+r.c.Rank()*31)%101), float64(i%13))
	}
	r.got = make([][]complex128, ftRanks)
	for i := range r.got {
		if r.got[i], err = dds.Make[complex128](r.arena, r.rows*r.rows); err != nil {
			return err
		}
	}
	row := fft.Layout{Stride: 1, Dist: r.n}
	if r.plan, err = fft.NewMany(r.n, r.rows, row, row); err != nil {
		return err
	}
	r.win, err = r.c.NewWin(mpi.Of(r.blocks))
	return err
}

func (r *ftRank) close() error {
	err := r.win.Free()
	if r.w != nil {
		err = errors.Join(err, r.w.Close())
	}
	if r.c.Rank() == 0 {
		r.count(r.arena)
	}
	return errors.Join(err, r.arena.Close())
}

// timed makes one transform, and returns the time of the slowest rank.
func (r *ftRank) timed() (float64, error) {
	if err := r.c.Barrier(); err != nil {
		return 0, err
	}
	from := osthread.Nanotime()
	if err := r.transform(); err != nil {
		return 0, err
	}
	seconds := float64(osthread.Nanotime()-from) / 1e9
	err := r.c.Allreduce(mpi.InPlace, mpi.One(&seconds), mpi.Max)
	return seconds, err
}

func (r *ftRank) transform() error {
	if err := r.plan.Forward(r.out, r.in); err != nil {
		return err
	}
	for d := range ftRanks { // columns of rank d, row by row
		for i := range r.rows {
			copy(r.blocks[(d*r.rows+i)*r.rows:][:r.rows], r.out[i*r.n+d*r.rows:])
		}
	}
	if err := r.win.Fence(); err != nil {
		return err
	}
	if err := r.gather(); err != nil {
		return err
	}
	for step := range ftRanks {
		r.place((r.c.Rank() + step) % ftRanks)
	}
	if err := r.plan.Forward(r.out, r.out); err != nil {
		return err
	}
	return r.win.Fence()
}

// gather gets this rank's block from all ranks, itself first.
func (r *ftRank) gather() error {
	me, size := r.c.Rank(), r.rows*r.rows
	var rs []*mpi.Request
	for step := range ftRanks {
		s := (me + step) % ftRanks
		b := mpi.Of(r.got[s])
		switch {
		case r.form.byHand:
			rs = append(rs, r.win.Iget(b, s, me*size))
		default:
			if err := r.win.Get(b, s, me*size); err != nil {
				return err
			}
		}
	}
	return mpi.Waitall(rs...)
}

// place turns the block from a rank into columns: compiled loads, in order.
func (r *ftRank) place(from int) {
	block := r.got[from]
	for i := range r.rows {
		for j, v := range block[i*r.rows : (i+1)*r.rows] {
			r.out[j*r.n+from*r.rows+i] = v
		}
	}
}
