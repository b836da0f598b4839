package main

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/fft/distributed"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/cluster"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi/local"
)

// timer times kernels on its core.
type timer struct {
	kernels  blas.Kernels
	pace     *pace   // of a product, or of transforms while those are timed
	shortest float64 // timing that counts, in ns
	repeats  int     // how many timings with a slow core are still repeated
}

// timed returns the seconds of core time of f with the core's full speed: the median of five timings
// of some length.
func (t *timer) timed(f func()) float64 {
	f() // the first touches memory
	calls := 1
	var all []float64
	for len(all) < 5 {
		took, counts := t.once(func() {
			for range calls {
				f()
			}
		})
		switch {
		case took < t.shortest:
			calls *= 2
		case counts:
			all = append(all, took/1e9/float64(calls))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// once returns the nanoseconds that f takes, and whether they count: the core has its full speed
// before and after. If too many timings were repeated, it returns what f would take with it.
func (t *timer) once(f func()) (took float64, counts bool) {
	before := t.pace.speed()
	begin := clock()
	f()
	took = float64(clock() - begin)
	after := t.pace.speed()
	switch {
	case isFull(before) && isFull(after):
		return took, true
	case t.repeats > 0:
		t.repeats--
		return took, false
	}
	return took * (before + after) / 2, true
}

// clock returns the nanoseconds that the calling thread has spent on a core; where the system
// does not tell, all that passed.
func clock() int64 {
	if t := osthread.ThreadCPUTime(); t > 0 {
		return int64(t)
	}
	return osthread.Nanotime()
}

// depths are the inner dimensions of the measured products.
var depths = []int{8, 16, 32, 64, 96, 128, 192, 256}

// kernels measures the model of the kernels k on all cores at the same time, because cores share
// caches, the memory and perhaps a clock. It returns the means.
func kernels(w watch, o options) (mean cluster.Kernels, err error) {
	all := make([]cluster.Kernels, len(osthread.Usable().List()))
	errs := make([]error, len(all))
	onCores(func(i int) {
		t := &timer{kernels: o.kernels, pace: w.products[i], shortest: o.shortest, repeats: o.repeats}
		all[i] = t.model()
		t.pace, t.repeats = w.transforms[i], o.repeats
		errs[i] = t.transforms(&all[i])
	})
	values := func(k *cluster.Kernels) []*float64 {
		return []*float64{
			&k.GFlops, &k.Half, &k.PackEfficiency, &k.PackHalf, &k.SolveHalf, &k.Memory, &k.Cache, &k.Cached,
			&k.Line, &k.LineMemory, &k.Shared, &k.Row, &k.Scatter, &k.Exchange, &k.Call, &k.FFT, &k.FFTCache, &k.FFTMemory, &k.Spread,
		}
	}
	for i, v := range values(&mean) {
		for c := range all {
			*v += *values(&all[c])[i] / float64(len(all))
		}
	}
	mean.Efficiency = 1
	return mean, errors.Join(errs...)
}

// quicken returns k as it would be measured without noise, which had a part of the time.
func quicken(k cluster.Kernels, part float64) cluster.Kernels {
	for _, rate := range []*float64{&k.GFlops, &k.Memory, &k.Cached, &k.FFT, &k.FFTMemory} {
		*rate /= 1 - part
	}
	for _, time := range []*float64{&k.Line, &k.LineMemory, &k.Row, &k.Call} {
		*time *= 1 - part
	}
	return k
}

// noise is how often, and for how long, something else has a core; 0 if nothing does.
type noise struct{ every, length time.Duration }

// medianNoise returns the one of three that has the core for the median of their times: a neighbour may
// have it for a second.
func medianNoise(all ...noise) noise {
	slices.SortFunc(all, func(a, b noise) int {
		return cmp.Compare(float64(a.length)/float64(max(1, a.every)), float64(b.length)/float64(max(1, b.every)))
	})
	return all[len(all)/2]
}

var noiseTime = time.Second // how long one measurement of noise takes

// noiseNow measures it on all cores at the same time, for noiseTime, by the gaps in a loop that reads the
// clock. It returns the means.
func noiseNow() noise {
	const gap = int64(5 * time.Microsecond)
	lasts := int64(noiseTime)
	var mu sync.Mutex
	var count, stolen int64 // guarded by mu
	onCores(func(int) {
		mine, taken := int64(0), int64(0)
		begin := osthread.Nanotime()
		for last := begin; last < begin+lasts; {
			now := osthread.Nanotime()
			if now-last >= gap {
				mine, taken = mine+1, taken+now-last
			}
			last = now
		}
		mu.Lock()
		defer mu.Unlock()
		count, stolen = count+mine, stolen+taken
	})
	if count == 0 {
		return noise{}
	}
	every := time.Duration(lasts * int64(osthread.Usable().Count()) / count)
	return noise{every, min(time.Duration(stolen/count), every/2)}
}

// onCores runs f on a thread on each usable core, with the place of the core among them.
func onCores(f func(i int)) {
	var g sync.WaitGroup
	for i, core := range osthread.Usable().List() {
		g.Go(func() {
			runtime.LockOSThread()                            // and its thread ends with the goroutine
			_ = osthread.SetAffinity(osthread.CPUSetOf(core)) // elsewhere the system chooses
			f(i)
		})
	}
	g.Wait()
}

// shortestTiming is the length of a timing in ns, and timerRepeats how many of them a timer repeats.
const shortestTiming, timerRepeats = 10e6, 300

// model measures the model on this core.
func (t *timer) model() (r cluster.Kernels) {
	r.GFlops, r.Half = saturation(t.packedRate)
	top, half := saturation(t.unpackedRate)
	r.PackEfficiency, r.PackHalf = min(1, top/r.GFlops), half
	r.SolveHalf = t.solveHalf(r.GFlops)
	r.Spread = t.spread()
	r.Memory, r.Cached = t.memoryRate(), t.leafRate()
	r.Cache = cacheSize()
	r.Line, r.LineMemory, r.Shared = t.rowTimes()
	r.Row = t.rowTime()
	r.Scatter, r.Exchange = t.rowFactors()
	r.Call = 1e6 * t.timed(func() { t.kernels.Dscal(1, 1, one, 1) })
	return r
}

// transforms measures those of the model: the rate of Fourier transforms of grids in a cache, in 1e9 operations
// per second; the largest array in a cache, in 1e6 bytes; and the rate at which larger ones move to the cache
// and back, in 1e9 bytes per second. The grids are transformed as a rank of NAS FT does: from one array into another,
// plane by plane, through a hook. That reaches three quarters of the rate of rows alone. No grid has planes of
// 256 KiB with 64 or more of them: their columns compete for the same sets of a cache, and take 1.3 times as long.
func (t *timer) transforms(r *cluster.Kernels) error {
	const moved = 4 * 16 // bytes of a number: planes, and then columns, are read and written
	var sizes []int
	times, operations := map[int]float64{}, map[int]float64{} // of a number, by the size of an array in KiB
	for _, dims := range transformGrids {
		n := dims[0] * dims[1] * dims[2]
		took, err := t.gridTime(dims)
		if err != nil {
			return err
		}
		size := 16 * n >> 10
		sizes = append(sizes, size)
		times[size], operations[size] = 1e9/float64(n)*took, 5*math.Log2(float64(n))
	}
	r.FFT = operations[sizes[0]] / times[sizes[0]]
	for _, size := range sizes { // a number of each counts as many operations as one of the first
		times[size] -= (operations[size] - operations[sizes[0]]) / r.FFT
	}
	near, far, cache := fitCache(times)
	r.FFTCache, r.FFTMemory = cache, moved/max(far-near, 1e-3*moved)
	return nil
}

// gridTime returns the seconds of the transform of a grid on one rank.
func (t *timer) gridTime(dims [3]int) (took float64, err error) {
	w, err := local.New(1)
	if err != nil {
		return 0, err
	}
	plan, err := distributed.New(w.Comm(0), distributed.Config{Dims: dims, BeforeInverse: func(dst, src []complex128, _ [3]int) { copy(dst, src) }})
	if err == nil {
		took, err = t.planTime(plan)
		err = errors.Join(err, plan.Close())
	}
	return took, errors.Join(err, w.Close())
}

// planTime returns the seconds of a transform of plan.
func (t *timer) planTime(plan *distributed.Plan) (took float64, err error) {
	spectrum, err := plan.NewArray()
	if err != nil {
		return 0, err
	}
	values, err := plan.NewArray()
	if err != nil {
		return 0, err
	}
	for i := range spectrum {
		spectrum[i] = complex(float64(i%7), float64(i%3))
	}
	took = t.timed(func() {
		if err == nil {
			err = plan.Inverse(values, spectrum)
		}
	})
	return took, err
}

// cacheSize returns how much of the core's own cache data may fill, in 1e6 bytes: half of it.
func cacheSize() float64 {
	const usual = 1 << 20
	size := cpuid.CPU.Cache.L2
	if size <= 0 {
		size = usual
	}
	return float64(size) / 2e6
}

var one = []float64{1}

// numbers returns n small numbers.
func numbers(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1e-3 * float64(i%1000)
	}
	return x
}

// saturation fits rate = top d/(d+half) to the rates at depths d: of the line through the times d/rate,
// (d+half)/top, the slope is the median of the slopes between all pairs, and the height that of all heights
// (Theil and Sen). Shallow products, which wait for C, are not on the line and must not bend it.
func saturation(rate func(d int) float64) (top, half float64) {
	var times, slopes, heights []float64
	for i, d := range depths {
		times = append(times, float64(d)/rate(d))
		for j, e := range depths[:i] {
			slopes = append(slopes, (times[i]-times[j])/float64(d-e))
		}
	}
	slope := report.Median(slopes)
	for i, d := range depths {
		heights = append(heights, times[i]-slope*float64(d))
	}
	return 1 / slope, max(0, report.Median(heights)) / slope // less is noise
}

// packedRate returns the GFLOP/s of a product of packed matrices of depth d, which updates the
// columns of a matrix in memory one block after the other.
func (t *timer) packedRate(d int) float64 {
	const m, n, blocks = 2048, 192, 16
	a, b, c := numbers(t.kernels.PackedA(m, d)), numbers(t.kernels.PackedB(d, n)), numbers(oddLead*n*blocks)
	block := 0
	return 2e-9 * m * n * float64(d) / t.timed(func() {
		t.kernels.GemmPacked(m, n, d, -1, a, b, c[block*oddLead*n:], oddLead)
		block = (block + 1) % blocks
	})
}

// unpackedRate returns the GFLOP/s of the product in a panel: m rows, d columns, depth d.
func (t *timer) unpackedRate(d int) float64 {
	const m = 2048
	a, b, c := numbers(oddLead*d), numbers(d*d), numbers(oddLead*d)
	return 2e-9 * m * float64(d) * float64(d) / t.timed(func() {
		t.kernels.Dgemm(blas.NoTrans, blas.NoTrans, m, d, d, -1, a, oddLead, b, d, 1, c, oddLead)
	})
}

// oddLead is the leading dimension of a matrix of 2048 rows: an odd number of cache lines, as those of
// LINPACK are. With 2048 itself all columns meet in a few sets of a cache.
const oddLead = 2048 + 8

// memoryRate returns the 1e9 bytes per second of a product of a matrix in memory with a vector.
func (t *timer) memoryRate() float64 {
	const m, n = 16 << 10, 512
	a, x, y := numbers(m*n), numbers(n), numbers(m)
	return 8e-9 * m * n / t.timed(func() { t.kernels.Dgemv(blas.NoTrans, m, n, 1, a, m, x, 1, 1, y, 1) })
}

// leafRate returns the 1e9 bytes per second of the leaves of a panel in the core's own cache: each column is
// updated with those on its left, searched for its pivot, and scaled.
func (t *timer) leafRate() float64 {
	const m, leaf, leaves = 1000, 8, 12
	panel, u := numbers(oddLead*leaf*leaves), make([]float64, leaf)
	at := 0
	const update, search, scale = leaf*(leaf-1)/2 + 2*(leaf-1), leaf, 2 * leaf // columns read and written
	return 1e-9 * 8 * m * (update + search + scale) / t.timed(func() {
		a := panel[at%leaves*leaf*oddLead:]
		at++
		for c := range leaf {
			column := a[c*oddLead+c:] // without the rows of the triangle, and so not at a cache line
			t.kernels.Dgemv(blas.NoTrans, m, c, -1, a[c:], oddLead, u, 1, 1, column, 1)
			t.kernels.Idamax(m, column, 1)
			t.kernels.Dscal(m, 1, column, 1)
		}
	})
}

// solveHalf returns the order of a triangle at which a solve of an update reaches half of a rate, in
// GFLOP/s: the geometric mean of several orders.
func (t *timer) solveHalf(top float64) float64 {
	orders := []int{48, 64, 96, 128, 192}
	product := 1.0
	for _, n := range orders {
		triangle, b := make([]float64, t.kernels.PackedTriangle(n)), numbers(t.kernels.PackedB(n, n)) // the solution of the identity
		t.kernels.PackTriangle(triangle, blas.Lower, blas.NoTrans, blas.Unit, n, make([]float64, n*n), n)
		rate := 1e-9 * float64(n*n*n) / t.timed(func() { t.kernels.SolvePacked(n, n, triangle, b) })
		product *= float64(n) * max(0.01, top/rate-1)
	}
	return math.Pow(product, 1/float64(len(orders)))
}

// spread returns the standard deviation of the times of equal products, as a part of their
// median. It comes from the quartiles, because a few are interrupted by the system.
func (t *timer) spread() float64 {
	const m, n, d, products = 1024, 128, 128, 200
	a, b, c := numbers(t.kernels.PackedA(m, d)), numbers(t.kernels.PackedB(d, n)), numbers(m*n)
	var all []float64
	for len(all) < products {
		if took, counts := t.once(func() { t.kernels.GemmPacked(m, n, d, -1, a, b, c, m) }); counts {
			all = append(all, took)
		}
	}
	slices.Sort(all)
	const quartiles = 1.349 // between them, in standard deviations
	return min(0.3, (all[3*products/4]-all[products/4])/quartiles/all[products/2])
}

// The sizes of matrices, in KiB, and of grids, from 2 to 128 MiB, by which caches are found.
var (
	cacheSizes     = []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 256 << 10} // no matrix is in a core's own cache
	transformGrids = [][3]int{{32, 64, 64}, {64, 64, 64}, {32, 128, 128}, {32, 128, 256}, {32, 256, 256}, {128, 256, 256}}
)

// fitCache returns the ns of an element in a cache and in memory, and shared, the largest array
// in a cache, in 1e6 bytes: of many sizes the one with which the model comes closest to the
// measured times of arrays, by their sizes in KiB.
func fitCache(times map[int]float64) (near, far, shared float64) {
	sizes := slices.Sorted(maps.Keys(times))
	smallest, largest := sizes[0], sizes[len(sizes)-1]
	near, far = times[smallest], max(times[smallest], times[largest])
	best := math.Inf(1)
	for candidate := 512.0; candidate <= 64<<10; candidate *= 1.1 {
		miss := 0.0
		for size, t := range times {
			outside := max(0, 1-candidate/float64(size))
			miss += math.Pow(math.Log(t/(near+outside*(far-near))), 2)
		}
		if miss < best {
			best, shared = miss, candidate*(1<<10)/1e6
		}
	}
	return near, far, shared
}

// rowTimes returns the ns of an element in a gathering of rows, near if the matrix is in a cache,
// and far if it is in memory; and shared, the largest matrix in a cache, in 1e6 bytes.
func (t *timer) rowTimes() (near, far, shared float64) {
	times := map[int]float64{}
	for _, size := range cacheSizes {
		times[size] = t.rowsTime(size<<10/8, func(a, w []float64, lda int, rows []int) {
			t.kernels.GatherRows(rowColumns, a, lda, rows, w)
		})
	}
	return fitCache(times)
}

// rowFactors returns how long an element of a row takes that is written, and one that is
// exchanged with an element of another row, as multiples of one that is read.
func (t *timer) rowFactors() (scatter, exchange float64) {
	const size = 32 << 20 / 8
	gather := t.rowsTime(size, func(a, w []float64, lda int, rows []int) { t.kernels.GatherRows(rowColumns, a, lda, rows, w) })
	written := t.rowsTime(size, func(a, w []float64, lda int, rows []int) { t.kernels.ScatterRows(rowColumns, w, rows, a, lda) })
	exchanged := t.rowsTime(size, func(a, _ []float64, lda int, rows []int) { t.kernels.Dlaswp(rowColumns, a, lda, rows, false) })
	return written / gather, exchanged / 2 / gather // two rows in each exchange
}

// rowsTime moves rowCount rows, here and there, of rowColumns columns of a matrix of n elements,
// and returns the ns of an element. Each row of move is beyond its place in the list, as a pivot
// is. As in LINPACK, the columns are then updated, which writes all of them and needs the caches for its
// operands: without that, rows of a matrix of 8 MB come three times as fast on a Zen 5 core.
func (t *timer) rowsTime(n int, move func(a, w []float64, lda int, rows []int)) float64 {
	const lda, passes = 1024 + 8, 3 // an odd number of cache lines; passes, at least
	whole := max(1, (n+lda*rowColumns/2)/(lda*rowColumns))
	a, w, rows := numbers(lda*rowColumns*whole), make([]float64, rowCount*rowColumns), make([]int, rowCount)
	left, right := make([]float64, t.kernels.PackedA(lda, rowCount)), make([]float64, t.kernels.PackedB(rowCount, rowColumns))
	random := rand.New(rand.NewPCG(1, 1))
	var times []float64
	for block := 0; len(times) < max(rowMoves, passes*whole); block++ {
		for i := range rows {
			rows[i] = i + random.IntN(lda-rowCount)
		}
		columns := a[block%whole*rowColumns*lda:]
		var took float64 // of the call alone: to ask for the time of the thread takes too long
		_, counts := t.once(func() { took = float64(elapsed(func() { move(columns, w, lda, rows) })) })
		t.kernels.GemmPacked(lda, rowColumns, rowCount, -1, left, right, columns, lda)
		if counts && block >= whole {
			times = append(times, took)
		}
	}
	slices.Sort(times)
	const cut = 10 // in parts: the shortest, and the longest, which were interrupted
	times = times[len(times)/cut : len(times)-len(times)/cut]
	sum := 0.0
	for _, took := range times {
		sum += took
	}
	return sum / float64(len(times)) / (rowCount * rowColumns)
}

const rowColumns, rowCount = 128, 96

var rowMoves = 100 // timings of rows, at least

// rowTime returns the ns of an element of a row of a panel that is copied alone, between passes
// over a column, as in the exchange of a pivot.
func (t *timer) rowTime() float64 {
	const lda, columns = 2008, 128
	a, w := numbers(lda*columns), make([]float64, columns)
	row := 0
	column := func() {
		row = (row + 997) % lda
		t.kernels.Idamax(lda, a[row%columns*lda:], 1)
	}
	with := t.timed(func() {
		column()
		t.kernels.Dcopy(columns, a[row:], lda, w, 1)
	})
	return 1e9 * max(0, with-t.timed(column)) / columns
}
