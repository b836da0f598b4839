package program_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/internal/program"
	"github.com/weft-hpc/weft/internal/seeds"
)

type machine struct {
	name string
	program.Config
}

// machines are the configurations; seed chooses among schedules.
func machines(seed uint64) (all []machine) {
	for _, n := range []int{1, 2, 4, 16} {
		c := program.Config{Workers: n, Options: []dataflow.Option{dataflow.Workers(n), dataflow.Window([]int{1, 8, 4096}[seed%3]), dataflow.Pin(seed%2 == 0)}}
		all = append(all, machine{fmt.Sprintf("%d workers", n), c})
	}
	return append(all,
		machine{"serial", program.Config{Options: []dataflow.Option{dataflow.Serial()}}},
		machine{"seeded", program.Config{Options: []dataflow.Option{dataflow.Seeded(seed + 1)}}},
		machine{"seeded again", program.Config{Options: []dataflow.Option{dataflow.Seeded(seed + 1<<32), dataflow.Window(2)}}},
		machine{"traced", program.Config{Workers: 2, Options: []dataflow.Option{dataflow.Workers(2), dataflow.Trace(0)}}},
	)
}

// patience is how long a program of some milliseconds may take before it counts as one
// that hangs.
const patience = time.Minute

// watched runs p, and ends the process with its seed and all stacks if it does not end.
func watched(p *program.Program, m machine) (*program.Outcome, error) {
	dog := time.AfterFunc(patience, func() {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "HANGS with %s:\n%v\n%s\n", m.name, p, stacks[:runtime.Stack(stacks, true)])
		os.Exit(1)
	})
	defer dog.Stop()
	return program.Run(p, m.Config)
}

// fault describes the wrong outcome of p on m; "" if it is right.
func fault(p *program.Program, m machine) string {
	got, err := watched(p, m)
	if err != nil {
		return err.Error()
	}
	return program.Compare(program.Interpret(p), got)
}

// Every program computes the outcome of its text, on every machine.
func TestPrograms(t *testing.T) {
	for seed := range seeds.From(t, 1, 25) {
		p := program.Generate(seed)
		for _, m := range machines(seed) {
			if f := fault(p, m); f != "" {
				small := program.Shrink(p, func(q *program.Program) bool { return again(q, m) })
				t.Fatalf("seed %d, %s: %s\nmade smaller:\n%vwhich gives: %s", seed, m.name, f, small, fault(small, m))
			}
		}
	}
}

// again reports whether one of some runs of p shows a fault.
func again(p *program.Program, m machine) bool {
	for range 30 {
		if fault(p, m) != "" {
			return true
		}
	}
	return false
}

// The programs contain every feature of the generator.
func TestGenerate_variety(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(300) {
		p := program.Generate(seed)
		require.Equal(t, p.String(), program.Generate(seed).String(), "the same for the same seed")
		note(seen, p.Steps, 1, p)
	}
	for _, what := range []string{
		"in", "out", "inout", "concurrent", "commutative", "sum a", "sum b", "weak in", "weak out", "weak inout", "weak concurrent",
		"weak commutative", "weak sum a", "lazy", "each in", "each commutative", "tile", "buffer in", "buffer out", "buffer inout",
		"two accesses overlap", "in place 1", "in place 2", "in place 3", "final 1", "final 2", "final 3", "hold", "block", "priority",
		"worker", "wait 0", "wait 1", "wait 2", "wait on 0", "wait on 1", "wait on 2", "work 1", "work 2",
		"error 1", "error 2", "error 3", "panic 1", "event fails 1",
	} {
		assert.GreaterOrEqual(t, seen[what], 5, what)
	}
}

func note(seen map[string]int, steps []program.Step, depth int, p *program.Program) {
	for _, s := range steps {
		kind := [...]string{"spawn", "wait", "wait on", "work"}[s.Kind]
		seen[fmt.Sprintf("%s %d", kind, depth-1)]++
		if s.Kind != program.Spawn {
			continue
		}
		noteTask(seen, s.Task, depth)
		note(seen, s.Task.Steps, depth+1, p)
	}
}

func noteTask(seen map[string]int, t *program.Task, depth int) {
	flag := func(on bool, name string) {
		if on {
			seen[name]++
			seen[fmt.Sprintf("%s %d", name, depth)]++
		}
	}
	flag(t.InPlace, "in place")
	flag(t.Final, "final")
	flag(t.Hold, "hold")
	flag(t.Block, "block")
	flag(t.Priority != 0, "priority")
	flag(t.Worker != 0, "worker")
	flag(true, [...]string{"succeeds", "error", "panic", "event fails"}[t.Failure])
	for i, a := range t.Accesses {
		prefix := ""
		switch {
		case a.Weak:
			prefix = "weak "
		case a.Each:
			prefix = "each "
		case a.Region.Buffer > 0:
			prefix = "buffer "
		}
		seen[prefix+a.Mode.String()]++
		flag(a.Lazy, "lazy")
		flag(a.Region.Cols > 1, "tile")
		for _, b := range t.Accesses[:i] {
			flag(a.Region.Overlaps(b.Region), "two accesses overlap")
		}
	}
}

// A program that leaves an access out is noticed, and what Shrink leaves of it is small and
// still shows the mistake.
func TestCompare_notices_missing_access(t *testing.T) {
	if invariant.Race {
		t.Skip("the race detector would find these faults: run it without")
	}
	left, noticed := 0, 0
	for seed := range uint64(24) {
		p := program.Generate(seed)
		if len(p.Steps) == 0 || p.Steps[0].Kind != program.Spawn {
			continue
		}
		left++
		if omit, m := omission(p); omit {
			noticed++
			if noticed == 1 {
				small := program.Shrink(p, func(q *program.Program) bool { return fault(q, m) != "" })
				assert.NotEmpty(t, fault(small, m))
				assert.LessOrEqual(t, len(small.Steps), min(4, len(p.Steps)), "%v", small)
			}
		}
	}
	assert.Greater(t, noticed, left/2, "of %d", left)
}

// omission reports whether one of a few schedules shows that an access of p is missing.
func omission(p *program.Program) (bool, machine) {
	for id := range min(p.Tasks, 10) {
		for seed := range uint64(6) {
			m := machine{"omission", program.Config{Options: []dataflow.Option{dataflow.Seeded(seed + 1)}, Omit: &program.Omission{Task: id}}}
			if fault(p, m) != "" {
				return true, m
			}
		}
	}
	return false, machine{}
}

// A wrong outcome is named.
func TestCompare_names_the_difference(t *testing.T) {
	p := program.Generate(2)
	for name, change := range map[string]func(o *program.Outcome){
		"word 3":      func(o *program.Outcome) { o.Arena[3]++ },
		"task 1":      func(o *program.Outcome) { o.Ran[1] = !o.Ran[1] },
		"wait failed": func(o *program.Outcome) { o.Failed = !o.Failed },
	} {
		o := program.Interpret(p)
		assert.Empty(t, program.Compare(program.Interpret(p), o))
		change(o)
		assert.Contains(t, program.Compare(program.Interpret(p), o), name)
	}
}
