package main

import (
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

// messages measures messages between two ranks in this process: the latency with 8 bytes, the
// bandwidth with 4 MiB from memory that is in no cache.
func messages() (net local.Net, err error) {
	err = local.Run(2, func(c *mpi.Comm) error {
		found, err := messagesOf(c, 20_000, 100)
		if c.Rank() == 0 {
			net = found
		}
		return err
	})
	return net, err
}

// messagesOf measures messages between the two ranks of c: so many short and long ones.
// Collective; rank 0 has the result.
func messagesOf(c *mpi.Comm, shorts, longs int) (net local.Net, err error) {
	const long = 4 << 20
	short, err := oneWay(c, 8, shorts)
	if err != nil {
		return net, err
	}
	slow, err := oneWay(c, long, longs)
	if err != nil || c.Rank() != 0 {
		return net, err
	}
	net.Latency = short / 2
	net.Overhead = short / 4
	net.Bandwidth = long / (slow - short).Seconds()
	return net, nil
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
