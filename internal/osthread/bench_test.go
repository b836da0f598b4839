package osthread

import (
	"testing"
)

var sink uintptr

// BenchmarkParker_ping_pong times one hand-over: half a round trip between two threads, on
// separate cores if there are two.
func BenchmarkParker_ping_pong(b *testing.B) {
	claim := ClaimCores(2)
	defer claim.Release()
	pin := func(i int) {
		if !claim.Oversubscribed() {
			_ = SetAffinity(CPUSetOf(claim.Cores()[i])) // not everywhere, and only a benchmark
		}
	}
	var ping, pong Parker
	n := (b.N + 1) / 2
	there := onThread(func() {
		pin(1)
		for range n {
			ping.Park()
			pong.Unpark()
		}
	})
	here := onThread(func() {
		pin(0)
		b.ResetTimer()
		for range n {
			ping.Unpark()
			pong.Park()
		}
	})
	<-here
	<-there
}

func BenchmarkParker_token(b *testing.B) {
	var p Parker
	for b.Loop() {
		p.Unpark()
		p.Park()
	}
}

func BenchmarkG(b *testing.B) {
	for b.Loop() {
		sink = G()
	}
}

func BenchmarkRelax(b *testing.B) {
	for b.Loop() {
		Relax()
	}
}

func BenchmarkPause(b *testing.B) {
	Pause(b.N)
}

func BenchmarkNanotime(b *testing.B) {
	for b.Loop() {
		sink = uintptr(Nanotime())
	}
}

func BenchmarkThreadCPUTime(b *testing.B) {
	for b.Loop() {
		sink = uintptr(ThreadCPUTime())
	}
}

func BenchmarkClaimCores(b *testing.B) {
	for b.Loop() {
		ClaimCores(1).Release()
	}
}

// BenchmarkYield is the cost of a yield without another thread on the core.
func BenchmarkYield(b *testing.B) {
	for b.Loop() {
		Yield()
	}
}
