package main

import (
	"errors"
	"fmt"

	"github.com/weft-hpc/weft/bench/internal/nas"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// fits refuses a class that the memory does not hold, on all ranks alike. It counts what
// the ranks of each machine need there. Collective.
func (p program) fits(comm *mpi.Comm, c *config) error {
	if c.kernels != nil {
		return nil // arrays take no memory
	}
	host, err := comm.SplitShared()
	if err != nil {
		return err
	}
	have, known := p.available()
	missing := 0
	here := host.Size()
	share := func(class nas.Class) int { return c.needs(class, comm) / comm.Size() * here }
	if known && share(c.class) > have {
		missing = 1
	}
	refused := missing
	err = comm.Allreduce(mpi.InPlace, mpi.One(&refused), mpi.Max)
	if err = errors.Join(err, host.Free()); err != nil || refused == 0 {
		return err
	}
	if missing == 0 {
		return fmt.Errorf("%w: class %s does not fit into the memory of another machine", world.ErrUsage, c.class.Name)
	}
	fit := "no class fits"
	for _, class := range nas.Classes() {
		if need := share(class); need <= have {
			fit = fmt.Sprintf("class %s fits, in %s", class.Name, size(need))
		}
	}
	return fmt.Errorf("%w: class %s needs %s for the %d ranks of this machine, and %s of its memory are available: %s",
		world.ErrUsage, c.class.Name, size(share(c.class)), here, size(have), fit)
}

// needs returns the bytes of the hungriest variant on all ranks.
func (c *config) needs(class nas.Class, comm *mpi.Comm) (most int) {
	for _, v := range c.variants() {
		d := distributed.Config{Form: v.Form, Pad: c.pad, Grid: c.grid(comm.Size()), Stage: c.stageOf(v), OneSided: v.OneSided}
		most = max(most, class.Memory(comm.Size(), d))
	}
	return most
}

// size prints a number of bytes.
func size(bytes int) string {
	switch b := float64(bytes); {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", b/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", b/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", b/(1<<10))
	}
	return fmt.Sprintf("%d bytes", bytes)
}
