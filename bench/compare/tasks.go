package main

import (
	"fmt"
	"math"
	"strings"
)

var tasksSubject = subject{
	name: "tasks", title: "What a task costs", unit: "µs per task", less: true, axis: "length of a task", axisUnit: "µs",
	question: "what a task with dependences costs, against OpenMP and StarPU",
	setting: "A one-dimensional stencil: a row of points, four per core, for many steps; the task of a point reads it and its neighbours in the step before and checks that " +
		"they are what they should be. Dependences are found at run time on all sides. Wall time by number of tasks, submission and execution together, all cores. Tasks repeat one multiply-add loop; " +
		"each side is told how often, from its own speed on one core, so that its tasks take the same time. A runtime without any overhead would take the length of a task by the number of cores.",
	prepare: prepareTasks,
}

// taskKernel is the name on all sides: the loop is the same, and calibrated.
const taskKernel = "multiply-add loop"

func prepareTasks(b *bench) ([]contest, []missing, error) {
	peers, absent := taskPeers(b)
	if len(peers) == 0 {
		return nil, absent, nil
	}
	program, err := b.weft("taskbench", "")
	if err != nil {
		return nil, absent, err
	}
	var contests []contest
	for _, micros := range pick(b, []float64{0, 10}, []float64{0, 1, 3, 10, 30, 100}) {
		name := fmt.Sprintf("%v µs", micros)
		if micros == 0 {
			name = "empty tasks"
		}
		steps := b.taskSteps(micros)
		sides := []*side{weftTasks(b, program, micros, steps)}
		for _, p := range peers {
			sides = append(sides, p(micros, steps))
		}
		contests = append(contests, contest{name: name, x: micros, sides: sides})
	}
	return contests, absent, nil
}

func (b *bench) taskWidth() int { return 4 * b.cores }

// taskSteps makes a run about as long for each length, and not too short.
func (b *bench) taskSteps(micros float64) int {
	total := pick(b, 2e4, 4e5) // µs on one core
	tasks := math.Min(total/math.Max(micros, 1)*float64(b.cores), pick(b, 1e4, 2e5))
	return max(int(tasks)/b.taskWidth(), 50)
}

// weftLoop is the speed of the loop in Go on one core, in GFLOP/s: the best of some runs
// of a few ms, as the peers measure it.
func weftLoop(b *bench, program string) (float64, error) {
	v, err := b.figure(command{argv: []string{program, "-type", "trivial", "-width", "1", "-steps", "10", "-workers", "1", "-kernel", "compute_bound", "-iter", "20000", "-reps", "9"}}, "gflops_best")
	return v.value, err
}

// loopFLOPs is the operations of an iteration of the loop, as in Task Bench.
const loopFLOPs = 128

// weftTasks measures the loop first in every run, as the peers do.
func weftTasks(b *bench, program string, micros float64, steps int) *side {
	argv := []string{program, "-type", "stencil_1d", "-width", fmt.Sprint(b.taskWidth()), "-steps", fmt.Sprint(steps), "-workers", fmt.Sprint(b.cores), "-reps", pick(b, "3", "5")}
	run := func(b *bench) (sample, error) {
		rate, err := weftLoop(b, program)
		if err != nil {
			return sample{}, err
		}
		work := []string{"-kernel", "empty"}
		if micros > 0 {
			work = []string{"-kernel", "compute_bound", "-iter", fmt.Sprint(max(1, math.Round(micros*1000*rate/loopFLOPs)))}
		}
		v, err := b.figure(command{argv: append(argv[:len(argv):len(argv)], work...)}, "us_per_task_median")
		v.kernel = rate
		return v, err
	}
	return &side{name: "weft", version: "this tree", cores: b.cores, layout: oneProcess(b.cores), kernel: kernel{name: taskKernel, how: "the loop of the tasks"}, run: run}
}

// taskPeers compiles the task runtimes that are installed.
func taskPeers(b *bench) (peers []func(micros float64, steps int) *side, gone []missing) {
	openmp := func() ([]string, error) { return []string{"-fopenmp"}, nil }
	threads := []string{fmt.Sprint("OMP_NUM_THREADS=", b.cores), "OMP_PROC_BIND=close", "OMP_PLACES=cores"}
	for _, p := range []struct {
		name, source, compiler, install, layout string
		flags                                   func() ([]string, error)
		env                                     []string
	}{
		{"OpenMP", "omptasks", "cc", "apt-get install gcc", oneProcess(b.cores), openmp, threads},
		{"OpenMP of LLVM", "omptasks", "clang", "apt-get install clang libomp-dev", oneProcess(b.cores), openmp, threads},
		{"StarPU", "starputasks", "cc", "apt-get install gcc pkg-config libstarpu-dev", fmt.Sprintf("1 process, %s and a submitter", plural(b.cores, "worker thread")), b.starpuFlags,
			[]string{fmt.Sprint("STARPU_NCPU=", b.cores), "STARPU_SILENT=1", "STARPU_NCUDA=0", "STARPU_NOPENCL=0", "STARPU_CALIBRATE=0"}},
	} {
		flags, err := p.flags()
		program, version := "", ""
		if err == nil {
			program, err = b.compileAs(p.source+"-"+p.compiler, p.source, p.compiler, append(flags, "-fno-tree-vectorize")...)
		}
		if err == nil {
			version, err = b.tools.output(command{argv: []string{program, "2", "2", "0", "1"}, env: p.env})
		}
		if err != nil {
			gone = append(gone, absent(p.name, p.install, err))
			continue
		}
		peers = append(peers, func(micros float64, steps int) *side {
			argv := []string{program, fmt.Sprint(b.taskWidth()), fmt.Sprint(steps), fmt.Sprint(micros * 1000), pick(b, "3", "5")}
			return &side{name: p.name, version: versionOf(version), cores: b.cores, layout: p.layout, kernel: kernel{name: taskKernel, how: "the loop of the tasks"},
				run: func(b *bench) (sample, error) { return b.figure(command{argv: argv, env: p.env}, "us_per_task") }}
		})
	}
	return peers, gone
}

// starpuFlags asks pkg-config for the newest StarPU.
func (b *bench) starpuFlags() ([]string, error) {
	var last error
	for _, version := range []string{"1.4", "1.3"} {
		text, err := b.tools.output(command{argv: []string{"pkg-config", "--cflags", "--libs", "starpu-" + version}})
		if err == nil {
			return strings.Fields(text), nil
		}
		last = err
	}
	return nil, last
}
