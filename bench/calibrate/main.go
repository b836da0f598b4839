// Command calibrate measures the kernels, wake-ups, tasks and messages of this machine and writes
// a machine file: with it, programs predict their own times (-machine FILE).
//
//	calibrate -out here.json                  2 nodes with 1 core, as many as this machine has
//	calibrate -out here.json -net gige        with the network of -net between the ranks
//	xhpl -machine here.json -q 2 -n 4000 -nb 192
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/weft-hpc/weft/bench/internal/machine"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/commandline"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi/local"
	"github.com/weft-hpc/weft/mpi/world"
)

const about = `calibrate measures the kernels of this machine, its wake-ups, tasks, and messages between
threads of a process, and writes a machine file for -machine. It takes some seconds.

	calibrate -out here.json                  a node for each core of this machine
	calibrate -out here.json -net gige        with a network between the nodes
	xhpl -machine here.json -q 2 -n 4000 -nb 192
`

type options struct {
	out     string
	net     local.Net
	kernels blas.Kernels
}

func parse(args []string) (o options, err error) {
	line := commandline.New("calibrate", about)
	line.Exits("0 written, 1 not measured or written, 2 usage")
	line.StringVar(&o.out, "out", "", "write the machine file to `FILE` (default: standard output)")
	line.Func("net", "network between the nodes: none, as measured between threads (default), gige, 10gige, ib, or `L=20us,...`", func(s string) (err error) {
		o.net, err = local.ParseNet(s)
		return err
	})
	o.kernels = blas.Default()
	line.Func("isa", "measure these `kernels` (default "+o.kernels.Name()+")", func(s string) (err error) {
		o.kernels, err = blas.Named(s)
		return err
	})
	return o, line.Parse(args, line.NoArgs)
}

func main() { world.Exit(run(os.Args[1:], os.Stdout)) }

func run(args []string, stdout io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return commandline.Help(stdout, err)
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
	m, err := measure(o)
	if err != nil {
		return err
	}
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

// measure returns this machine: a node for each core.
func measure(o options) (*cluster.Machine, error) {
	m := &cluster.Machine{Name: "calibrated", Source: machine.Line(), Nodes: osthread.NumCores(), Cores: 1}
	m.Kernels = kernels(o.kernels)
	m.Waker.Duration, m.Sleeper.Duration = wakeCosts()
	var err error
	if m.Spawn.Duration, m.Task.Duration, err = taskCosts(); err != nil {
		return nil, err
	}
	if m.Network.Net = o.net; o.net == (local.Net{}) {
		m.Network.Net, err = messages()
	} else { // threads of this process copy the messages of a simulated network
		m.Copy = copyRate()
	}
	return m, err
}
