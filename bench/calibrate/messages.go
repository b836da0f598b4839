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
	const long = 4 << 20
	short, err := oneWay(8, 20_000)
	if err != nil {
		return net, err
	}
	slow, err := oneWay(long, 100)
	if err != nil {
		return net, err
	}
	net.Latency = short / 2
	net.Overhead = short / 4
	net.Bandwidth = long / (slow - short).Seconds()
	return net, nil
}

// oneWay returns the mean time of count messages of n bytes in one direction.
func oneWay(n, count int) (took time.Duration, err error) {
	err = local.Run(2, func(c *mpi.Comm) error {
		const room = 16 // messages in turn
		all := make([]byte, room*n)
		var begin int64
		for i := range count + count/10 {
			if i == count/10 { // the first ones touch memory
				begin = osthread.Nanotime()
			}
			b := all[i%room*n:][:n]
			if c.Rank() == i%2 {
				if err := c.Send(mpi.Of(b), 1-c.Rank(), 0); err != nil {
					return err
				}
			} else if _, err := c.Recv(mpi.Of(b), 1-c.Rank(), 0); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			took = time.Duration(osthread.Nanotime()-begin) / time.Duration(count)
		}
		return nil
	})
	return took, err
}
