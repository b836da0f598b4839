package dds

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// agree returns the constants of the endpoint: the fixed ones, or measurements of rank 0.
func (e *Endpoint) agree() (Constants, error) {
	if e.hints.fixed != nil {
		return *e.hints.fixed, nil
	}
	return Calibrate(e.comm)
}

// rounds and longRounds are the least numbers of trips per measurement; the fastest counts.
// There are up to enough trips, and up to many on a busy machine, within atMost.
const (
	rounds, longRounds = 7, 4
	enough, many       = 32, 64
	atMost             = 5 * time.Millisecond
)

// Messages of longBytes, twice that and so on, up to longestBytes, measure the bandwidth:
// buffers on the path take the beginning of a message faster than the network.
const longBytes, longestBytes = 64 << 10, 1 << 20

// Calibrate measures the constants of the thresholds, on rank 0 and between ranks 0 and 1,
// and gives all ranks the same. Collective; it takes some ms, and up to 100 ms on a slow
// network. Times of faults are 0 where readers cannot be made to wait.
func Calibrate(c *mpi.Comm) (Constants, error) {
	var k Constants
	var err error
	if c.Rank() < 2 && c.Size() > 1 {
		err = k.measureLink(c)
	}
	if c.Rank() == 0 && err == nil {
		k.measureMemory()
	}
	values := []float64{float64(k.Overhead), k.Gap, float64(k.RTT), float64(k.Fault), float64(k.Arm), float64(k.ArmPage), float64(k.Retire), float64(k.RetPage)}
	if err == nil {
		err = c.Bcast(mpi.Of(values), 0)
	}
	if err != nil {
		return Constants{}, fmt.Errorf("dds: calibration on %s: %w", c.Name(), err)
	}
	at := func(i int) time.Duration { return time.Duration(values[i]) }
	return Constants{Overhead: at(0), Gap: values[1], RTT: at(2), Fault: at(3), Arm: at(4), ArmPage: at(5), Retire: at(6), RetPage: at(7)}, nil
}

// measureLink measures round trips of ranks 0 and 1.
func (k *Constants) measureLink(c *mpi.Comm) error {
	short := make([]byte, 8)
	var err error
	if k.RTT, err = trip(c, rounds, short, short); err != nil {
		return err
	}
	if k.Gap, err = gap(c, k.RTT, short); err != nil {
		return err
	}
	k.Overhead, err = overhead(c, short)
	return err
}

// gap returns the time per byte: the extra time of a message of twice the length, divided
// by the extra bytes. The length doubles until two such times in a row agree.
func gap(c *mpi.Comm, rtt time.Duration, short []byte) (ns float64, err error) {
	long := make([]byte, longestBytes)
	var slope slope
	for n := longBytes; ; n *= 2 {
		t, err := trip(c, longRounds, long[:n], short)
		if err != nil {
			return 0, err
		}
		if last, err := tellRank1(c, slope.add(n, t) || n == longestBytes); err != nil || last {
			return slope.perByte(rtt), err
		}
	}
}

// tellRank1 sends a decision of rank 0 to rank 1.
func tellRank1(c *mpi.Comm, yes bool) (bool, error) {
	b := []bool{yes}
	if c.Rank() == 0 {
		return yes, c.Send(mpi.Of(b), 1, 0)
	}
	_, err := c.Recv(mpi.Of(b), 0, 0)
	return b[0], err
}

// slope is the time per byte between messages of growing length.
type slope struct {
	bytes int
	time  time.Duration
	ns    float64 // 0: none yet, or not positive
}

// add adds the time of a message and reports whether the slope has changed by at most an
// eighth.
func (s *slope) add(n int, t time.Duration) bool {
	was := s.ns
	s.ns = 0
	if s.bytes > 0 {
		s.ns = max(float64(t-s.time)/float64(n-s.bytes), 0)
	}
	s.bytes, s.time = n, t
	return was > 0 && math.Abs(s.ns-was) <= was/8
}

// perByte returns the slope, or, on a machine too busy for one, the time of the last
// message divided by its length.
func (s *slope) perByte(rtt time.Duration) float64 {
	if s.ns > 0 {
		return s.ns
	}
	return float64(max(s.time-rtt, 0)) / float64(s.bytes)
}

// trip returns the fastest round trip of n or more. Rank 0 tells in every message whether
// another one follows: until a second one was as fast.
func trip(c *mpi.Comm, n int, there, back []byte) (time.Duration, error) {
	var best best
	other, began := 1-c.Rank(), osthread.Nanotime()
	for i := 1; ; i++ {
		from := osthread.Nanotime()
		if c.Rank() == 0 {
			there[0] = 0
			if i < n || from-began < int64(atMost) && (i < enough || i < many && !best.confirmed()) {
				there[0] = 1
			}
			if err := c.Send(mpi.Of(there), other, 0); err != nil {
				return 0, err
			}
			if _, err := c.Recv(mpi.Of(back), other, 0); err != nil {
				return 0, err
			}
		} else {
			if _, err := c.Recv(mpi.Of(there), other, 0); err != nil {
				return 0, err
			}
			if err := c.Send(mpi.Of(back), other, 0); err != nil {
				return 0, err
			}
		}
		best.add(time.Duration(osthread.Nanotime() - from))
		if there[0] == 0 {
			return best.first, nil
		}
	}
}

// best holds the two fastest of several measurements; 0 if there is none.
type best struct{ first, second time.Duration }

func (b *best) add(d time.Duration) {
	switch {
	case b.first == 0 || d < b.first:
		b.first, b.second = d, b.first
	case b.second == 0 || d < b.second:
		b.second = d
	}
}

// confirmed reports whether the two differ by at most a sixteenth.
func (b *best) confirmed() bool { return b.second > 0 && b.second-b.first <= b.first/16 }

// overhead returns the host's time to start a short send.
func overhead(c *mpi.Comm, b []byte) (best time.Duration, err error) {
	for i := range rounds {
		if c.Rank() == 1 {
			if _, err := c.Recv(mpi.Of(b), 0, 0); err != nil {
				return 0, err
			}
			continue
		}
		began := osthread.Nanotime()
		r := c.Isend(mpi.Of(b), 1, 0)
		if d := time.Duration(osthread.Nanotime() - began); i == 0 || d < best {
			best = d
		}
		if _, err := r.Wait(); err != nil {
			return 0, err
		}
	}
	return best, nil
}

// measureMemory measures the costs of pages, in an arena whose thread runs on the reader's
// core.
func (k *Constants) measureMemory() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a, err := NewArena(1<<20, Cores(here()))
	if err != nil {
		return
	}
	if m, can := a.back.(interface{ measure(k *Constants) }); can {
		m.measure(k)
	}
	_ = a.Close() // no transfer is in flight
}
