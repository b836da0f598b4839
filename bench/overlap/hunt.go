package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/commthread/dds"
	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

// Modes of -dds.
const (
	ddsOff   = "off"
	ddsAuto  = "auto"
	ddsForce = "force"
)

// hunt measures what HUNT's evaluation (section 6) measures, on in-process ranks.
type hunt struct {
	cfg      *config
	out      io.Writer
	progress *report.Progress
	lines    [][]string
	counts   dds.Counts // of all arenas together
}

// huntMode is the program with -reading.
func huntMode(stdout, stderr io.Writer, c *config) error {
	h := &hunt{cfg: c, out: stdout, progress: report.NewProgress(stderr)}
	if c.outDir != "" {
		if err := report.TryFolder(c.outDir); err != nil {
			return fmt.Errorf("-out: %w", err)
		}
	}
	fmt.Fprintln(stdout, machine.Line())
	backend, reason, err := h.backend()
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "dds: back end %s: %s\n", backend, reason)
	for _, part := range []func() error{h.startUp, h.table2, h.curves, h.transpose, h.collection, h.spare} {
		err := part()
		if h.progress.Clear(); err != nil {
			return err
		}
	}
	n := h.counts
	fmt.Fprintf(stdout, "\ndds %s: strips armed %d, faults %d, stalls %d, stray %d\n", c.dds, n.Strips, n.Faults, n.Stalls, n.Stray)
	h.result("total", report.Integer("strips", int(n.Strips)), report.Integer("faults", int(n.Faults)), report.Integer("stalls", int(n.Stalls)))
	if c.dds == ddsForce && (n.Strips == 0 || n.Faults == 0 || n.Stalls == 0) {
		return fmt.Errorf("-dds force: nobody was made to wait for a strip: the back end is %s (%s)", backend, reason)
	}
	printResults(stdout, h.lines)
	return nil
}

// result keeps a result line for the end.
func (h *hunt) result(name string, pairs ...string) {
	h.lines = append(h.lines, append([]string{report.Text("case", name), report.Text("dds", h.cfg.dds)}, pairs...))
}

// backend says how readers are made to wait.
func (h *hunt) backend() (name, reason string, err error) {
	a, err := dds.NewArena(1, h.arenaOptions()...)
	if err != nil {
		return "", "", err
	}
	name, reason = a.Backend()
	if h.cfg.dds == ddsForce && name == dds.Explicit {
		err = fmt.Errorf("-dds force: no reader can be made to wait here: %s; -dds auto measures without", reason)
	}
	return name, reason, errors.Join(err, a.Close())
}

func (h *hunt) arenaOptions(more ...dds.Option) []dds.Option {
	if h.cfg.dds == ddsOff {
		more = append(more, dds.Backend(dds.Explicit))
	}
	return more
}

// hints returns the hints of wrapped communicators.
func (h *hunt) hints(more ...dds.Hint) []dds.Hint {
	if h.cfg.dds == ddsForce {
		more = append(more, dds.Force())
	}
	return more
}

// readerCore is where the reader and the thread that retires its strips run.
func readerCore() osthread.CPUSet { return osthread.CPUSetOf(osthread.Usable().List()[0]) }

// party is one rank of two: rank 0 reads what rank 1 has.
type party struct {
	*mpi.Comm
	arena *dds.Arena
	w     *dds.Wrapped
	plain *mpi.Win // nothing is lazy
	lazy  *mpi.Win // of w, on the same memory
	in    []uint64 // in the arena
}

// between runs body on rank 0 of two, whose window on rank 1 has n numbers, value(i) at
// place i. The C thread runs on the core of the reader.
func (h *hunt) between(net local.Net, n int, hints []dds.Hint, body func(p *party) error) error {
	config := world.Default()
	config.Ranks, config.Net = 2, net
	return config.Run(func(c *mpi.Comm) error {
		p := &party{Comm: c}
		err := p.open(h, n, hints)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			err = pinned(func() error { return body(p) })
		}
		return errors.Join(err, p.close(h))
	})
}

