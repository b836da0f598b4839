package main

import (
	"errors"
	"slices"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// messages measures messages between two ranks in this process: the network, without a limit of
// bandwidth, and the rate at which the ranks copy long messages, in 1e9 bytes per second.
func messages() (net local.Net, rate float64, err error) {
	const unlimited, bytes, memory = 1e13, 128 << 10, 32 << 20
	const repeats = 3 // the rate is the median: one in eight was three times the others
	err = local.Run(2, func(c *mpi.Comm) error {
		found, err := messagesOf(c, shortMessages, 100)
		if err != nil {
			return err
		}
		var took []float64
		for range repeats {
			d, err := exchangeBeside(c, bytes, memory, 50)
			if err != nil {
				return err
			}
			took = append(took, float64(d))
		}
		if c.Rank() == 0 {
			net, rate = found, bytes/max(1, report.Median(took))
			net.Bandwidth = unlimited
		}
		return nil
	})
	return net, rate, err
}

// messagesOfProcesses measures the messages between the two processes of c: the network, the longest
// message that does not wait for its receive, and the rate at which hosts move long ones. Collective;
// rank 0 has the network and the rate.
func messagesOfProcesses(c *mpi.Comm) (net local.Net, eager int, rate float64, err error) {
	const shorts, longs = 4000, 20
	if net, err = messagesOf(c, shorts, longs); err != nil {
		return net, 0, 0, err
	}
	bandwidth := []float64{net.Bandwidth}
	if err = c.Bcast(mpi.Of(bandwidth), 0); err != nil {
		return net, 0, 0, err
	}
	if eager, err = eagerLimit(c, bandwidth[0]); err != nil {
		return net, 0, 0, err
	}
	rate, err = hostRate(c)
	return net, eager, rate, err
}

// messagesOf measures messages between the two ranks of c: so many short and long ones.
// Collective; rank 0 has the result. Short ones travel as in a factorization: both ranks compute,
// and then exchange the rows of a pivot.
func messagesOf(c *mpi.Comm, shorts, longs int) (net local.Net, err error) {
	const long = 4 << 20
	alone, err := oneWay(c, 8, shorts)
	if err != nil {
		return net, err
	}
	slow, err := oneWay(c, long, longs)
	if err != nil {
		return net, err
	}
	beside, err := exchangeBeside(c, pivotBytes, pivotBytes, shorts/10)
	if err != nil || c.Rank() != 0 {
		return net, err
	}
	bandwidth := long / (slow - alone).Seconds()
	short := beside - time.Duration(pivotBytes/bandwidth*1e9)
	if short < alone { // networks let some bytes pass faster than many: neither size may be far off
		short = (short + alone) / 2
	}
	net.Latency = short / 2
	net.Overhead = short / 4
	net.Bandwidth = bandwidth
	return net, nil
}

const pivotBytes = 3 << 10 // of a pivot's rows in a panel of 192 columns

// The messages between threads that are measured, and the batches of exchanges beside a computation.
var shortMessages, exchangeBatches = 20_000, 15

// exchangeBeside returns, on rank 0, by how much an exchange of some bytes lengthens a loop in which both ranks
// multiply, write a message, and read one: the median of batches. What the receiver reads is in the cache of the
// other core, and counts as part of the exchange. Messages take turns in the memory, in bytes. Collective.
func exchangeBeside(c *mpi.Comm, bytes, memory, batch int) (took time.Duration, err error) {
	const m, n = 2048, 8
	k := blas.Default()
	a, x, y := numbers(m*n), numbers(n), numbers(m)
	sent, received := mpi.Alloc[float64](memory/8), mpi.Alloc[float64](memory/8)
	defer func() {
		if err == nil { // after a failure an operation may still use them
			err = errors.Join(mpi.Free(sent), mpi.Free(received))
		}
	}()
	source, result := numbers(bytes/8), numbers(bytes/8)
	at := 0
	loop := func(exchange bool) int64 {
		begin := osthread.Nanotime()
		for range batch {
			k.Dgemv(blas.NoTrans, m, n, 1, a, m, x, 1, 1, y, 1)
			at = (at + len(source)) % len(sent)
			mine, theirs := sent[at:at+len(source)], received[at:at+len(source)]
			copy(mine, source)
			if exchange && err == nil { // after a failure the other rank may not come
				_, err = c.Sendrecv(mpi.Of(mine), 1-c.Rank(), 1, mpi.Of(theirs), 1-c.Rank(), 1)
			}
			copy(result, theirs)
		}
		return osthread.Nanotime() - begin
	}
	var all []int64
	for range exchangeBatches {
		if err = c.Barrier(); err != nil {
			return 0, err
		}
		alone := loop(false)
		all = append(all, loop(true)-alone)
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	return max(0, time.Duration(all[exchangeBatches/2])) / time.Duration(batch), nil
}

// hostRate returns, on rank 0, the rate at which a host moves messages of 256 KiB, in 1e9 bytes per second: by
// how much those that cross lengthen computation beside them, which stays in the innermost cache. What the
// system does for them counts, and polls in vain do not. The mean of both hosts, of which often one
// sends while the other computes; the median of repetitions. Collective.
func hostRate(c *mpi.Comm) (rate float64, err error) {
	const repeats, long, messages, m, n, products, calls = 15, 4 << 20, 16, 256, 8, 128, 50
	k := blas.Default()
	a, x, y := numbers(m*n), numbers(n), numbers(m)
	mine, theirs, last := mpi.Alloc[byte](long), mpi.Alloc[byte](long), mpi.Alloc[byte](2)
	// step computes and polls, and says whether all requests are done.
	step := func(under []*mpi.Request) (bool, error) {
		for range products {
			k.Dgemv(blas.NoTrans, m, n, 1, a, m, x, 1, 1, y, 1)
		}
		return mpi.Testall(under...)
	}
	var all []float64 // nanoseconds
	for range repeats {
		if err := c.Barrier(); err != nil {
			return 0, err
		}
		waits := []*mpi.Request{c.Irecv(mpi.Of(last[:1]), 1-c.Rank(), 3)}
		begin := osthread.Nanotime()
		for range calls {
			if _, err := step(waits); err != nil {
				return 0, err
			}
		}
		alone := float64(osthread.Nanotime()-begin) / calls

		begin, steps := osthread.Nanotime(), 0
		var under []*mpi.Request
		for i := 0; i < long; i += long / messages {
			under = append(under, c.Irecv(mpi.Of(theirs[i:i+long/messages]), 1-c.Rank(), 2), c.Isend(mpi.Of(mine[i:i+long/messages]), 1-c.Rank(), 2))
		}
		for done := false; !done; steps++ {
			if done, err = step(under); err != nil {
				return 0, err
			}
		}
		all = append(all, float64(osthread.Nanotime()-begin)-float64(steps)*alone)
		if err := mpi.Waitall(append(waits, c.Isend(mpi.Of(last[1:]), 1-c.Rank(), 3))...); err != nil {
			return 0, err
		}
	}
	theirTimes := make([]float64, repeats)
	if _, err := c.Sendrecv(mpi.Of(all), 1-c.Rank(), 3, mpi.Of(theirTimes), 1-c.Rank(), 3); err != nil {
		return 0, err
	}
	for i, t := range theirTimes {
		all[i] = (all[i] + t) / 2
	}
	return long / max(1, report.Median(all)), nil
}

// eagerLimit returns the length of the longest messages whose sends end although their receiver makes
// no call, in steps of a factor of two; at a bandwidth in bytes per second. Collective; all ranks have the result.
func eagerLimit(c *mpi.Comm, bandwidth float64) (limit int, err error) {
	const longest = 4 << 20
	b := mpi.Alloc[byte](longest)
	for n := 1 << 10; n <= longest; n *= 2 {
		patience := 5*time.Millisecond + time.Duration(4*float64(n)/bandwidth*1e9)
		if err := c.Barrier(); err != nil {
			return 0, err
		}
		ended := []bool{false}
		if c.Rank() == 0 {
			send := c.Isend(mpi.Of(b[:n]), 1, 3)
			for begin := osthread.Nanotime(); !ended[0] && osthread.Nanotime()-begin < int64(patience); {
				if ended[0], err = mpi.Testall(send); err != nil {
					return 0, err
				}
			}
			_, err = send.Wait()
		} else {
			osthread.Sleep(patience + 5*time.Millisecond)
			_, err = c.Recv(mpi.Of(b[:n]), 0, 3)
		}
		if err = errors.Join(err, c.Bcast(mpi.Of(ended), 0)); err != nil || !ended[0] {
			return limit, err
		}
		limit = n
	}
	return limit, nil
}

// oneWay returns, on rank 0, the mean time of count messages of n bytes in one direction.
// Collective.
func oneWay(c *mpi.Comm, n, count int) (took time.Duration, err error) {
	const room = 16 // messages in turn
	all := mpi.Alloc[byte](room * n)
	for i := range all { // the system makes pages at the first write
		all[i] = 1
	}
	var begin int64
	for i := range count + count/10 {
		if i == count/10 { // the first ones make connections
			begin = osthread.Nanotime()
		}
		b := all[i%room*n:][:n]
		if c.Rank() == i%2 {
			err = c.Send(mpi.Of(b), 1-c.Rank(), 0)
		} else {
			_, err = c.Recv(mpi.Of(b), 1-c.Rank(), 0)
		}
		if err != nil {
			return 0, err
		}
	}
	return time.Duration(osthread.Nanotime()-begin) / time.Duration(count), nil
}
