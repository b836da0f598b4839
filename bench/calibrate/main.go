// Command calibrate measures the kernels, wake-ups, tasks and messages of this machine and writes
// a machine file: with it, programs predict their own times (-machine FILE).
//
//	calibrate -out here.json                  2 nodes with 1 core, as many as this machine has
//	calibrate -out here.json -net gige        with the network of -net between the ranks
//	mpirun -np 2 calibrate -out tcp.json      with the messages of MPI (built with -tags mpi)
//	xhpl -machine here.json -q 2 -n 4000 -nb 192
//	calibrate -check                          how good predictions on this machine are
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/system"
	"github.com/weft-hpc/weft/mpi/world"
)

const about = `calibrate measures the kernels of this machine, its wake-ups, tasks, and messages between
threads of a process, and writes a machine file for -machine. It takes half a minute, and up to a
minute where neighbours slow cores down.

	calibrate -out here.json                  a node for each core of this machine
	calibrate -out here.json -net gige        with a network between the nodes
	mpirun -np 2 calibrate -out tcp.json      with the messages of MPI (built with -tags mpi)
	xhpl -machine here.json -q 2 -n 4000 -nb 192
	calibrate -check                          how good predictions on this machine are
`

type options struct {
	out      string
	net      local.Net
	kernels  blas.Kernels
	check    bool
	quick    bool // of the check
	rounds   int
	only     string
	shortest float64 // timing of kernels, in ns
	repeats  int     // of timings of kernels on a slow core
}

func parse(args []string) (o options, err error) {
	line := commandline.New("calibrate", about)
	line.Exits("0 written, 1 not measured or written, 2 usage")
	line.StringVar(&o.out, "out", "", "write the machine file to `FILE` (default: standard output)")
	line.Func("net", "network between the nodes: none, as measured between threads (default), gige, 10gige, ib, or `L=20us,...`", func(s string) (err error) {
		o.net, err = local.ParseNet(s)
		return err
	})
	o.kernels, o.shortest, o.repeats = blas.Default(), shortestTiming, timerRepeats
	line.Func("isa", "measure these `kernels` (default "+o.kernels.Name()+")", func(s string) (err error) {
		o.kernels, err = blas.Named(s)
		return err
	})
	line.BoolVar(&o.check, "check", false, "write no file: calibrate, predict and measure LINPACK and NAS FT in turn, and print the errors of the predictions; a round takes some five minutes")
	line.BoolVar(&o.quick, "quick", false, "with -check: small problems, to see that it works")
	line.Least(&o.rounds, "rounds", 5, 1, "with -check: `rounds` of calibration, predictions and measurements, of which medians count")
	line.StringVar(&o.only, "only", "", "with -check: only problems and drivers with this `text` in their names, as they are printed, such as \"N=1000 1x1\" or \"ft A\"")
	return o, line.Parse(args, line.NoArgs, func() error {
		switch {
		case o.check && (o.out != "" || line.Given("net")):
			return errors.New("-check writes no file and has its own networks: leave -out and -net out")
		case !o.check && (o.quick || line.Given("rounds") || line.Given("only")):
			return errors.New("-quick, -rounds and -only are for -check: add it, or leave them out")
		case o.check && osthread.NumCores() < checkedCores:
			return fmt.Errorf("-check needs %d cores: this process may use %d", checkedCores, osthread.NumCores())
		}
		return nil
	})
}

func main() { world.Exit(run(os.Args[1:], os.Stdout)) }

func run(args []string, stdout io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return commandline.Help(stdout, err)
	}
	if o.check {
		if _, _, launched := system.Launched(); launched {
			return fmt.Errorf("%w: -check runs its ranks inside this process: start it without a launcher", world.ErrUsage)
		}
		fmt.Fprintln(stdout, machine.Line())
		return check(o, stdout)
	}
	if o.out != "" { // a name that will not do is refused before the measurements
		f, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if _, size, launched := system.Launched(); launched {
		return launchedRun(o, size, stdout)
	}
	m, err := measure(o, newWatch(o.kernels))
	if err != nil {
		return err
	}
	return write(o, m, stdout)
}

// launchedRun measures as one of two processes, both at the same time, with messages between them.
func launchedRun(o options, size int, stdout io.Writer) error {
	if size != 2 || o.net != (local.Net{}) {
		return fmt.Errorf("%w: under a launcher calibrate takes 2 ranks, and -net is for ranks inside one process", world.ErrUsage)
	}
	return world.Default().Run(func(c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		m, err := machineHere(o, newWatch(o.kernels))
		if err = errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		net, eager, rate, err := messagesOfProcesses(c)
		if err != nil || c.Rank() != 0 {
			return err
		}
		m.Nodes, m.Network.Net, m.Eager, m.Copy = 2, net, &eager, rate/(1-stolen(m))
		return write(o, m, stdout)
	})
}

// write writes the machine file.
func write(o options, m *cluster.Machine, stdout io.Writer) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if _, err := cluster.Parse(text); err != nil {
		return fmt.Errorf("the measurements make no machine file: %w", err)
	}
	if o.out == "" {
		_, err = stdout.Write(text)
		return err
	}
	return os.WriteFile(o.out, text, 0o644)
}

// machineHere returns this machine, without messages: a node for each core.
func machineHere(o options, w watch) (m *cluster.Machine, err error) {
	m = &cluster.Machine{Name: "calibrated", Source: machine.Line(), Nodes: osthread.NumCores(), Cores: 1}
	before := noiseNow()
	k, err := kernels(w, o)
	if err != nil {
		return nil, err
	}
	between := noiseNow()
	err = w.products.undisturbed(func() (err error) {
		m.Waker.Duration, m.Sleeper.Duration = wakeCosts()
		m.Switch.Duration = switchCost()
		k.Handed, k.Claimed = handedRates(o.kernels, k.Cached)
		m.Spawn.Duration, m.Task.Duration, err = taskCosts()
		return err
	})
	n := medianNoise(before, between, noiseNow())
	m.NoiseEvery.Duration, m.NoiseLength.Duration = n.every, n.length
	m.Kernels = quicken(k, stolen(m))
	return m, err
}

// stolen returns the part of the time that the noise of m has.
func stolen(m *cluster.Machine) float64 {
	return float64(m.NoiseLength.Duration) / float64(max(m.NoiseEvery.Duration, 1))
}

// measure returns this machine, with messages between threads, which take the way to the memory.
func measure(o options, w watch) (*cluster.Machine, error) {
	m, err := machineHere(o, w)
	if err != nil {
		return nil, err
	}
	err = w.transforms.undisturbed(func() (err error) {
		m.Network.Net, m.Copy, err = messages()
		return err
	})
	m.Network.Net = beyond(m.Network.Net, o.net)
	return m, err
}

// beyond returns the network net between ranks in this process, whose messages take the time of those
// between threads as well; with none, that alone.
func beyond(threads, net local.Net) local.Net {
	if net == (local.Net{}) {
		return threads
	}
	net.Name = ""
	net.Latency += threads.Latency
	net.Overhead += threads.Overhead
	return net
}
