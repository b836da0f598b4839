package main

import (
	"runtime"
	"time"

	"github.com/weft-hpc/weft/bench/internal/report"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// idle measures the cpu that rank 0 uses while it waits -pause for a message of rank 1,
// which sleeps meanwhile. In-process ranks share a process, whose figure covers both ranks,
// so the figure of the waiting thread alone stands beside it.
func (r *rank) idle(size int, l loops) (figures, error) {
	if r.ct == nil {
		runtime.LockOSThread() // for the cpu time of this thread; a runtime has done it already
		defer runtime.UnlockOSThread()
	}
	var waited, thread, process []float64
	for i := range l.skip + l.count {
		if err := r.Barrier(); err != nil {
			return figures{}, err
		}
		if r.Rank() == 1 {
			osthread.Sleep(r.cfg.pause)
			if err := r.Send(mpi.Of(r.send[:size]), 0, tagData); err != nil {
				return figures{}, err
			}
		}
		if r.Rank() != 0 {
			continue
		}
		r.out.say("wait: %d of %d", i+1, l.skip+l.count)
		begin, ofThread, ofProcess := osthread.Nanotime(), osthread.ThreadCPUTime(), osthread.ProcessCPUTime()
		if err := r.receiveLate(size); err != nil {
			return figures{}, err
		}
		seconds := since(begin)
		if i >= l.skip {
			waited = append(waited, seconds*1e3)
			thread = append(thread, share(osthread.ThreadCPUTime()-ofThread, seconds))
			process = append(process, share(osthread.ProcessCPUTime()-ofProcess, seconds))
		}
	}
	if r.Rank() != 0 {
		return figures{}, nil
	}
	ms, one, all := report.Median(waited), report.Median(thread), report.Median(process)
	return figures{
		cells: []float64{ms, one, all},
		pairs: []string{report.Decimal("seconds_waited", ms/1e3), report.Decimal("cpu_percent_thread", one), report.Decimal("cpu_percent_process", all)},
	}, r.check(r.recv[:size], 1, 0)
}

// receiveLate waits for the message of rank 1, as a call or as a comm task.
func (r *rank) receiveLate(size int) error {
	in := mpi.Of(r.recv[:size])
	if r.ct != nil {
		r.ct.Recv(r.rt, r.Comm, in, 1, tagData)
		return r.rt.Wait()
	}
	_, err := r.Recv(in, 1, tagData)
	return err
}

// share returns cpu as a percentage of seconds.
func share(cpu time.Duration, seconds float64) float64 { return 100 * cpu.Seconds() / seconds }
