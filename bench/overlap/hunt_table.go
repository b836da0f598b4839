package main

import (
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// microReps is how often the smallest transfers are measured for each repetition of -reps.
const microReps = 30

// table2 measures one and two transfers of 8 bytes, read at once (HUNT, Table 2), with
// L = 10 us. The two lie on pages of their own: a page is armed only if all of it is
// the transfer's.
func (h *hunt) table2() error {
	net := shapedNet("L=10us,bw=10Gbit")
	return h.between(net, 1<<17, h.hints(), func(p *party) error {
		places := [2][]uint64{}
		for i := range places {
			var err error
			if places[i], err = dds.Make[uint64](p.arena, 1); err != nil {
				return err
			}
		}
		fmt.Fprintf(h.out, "\n8 bytes, read at once, over %s, C thread on the reader's core; medians of %d (HUNT, Table 2; us)\n", net, microReps*h.cfg.reps)
		fmt.Fprintf(h.out, "%-12s %10s %10s %10s %12s\n", "transfers", "n-block", "DDS", "block", "DDS - block")
		for n := 1; n <= 2; n++ {
			blocking, nonblocking, lazy, err := h.small(p, places[:n])
			if err != nil {
				return err
			}
			fmt.Fprintf(h.out, "%-12d %10.2f %10.2f %10.2f %12.2f\n", n, nonblocking*1e6, lazy*1e6, blocking*1e6, (lazy-blocking)*1e6)
			h.result("table2", report.Integer("transfers", n), report.Decimal("seconds_blocking", blocking), report.Decimal("seconds_nonblocking", nonblocking),
				report.Decimal("seconds_dds", lazy), report.Decimal("seconds_extra", lazy-blocking))
		}
		return h.arrived(p)
	})
}

// small returns the medians of the three forms. They alternate in runs of microReps, like
// HUNT's long loops of one form: a lazy transfer right after a transfer with a busy wait
// takes longer, because the reader has used up its time slice.
func (h *hunt) small(p *party, to [][]uint64) (blocking, nonblocking, lazy float64, err error) {
	var all [3][]float64
	forms := [3]func() error{
		func() error { return getAll(p.plain, to) },
		func() error {
			var rs []*mpi.Request
			for i := range to {
				rs = append(rs, p.plain.Iget(mpi.Of(to[i]), 1, i))
			}
			return mpi.Waitall(rs...)
		},
		func() error { return getAll(p.lazy, to) },
	}
	for i := range 3 * h.cfg.reps {
		f := i % len(forms)
		for range microReps {
			seconds, err := h.once(p, to, forms[f])
			if err != nil {
				return 0, 0, 0, fmt.Errorf("small transfers, form %d: %w", f, err)
			}
			all[f] = append(all[f], seconds)
		}
	}
	return report.Median(all[0]), report.Median(all[1]), report.Median(all[2]), nil
}

// once makes the transfers, reads the data, and returns the seconds of both.
func (h *hunt) once(p *party, to [][]uint64, form func() error) (float64, error) {
	for i := range to {
		to[i][0] = 0
	}
	from := osthread.Nanotime()
	if err := form(); err != nil {
		return 0, err
	}
	right := true
	for i := range to {
		right = right && to[i][0] == value(i)
	}
	seconds := float64(osthread.Nanotime()-from) / 1e9
	if !right {
		return 0, fmt.Errorf("something else was read than rank 1 has")
	}
	return seconds, p.w.Flush()
}

func getAll(w *mpi.Win, to [][]uint64) error {
	for i := range to {
		if err := w.Get(mpi.Of(to[i]), 1, i); err != nil {
			return err
		}
	}
	return nil
}

// arrived reads a transfer that has arrived: nobody faults.
func (h *hunt) arrived(p *party) error {
	if err := p.lazy.Get(mpi.Of(p.in), 1, 0); err != nil {
		return err
	}
	for until := osthread.Nanotime() + 20e6; osthread.Nanotime() < until; { // many times the wire time
		osthread.Relax()
	}
	before := p.arena.Counts()
	from := osthread.Nanotime()
	if err := checked(p.in); err != nil {
		return err
	}
	seconds := float64(osthread.Nanotime()-from) / 1e9
	after := p.arena.Counts()
	faults := after.Faults + after.Stray - before.Faults - before.Stray
	fmt.Fprintf(h.out, "a transfer of %d bytes that has arrived is read with %d faults\n", 8*len(p.in), faults)
	h.result("touch-arrived", report.Integer("faults", int(faults)), report.Decimal("seconds", seconds))
	if faults != 0 {
		return fmt.Errorf("%d faults on strips that had arrived", faults)
	}
	return p.w.Flush()
}

// checked compares numbers with what rank 1 has.
func checked(x []uint64) error {
	for i, v := range x {
		if v != value(i) {
			return fmt.Errorf("number %d of the transfer is %#x, and rank 1 has %#x", i, v, value(i))
		}
	}
	return nil
}
