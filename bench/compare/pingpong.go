package main

import "fmt"

var pingpongSubject = subject{
	name: "pingpong", title: "What a message costs", unit: "µs", less: true, axis: "size of a message", axisUnit: "bytes",
	question: "what a message costs, against the MPI library under it",
	setting: "Two ranks send a message to and fro, as OSU's latency test does: half the time of a round trip. weft calls the same library through its engine; the difference is what " +
		"weft adds. All buffers are in huge pages. The third side has both ranks in one process and uses no MPI library.",
	prepare: preparePingpong,
}

const installMPI = "apt-get install openmpi-bin libopenmpi-dev"

func absentMPI(peer string) missing { return missing{peer, "no mpirun in PATH", installMPI} }

func preparePingpong(b *bench) ([]contest, []missing, error) {
	if b.mpirun() == "" || b.mpicc() == "" {
		return nil, []missing{{"Open MPI", "no mpicc or no mpirun in PATH", installMPI}}, nil
	}
	peer, err := b.compile("pingpong", b.mpicc())
	var text string
	if err == nil {
		text, err = b.tools.output(command{argv: append(b.ranks(2), peer, "8", "10", "1")})
	}
	if err != nil {
		return nil, []missing{absent("Open MPI", installMPI, err)}, nil
	}
	program, err := b.weft("osu", "mpi")
	if err != nil {
		return nil, nil, err
	}
	local, err := b.weft("osu", "")
	if err != nil {
		return nil, nil, err
	}
	version := versionOf(text)
	var contests []contest
	for _, bytes := range pick(b, []int{8, 65536}, []int{8, 1024, 8192, 65536, 1 << 20}) {
		count := pick(b, 10_000, 100_000) // ten times OSU's: a run shorter than a time slice says nothing
		if bytes > 8192 {
			count /= 10
		}
		size, loops, skip := fmt.Sprint(bytes), fmt.Sprint(count), fmt.Sprint(count/10)
		ours := []string{"-test", "latency", "-min", size, "-max", size, "-iterations", loops, "-skip", skip}
		contests = append(contests, contest{name: size + " bytes", x: float64(bytes), sides: []*side{
			latency("weft", "over "+version, manyProcesses(2), append(append(b.ranks(2), program), ours...)),
			latency("Open MPI", version, manyProcesses(2), append(b.ranks(2), peer, size, loops, skip)),
			latency("weft, in one process", "engine local", "2 ranks in 1 process", append([]string{local}, ours...)),
		}})
	}
	return contests, nil, nil
}

func latency(name, version, layout string, argv []string) *side {
	return &side{name: name, version: version, cores: 2, layout: layout,
		run: func(b *bench) (sample, error) { return b.figure(command{argv: argv}, "latency_us") }}
}
