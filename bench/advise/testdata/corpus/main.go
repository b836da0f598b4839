// Program corpus is the programs on which advice is tried: each exchanges parts of an array and
// mixes it, several times. It prints a line for each program: its name, what advice has to do with
// it, the function with its calls, and a sum of the bytes of all ranks. Only go run ./bench/advise -corpus runs it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/world"
)

// What advice has to do.
const (
	change = "change" // the messages are independent: they may be under way together
	keep   = "keep"   // they depend on each other, or what lies between does
	either = "either" // independent in the measured run, and not always
)

// task is what a program gets: the ranks beside it on a ring, and an array of cells n numbers long.
type task struct {
	c           *mpi.Comm
	left, right int
	n, step     int
	u           []float64
	counts      []int32
}

// cells is the length of the array in parts of n.
const cells = 16

// part returns n numbers from part i on.
func (t *task) part(i int) []float64 { return t.u[i*t.n : (i+1)*t.n] }

type program struct {
	name, must string
	body       func(t *task) error
	in         string // the function with the calls, if it is not the body
}

// function returns the name of the function that has the calls.
func (p *program) function() string {
	if p.in != "" {
		return p.in
	}
	name := runtime.FuncForPC(reflect.ValueOf(p.body).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

const steps = 12

func run(c *mpi.Comm, p *program, n int) (uint64, error) {
	t := &task{c: c, left: (c.Rank() + c.Size() - 1) % c.Size(), right: (c.Rank() + 1) % c.Size(), n: n, u: make([]float64, cells*n), counts: make([]int32, cells*n)}
	for i := range t.u {
		t.u[i] = float64((i*7+c.Rank()*31)%101) / 7
		t.counts[i] = int32(i%5 + c.Rank())
	}
	for t.step = range steps {
		if err := p.body(t); err != nil {
			return 0, fmt.Errorf("%s: %w", p.name, err)
		}
		t.mix()
	}
	sums := make([]uint64, c.Size())
	if err := c.Allgather(mpi.Of([]uint64{t.sum()}), mpi.Of(sums)); err != nil {
		return 0, err
	}
	all := uint64(0)
	for r, s := range sums {
		all += s * uint64(2*r+1)
	}
	return all, nil
}

// mix computes for longer than two calls may lie apart.
func (t *task) mix() {
	for start := time.Now(); time.Since(start) < 50*time.Microsecond; {
	}
	for i := range t.u {
		t.u[i] = t.u[i]*0.75 + t.u[(i*5+3)%len(t.u)]*0.25
	}
}

func (t *task) sum() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, t.u, t.counts)
	return h.Sum64()
}

func main() {
	w := world.Flags(flag.CommandLine)
	w.Ranks = 4
	n := flag.Int("n", 64, "numbers of a part")
	flag.Parse()
	world.Exit(w.Run(func(c *mpi.Comm) error {
		var errs []error
		for i := range programs {
			p := &programs[i]
			sum, err := run(c, p, *n)
			if c.Rank() == 0 && err == nil {
				fmt.Printf("%s %s %s %x\n", p.name, p.must, p.function(), sum)
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	}))
}
