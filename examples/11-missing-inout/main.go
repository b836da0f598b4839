// You will see a program with a mistake: a task that changes its argument declares that
// it only reads it. Run in the order of the source (Serial) it gives the right result. Run
// in random orders that the declared accesses allow (Seeded) it gives others, the same
// ones for the same seed. Checked body by body (Verify) the mistake is named. The right
// declaration goes through all of that, and on all cores. The last line checks it.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/tasks"
)

// step is one step of Horner's rule for a polynomial.
func step(sum *float64, x, c float64) { *sum = *sum*x + c }

var (
	wrong = tasks.Declare3("step", step, tasks.Input, tasks.Value, tasks.Value) // should be Inout
	right = tasks.Declare3("step", step, tasks.Inout, tasks.Value, tasks.Value)
)

// horner evaluates 1 + 2x + 3x^2 + ... with the given number of coefficients, a task for
// each.
func horner(task *tasks.Task3[*float64, float64, float64], n int, x float64, opts ...dataflow.Option) (sum float64, err error) {
	err = dataflow.Run(func(rt *dataflow.Runtime) error {
		for c := n; c > 0; c-- {
			task.Spawn(rt, &sum, x, float64(c))
		}
		return rt.Wait()
	}, opts...)
	return sum, err
}

// seeds evaluates once per seed, twice each, and returns how many results are want, and
// whether equal seeds gave equal results.
func seeds(task *tasks.Task3[*float64, float64, float64], o options, want float64) (hits int, repeatable bool, err error) {
	repeatable = true
	for seed := range o.seeds {
		first, err := horner(task, o.n, o.x, dataflow.Seeded(seed+1))
		if err != nil {
			return 0, false, err
		}
		again, err := horner(task, o.n, o.x, dataflow.Seeded(seed+1))
		if err != nil {
			return 0, false, err
		}
		if first == want {
			hits++
		}
		repeatable = repeatable && first == again
	}
	return hits, repeatable, nil
}

// trial runs one declaration in all modes and returns how many of them found a mistake.
func trial(name string, task *tasks.Task3[*float64, float64, float64], o options, want float64) (found int, err error) {
	serial, err := horner(task, o.n, o.x, dataflow.Serial())
	if err != nil {
		return 0, err
	}
	hits, repeatable, err := seeds(task, o, want)
	if err != nil {
		return 0, err
	}
	_, complaint := horner(task, o.n, o.x, dataflow.Verify())
	fmt.Printf("%s\n  Serial: %v, right: %v\n  Seeded: %d of %d seeds give that, equal seeds give equal results: %v\n",
		name, serial, serial == want, hits, o.seeds, repeatable)
	said := "nothing to complain of"
	if complaint != nil {
		found++
		said, _, _ = strings.Cut(complaint.Error(), "\n")
	}
	fmt.Printf("  Verify: %s\n", said)
	if serial != want || !repeatable {
		return 0, fmt.Errorf("%s the serial result must be right, and a seed repeatable", name)
	}
	if hits < int(o.seeds) {
		found++
	}
	return found, nil
}

func main() {
	o := parse()
	want := 0.0
	for c := o.n; c > 0; c-- {
		step(&want, o.x, float64(c))
	}
	bad, err := trial("declared Input, which is a mistake:", wrong, o, want)
	good, cores := 0, 0.0
	if err == nil {
		good, err = trial("declared Inout:", right, o, want)
	}
	if err == nil {
		cores, err = horner(right, o.n, o.x, dataflow.Workers(o.workers))
	}
	if err != nil || bad != 2 || good != 0 || cores != want {
		fmt.Printf("FAILED: the mistake was found by %d of 2 modes, %d complained of the right program, all cores: %v; %v\n", bad, good, cores == want, err)
		os.Exit(1)
	}
	fmt.Println("ok: the mistake was found twice, and the right program passed everywhere")
}
