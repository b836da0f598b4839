package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-hpc/weft/mpi/world"
)

// test is one of the benchmarks. measure is called by all ranks, once per size; what
// rank 0 returns is printed.
type test struct {
	name     string
	title    string // as OSU prints it
	about    string // for the help
	columns  []string
	loops    family
	min, max int // default sizes, bytes
	ranks    int // least number
	evenly   bool
	onesided bool // possible
	threaded bool // possible with -commthread
	measure  func(r *rank, size int, l loops) (figures, error)
}

// figures are the results of one size: the cells of its row, and the pairs of its
// result line.
type figures struct {
	cells []float64
	pairs []string
}

var nbcColumns = []string{"Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)", "IMB(%)", "Bound(%)"}

// allTests is filled in by init, because the tests refer to it through their ranks.
var allTests []*test

func init() {
	const mega = 1 << 20
	allTests = []*test{
		{name: "latency", title: "OSU MPI%s Latency Test", about: "half of a round trip between ranks 0 and 1",
			columns: []string{"Latency (us)"}, loops: latencyLoops, min: 1, max: 4 * mega, ranks: 2, onesided: true, threaded: true, measure: (*rank).latency},
		{name: "sendrecv", title: "Blocking Exchange%s", about: "a Sendrecv of ranks 0 and 1 with each other",
			columns: []string{"Time (us)"}, loops: latencyLoops, min: 1, max: 4 * mega, ranks: 2, threaded: true, measure: (*rank).exchange},
		{name: "bw", title: "OSU MPI%s Bandwidth Test", about: "a window of messages from rank 0 to rank 1, and an answer",
			columns: []string{"Bandwidth (MB/s)"}, loops: bandwidthLoops, min: 1, max: 4 * mega, ranks: 2, onesided: true, threaded: true, measure: (*rank).oneWay},
		{name: "bibw", title: "OSU MPI%s Bi-Directional Bandwidth Test", about: "windows of messages both ways at once",
			columns: []string{"Bandwidth (MB/s)"}, loops: bandwidthLoops, min: 1, max: 4 * mega, ranks: 2, onesided: true, threaded: true, measure: (*rank).bothWays},
		{name: "mbw_mr", title: "OSU MPI%s Multiple Bandwidth / Message Rate Test", about: "bw between each rank of the lower half and one of the upper, added up",
			columns: []string{"MB/s", "Messages/s"}, loops: bandwidthLoops, min: 1, max: 4 * mega, ranks: 2, evenly: true, threaded: true, measure: (*rank).pairs},
		{name: "alltoall", title: "OSU MPI%s All-to-All Personalized Exchange Latency Test", about: "a blocking all-to-all; size is what each rank sends to each",
			columns: []string{"Avg Latency(us)"}, loops: collectiveLoops, min: 1, max: mega, ranks: 2, measure: (*rank).alltoall},
		{name: "ialltoall", title: "OSU MPI%s Non-blocking All-to-All Latency Test", about: "overlap of an all-to-all; size is what each rank sends to each",
			columns: nbcColumns, loops: collectiveLoops, min: 1, max: mega, ranks: 2, threaded: true, measure: (*rank).ialltoall},
		{name: "ibcast", title: "OSU MPI%s Non-blocking Broadcast Latency Test", about: "overlap of a broadcast from rank 0",
			columns: nbcColumns, loops: collectiveLoops, min: 1, max: mega, ranks: 2, threaded: true, measure: (*rank).ibcast},
		{name: "overlap", title: "OSU MPI%s Point-to-Point Overlap Test", about: "overlap of an exchange between pairs of ranks",
			columns: nbcColumns, loops: collectiveLoops, min: 1024, max: 4 * mega, ranks: 2, evenly: true, onesided: true, threaded: true, measure: (*rank).pairwise},
		{name: "inflight", title: "Completion among Receives in Flight%s", about: "-inflight receives under way, completed in random order: us per completion",
			columns: []string{"In flight", "us/completion", "10 in flight", "Ratio"}, loops: inflightLoops, min: 8, max: 8, ranks: 2, measure: (*rank).inFlight},
		{name: "wait", title: "Cpu of a Waiting Rank%s", about: "cpu used by rank 0 while it waits 500 ms for a message",
			columns: []string{"Waited (ms)", "Thread cpu (%)", "Process cpu (%)"}, loops: waitLoops, min: 8, max: 8, ranks: 2, threaded: true, measure: (*rank).idle},
		{name: "spawn", title: "Comm Task: Spawn to Post%s", about: "from the call that spawns a comm task to the engine, the thread awake and asleep, and the wake-up of a bare thread; needs -commthread",
			columns: []string{"Awake (us)", "Asleep (us)", "Futex wake (us)"}, loops: spawnLoops, min: 8, max: 8, ranks: 1, threaded: true, measure: (*rank).spawnToPost},
	}
}

// findTest returns the test of this name.
func findTest(name string) (*test, error) {
	i := slices.IndexFunc(allTests, func(t *test) bool { return t.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no test %q: there are %s", name, strings.Join(testNames(), ", "))
	}
	return allTests[i], nil
}

func testNames() (names []string) {
	for _, t := range allTests {
		names = append(names, t.name)
	}
	return names
}

// possible returns an error if the test cannot run on this number of ranks.
func (t *test) possible(ranks int) error {
	if ranks < t.ranks {
		return fmt.Errorf("%w: %s needs at least %d ranks, and there is %d: -ranks, or mpirun -np", world.ErrUsage, t.name, t.ranks, ranks)
	}
	if t.evenly && ranks%2 != 0 {
		return fmt.Errorf("%w: %s needs an even number of ranks, and there are %d", world.ErrUsage, t.name, ranks)
	}
	return nil
}
