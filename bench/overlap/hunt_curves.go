package main

import (
	"fmt"
	"os"

	"github.com/weft-hpc/weft/bench/internal/chart"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/bench/internal/work"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// curve holds the measurements at one size, in seconds.
type curve struct {
	bytes                      int
	wire, loop, copied         float64 // alone: the transfer, the loop, the copy
	loopBlocking, loopLazy     float64
	copyBlocking, copyLazy     float64
	workBlocking, workByHand   float64
	workLazy                   float64
	loopBound, copyBound       float64 // (wire + x) / max(wire, x)
	loopSpeedup, copySpeedup   float64
	blockingRatio, byHandRatio float64 // of independent work: blocking and DDS over by hand
}

// curves measures transfers of 4 KiB to 16 MiB, or -bytes, with work that reads what arrives and
// work that does not (HUNT, figures 8 and 9).
func (h *hunt) curves() error {
	largest := 16 << 20
	if h.cfg.line.Given("bytes") {
		largest = h.cfg.bytes
	}
	var all []curve
	err := h.between(h.net(), max(largest, 4096)/8, h.hints(dds.Order(dds.Up)), func(p *party) error {
		rate := work.Calibrate()
		for bytes := 4096; bytes <= largest; bytes *= 4 {
			h.progress.Say("%d bytes", bytes)
			s := &sizing{hunt: h, party: p, x: p.in[:bytes/8], dst: make([]uint64, bytes/8), rate: rate}
			c, err := s.measure()
			if err != nil {
				return fmt.Errorf("%d bytes: %w", bytes, err)
			}
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.printCurves(all)
	return h.drawCurves(all)
}

// sizing is the measurement of one size.
type sizing struct {
	*hunt
	*party
	x, dst  []uint64
	rate    work.Rate
	perPage work.Work // of the loop, beside reading the page
	beside  work.Work // that covers the transfer
}

// measure measures all forms of one size.
func (s *sizing) measure() (c curve, err error) {
	c.bytes = 8 * len(s.x)
	reading := 0.0
	if err := s.medians(sized{&c.wire, true, func() error { return s.get(s.plain) }}, sized{&reading, false, s.loop}); err != nil {
		return c, err
	}
	pages := max(c.bytes/os.Getpagesize(), 1)
	if rest := c.wire - reading; rest > 0 {
		s.perPage = s.rate.For(rest / float64(pages))
	}
	s.beside = s.rate.For(1.2 * c.wire)
	forms := []sized{
		{&c.loop, false, s.loop},
		{&c.copied, false, s.copyAll},
		{&c.loopBlocking, true, func() error { return s.then(s.plain, s.loop) }},
		{&c.loopLazy, true, func() error { return s.then(s.lazy, s.loop) }},
		{&c.copyBlocking, true, func() error { return s.then(s.plain, s.copyAll) }},
		{&c.copyLazy, true, func() error { return s.then(s.lazy, s.copyAll) }},
		{&c.workBlocking, true, func() error { return s.covered(s.plain) }},
		{&c.workByHand, true, s.byHand},
		{&c.workLazy, true, func() error { return s.covered(s.lazy) }},
	}
	if err := s.medians(forms...); err != nil {
		return c, err
	}
	c.loopBound, c.copyBound = (c.wire+c.loop)/max(c.wire, c.loop), (c.wire+c.copied)/max(c.wire, c.copied)
	c.loopSpeedup, c.copySpeedup = c.loopBlocking/c.loopLazy, c.copyBlocking/c.copyLazy
	c.blockingRatio, c.byHandRatio = c.workBlocking/c.workByHand, c.workLazy/c.workByHand
	return c, nil
}

// sized is a form at one size: it gets the numbers, or finds them there.
type sized struct {
	to   *float64 // its median, in seconds
	gets bool
	form func() error
}

// medians measures forms, which alternate. What a form leaves behind is not in its time.
func (s *sizing) medians(forms ...sized) error {
	all := make([][]float64, len(forms))
	for range s.cfg.reps {
		for i, f := range forms {
			if f.gets {
				clear(s.x)
			}
			from := osthread.Nanotime()
			if err := f.form(); err != nil {
				return err
			}
			all[i] = append(all[i], float64(osthread.Nanotime()-from)/1e9)
			if err := s.w.Flush(); err != nil {
				return err
			}
			if err := checked(s.x); err != nil {
				return err
			}
		}
	}
	for i, f := range forms {
		*f.to = report.Median(all[i])
	}
	return nil
}

func (s *sizing) get(w *mpi.Win) error { return w.Get(mpi.Of(s.x), 1, 0) }

func (s *sizing) then(w *mpi.Win, do func() error) error {
	if err := s.get(w); err != nil {
		return err
	}
	return do()
}

// loop reads the numbers page by page, and works on each page: compiled loads.
func (s *sizing) loop() error {
	perPage := os.Getpagesize() / 8
	sum, want := uint64(0), uint64(0)
	for at := 0; at < len(s.x); at += perPage {
		for i, v := range s.x[at:min(at+perPage, len(s.x))] {
			sum += v
			want += value(at + i)
		}
		if s.perPage > 0 {
			s.perPage.Do()
		}
	}
	if sum != want {
		return fmt.Errorf("the loop read something else than rank 1 has: sum %#x, not %#x", sum, want)
	}
	return nil
}

// copyChunk is how many numbers are touched before they are copied.
const copyChunk = 64 << 10 / 8

// copyAll is memcpy, which must not fault: it touches first.
func (s *sizing) copyAll() error {
	for at := 0; at < len(s.x); at += copyChunk {
		part := s.x[at:min(at+copyChunk, len(s.x))]
		dds.Touch(part)
		copy(s.dst[at:], part)
	}
	return nil
}

// covered has work between the transfer and the copy.
func (s *sizing) covered(w *mpi.Win) error {
	if err := s.get(w); err != nil {
		return err
	}
	s.beside.Do()
	return s.copyAll()
}

// byHand is covered with a request.
func (s *sizing) byHand() error {
	r := s.plain.Iget(mpi.Of(s.x), 1, 0)
	s.beside.Do()
	if _, err := r.Wait(); err != nil {
		return err
	}
	return s.copyAll()
}

func (h *hunt) printCurves(all []curve) {
	fmt.Fprintf(h.out, "\nself-induced overlap over %s: blocking / DDS, and its bound (wire + work) / max(wire, work); medians of %d (HUNT, figures 8, 9)\n", h.net(), h.cfg.reps)
	fmt.Fprintf(h.out, "%10s %10s %10s %8s %10s %8s %8s %12s %14s\n", "bytes", "wire us", "loop", "bound", "memcpy", "bound", "share %", "indep: block", "indep: DDS/nb")
	for _, c := range all {
		fmt.Fprintf(h.out, "%10d %10.1f %10.3f %8.3f %10.3f %8.3f %8.1f %12.3f %14.4f\n", c.bytes, c.wire*1e6, c.loopSpeedup, c.loopBound,
			c.copySpeedup, c.copyBound, 100*c.copySpeedup/c.copyBound, c.blockingRatio, c.byHandRatio)
		h.result("overlap", report.Integer("bytes", c.bytes), report.Decimal("seconds_wire", c.wire), report.Decimal("seconds_loop", c.loop), report.Decimal("seconds_copy", c.copied),
			report.Decimal("speedup_loop", c.loopSpeedup), report.Decimal("bound_loop", c.loopBound), report.Decimal("speedup_copy", c.copySpeedup),
			report.Decimal("bound_copy", c.copyBound), report.Decimal("share_copy_percent", 100*c.copySpeedup/c.copyBound),
			report.Decimal("seconds_independent_blocking", c.workBlocking), report.Decimal("seconds_independent_nonblocking", c.workByHand),
			report.Decimal("seconds_independent_dds", c.workLazy), report.Decimal("ratio_independent_dds", c.byHandRatio), report.Text("net", h.net().String()))
	}
}

// drawCurves writes the two figures.
func (h *hunt) drawCurves(all []curve) error {
	x := chart.Axis{Title: "message", Unit: "bytes", Log: true}
	series := func(label, bounds string, y func(c *curve) float64) chart.Series {
		s := chart.Series{Label: label, Of: bounds, Bound: bounds != ""}
		for i := range all {
			s.X, s.Y = append(s.X, float64(all[i].bytes)), append(s.Y, y(&all[i]))
		}
		return s
	}
	self := &chart.Lines{
		Title: "Reading while the message arrives: what DDS brings over blocking", Note: h.note(),
		X: x, Y: chart.Axis{Title: "time of blocking / time of DDS", Mark: 1},
		Series: []chart.Series{
			series("loop", "", func(c *curve) float64 { return c.loopSpeedup }),
			series("bound of the loop", "loop", func(c *curve) float64 { return c.loopBound }),
			series("memcpy", "", func(c *curve) float64 { return c.copySpeedup }),
			series("bound of memcpy", "memcpy", func(c *curve) float64 { return c.copyBound }),
		},
	}
	independent := &chart.Lines{
		Title: "Work that covers the transfer, then memcpy: against non-blocking by hand", Note: h.note(),
		X: x, Y: chart.Axis{Title: "time / time of non-blocking by hand", Mark: 1},
		Series: []chart.Series{
			series("blocking", "", func(c *curve) float64 { return c.blockingRatio }),
			series("DDS", "", func(c *curve) float64 { return c.byHandRatio }),
		},
	}
	for _, f := range []struct {
		name   string
		figure *chart.Lines
	}{{"hunt-self-induced", self}, {"hunt-independent", independent}} {
		base, wanted := h.chartBase(f.name)
		if !wanted {
			continue
		}
		if err := f.figure.Write(base); err != nil {
			return err
		}
		fmt.Fprintf(h.out, "%s.svg, %s.csv\n", base, base)
	}
	return nil
}