// pinned runs f on the reader's core.
func pinned(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := osthread.SetAffinity(readerCore()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	err := f()
	if back := osthread.SetAffinity(osthread.Usable()); !errors.Is(back, errors.ErrUnsupported) {
		err = errors.Join(err, back)
	}
	return err
}

// value is what stands at place i of the window.
func value(i int) uint64 { return uint64(i)*0x9e3779b97f4a7c15 + 1 }

func (p *party) open(h *hunt, n int, hints []dds.Hint) (err error) {
	if p.arena, err = dds.NewArena(8*n+64<<10, h.arenaOptions(dds.Cores(readerCore()))...); err != nil {
		return err
	}
	if p.w, err = dds.Wrap(p.Comm, hints...); err != nil {
		return err
	}
	if p.in, err = dds.Make[uint64](p.arena, n); err != nil {
		return err
	}
	there := make([]uint64, n)
	for i := range there {
		there[i] = value(i)
	}
	if h.cfg.tamper != nil && p.Rank() == 1 {
		h.cfg.tamper(engine.Buffer(mpi.Of(there)).Memory())
	}
	if p.plain, err = p.NewWin(mpi.Of(there)); err != nil {
		return err
	}
	p.lazy, err = p.w.NewWin(mpi.Of(there))
	return err
}

// close ends the party and adds its counts.
func (p *party) close(h *hunt) error {
	err := errors.Join(p.lazy.Free(), p.plain.Free(), p.w.Close())
	if p.Rank() == 0 {
		h.count(p.arena)
	}
	return errors.Join(err, p.arena.Close())
}

func (h *hunt) count(a *dds.Arena) {
	n := a.Counts()
	h.counts.Strips += n.Strips
	h.counts.Faults += n.Faults
	h.counts.Stalls += n.Stalls
	h.counts.Stray += n.Stray
}

// net returns the network of -reading: from the command line, or 10 Gbit/s.
func (h *hunt) net() local.Net {
	if h.cfg.line.Given("net") {
		return h.cfg.world.Net
	}
	return shapedNet("10gige")
}

// note is at the foot of the charts.
func (h *hunt) note() string {
	return fmt.Sprintf("%s; network %s, dds %s, medians of %d", machine.Line(), h.net(), h.cfg.dds, h.cfg.reps)
}

// shapedNet is a network of the program's own.
func shapedNet(text string) local.Net {
	n, err := local.ParseNet(text)
	if err != nil {
		panic(err) // a constant
	}
	return n
}

// startUp prints what HUNT's Table 1 has, for the network of the curves.
func (h *hunt) startUp() error {
	return h.between(h.net(), 1, h.hints(), func(p *party) error {
		k := p.w.Constants()
		fmt.Fprintf(h.out, "\nstart-up (HUNT, Table 1):\n%s", k.Report(strings.ReplaceAll(h.net().String(), ",progress", " progress")))
		h.result("start-up", report.Decimal("seconds_overhead", k.Overhead.Seconds()), report.Decimal("seconds_per_byte", k.Gap/1e9),
			report.Decimal("seconds_rtt", k.RTT.Seconds()), report.Decimal("seconds_fault", k.Fault.Seconds()), report.Decimal("seconds_protect", k.Arm.Seconds()),
			report.Text("net", h.net().String()))
		const strips = 8 // one page of each is armed, and opened, if a reader follows them
		cost := strips * (k.Arm + k.Retire)
		fmt.Fprintf(h.out, "1 MiB in %d strips, first pages: arming and retiring take %.1f us, or %.1f us if nobody reads before all has arrived (from the prices above)\n",
			strips, float64(cost)/1e3, float64(k.Arm+k.Retire)/1e3)
		h.result("arm-retire-1MiB-first-pages", report.Decimal("seconds", cost.Seconds()), report.Decimal("seconds_unread", (k.Arm+k.Retire).Seconds()))
		return nil
	})
}

// chartBase returns where a chart goes; false if none is wanted.
func (h *hunt) chartBase(name string) (string, bool) {
	return filepath.Join(h.cfg.outDir, name), h.cfg.outDir != ""
}
