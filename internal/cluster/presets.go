package cluster

import (
	"time"

	"github.com/weft-hpc/weft/mpi/local"
)

// presets returns the machines that are known by a name.
func presets() []*Machine {
	return []*Machine{js21(), present(), myrinet(), infiniband(), elan3(), elan4()}
}

// js21 is the machine of Marjanovic, Labarta, Ayguade and Valero, section 2: 128 blades IBM
// JS21 with 4 cores, and Myrinet. The cores are PowerPC 970MP with two floating-point units
// for multiply-add, at 2.3 GHz in MareNostrum: 9.2 GFLOP/s. Its link has 230 MB/s
// (facts, prediction). The efficiency of the product is typical of good libraries on this
// processor; the cache is the L2 of the 970MP; memory and overheads are estimates.
func js21() *Machine {
	one, eager := 1.0, 32<<10
	return &Machine{
		Name: "js21", Source: "the machine of MPI/SMPSs: 128 IBM JS21 blades, Myrinet; 970MP at 2.3 GHz",
		Nodes: 128, Cores: 4, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: 6 * time.Microsecond, Overhead: time.Microsecond, Gap: time.Microsecond, Bandwidth: 230e6}},
		Inside:  Net{local.Net{Latency: 700 * time.Nanosecond, Overhead: 500 * time.Nanosecond, Gap: 500 * time.Nanosecond, Bandwidth: 1e9}},
		Kernels: Kernels{GFlops: 9.2, Efficiency: 0.88, Half: 10, Memory: 1.2, Cache: 1, Cached: 9, Line: 50, Call: 0.2, FFT: 1.5},
	}
}

// present is a cluster of today: nodes with two processors of 64 cores, and a link of 200
// Gbit/s. The latencies come from the makers; the kernels are an EPYC core's with AVX2.
func present() *Machine {
	one, eager := 1.0, 16<<10
	return &Machine{
		Name: "cluster", Source: "two processors of 64 cores per node, 200 Gbit/s",
		Nodes: 64, Cores: 128, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: time.Microsecond, Overhead: 300 * time.Nanosecond, Gap: 100 * time.Nanosecond, Bandwidth: 25e9, NIC: true}},
		Inside:  Net{local.Net{Latency: 300 * time.Nanosecond, Overhead: 200 * time.Nanosecond, Gap: 100 * time.Nanosecond, Bandwidth: 10e9}},
		Kernels: Kernels{GFlops: 40, Efficiency: 0.9, Half: 12, Memory: 4, Cache: 1, Cached: 40, Line: 8, Call: 0.05, FFT: 35},
	}
}

// The next four are systems of Bell, Bonachea, Nishtala and Yelick (2006), section 6. Overhead,
// bandwidth and round trip of three networks come from the same group's measurements for HUNT
// (table 1): L is half of the round trip without the overheads. Progress is host where the hosts
// match messages, nic on Quadrics, whose adapter does (section 4.1); puts always go by
// themselves. Rates of transforms are near FFTW 3 on these processors for lengths in the cache,
// and memory bandwidths near STREAM on one core: estimates.

// myrinet: Itanium 2 at 1.3 GHz, two to a node, Myrinet with GM.
func myrinet() *Machine {
	one, eager := 1.0, 16<<10
	return &Machine{
		Name: "myrinet", Source: "64 nodes with two Itanium 2 at 1.3 GHz, Myrinet: HUNT, table 1",
		Nodes: 64, Cores: 2, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: 6750 * time.Nanosecond, Overhead: 3 * time.Microsecond, Gap: 3 * time.Microsecond, Bandwidth: 218e6}},
		Inside:  Net{local.Net{Latency: time.Microsecond, Overhead: time.Microsecond, Gap: 500 * time.Nanosecond, Bandwidth: 1e9}},
		Kernels: Kernels{GFlops: 5.2, Efficiency: 0.9, Half: 10, Memory: 2, Cache: 3, Cached: 10, Line: 60, Call: 0.3, FFT: 2},
	}
}

// infiniband: Opteron at 2.2 GHz, two to a node, 4x InfiniBand.
func infiniband() *Machine {
	one, eager := 1.0, 16<<10
	return &Machine{
		Name: "infiniband", Source: "320 nodes with two Opteron at 2.2 GHz, 4x InfiniBand: HUNT, table 1",
		Nodes: 320, Cores: 2, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: 2200 * time.Nanosecond, Overhead: 1800 * time.Nanosecond, Gap: time.Microsecond, Bandwidth: 832e6}},
		Inside:  Net{local.Net{Latency: time.Microsecond, Overhead: 500 * time.Nanosecond, Gap: 500 * time.Nanosecond, Bandwidth: 1e9}},
		Kernels: Kernels{GFlops: 4.4, Efficiency: 0.88, Half: 10, Memory: 3, Cache: 1, Cached: 10, Line: 50, Call: 0.3, FFT: 1.8},
	}
}

// elan3: Alpha at 1 GHz, four to a node, Quadrics QsNet.
func elan3() *Machine {
	one, eager := 1.0, 16<<10
	return &Machine{
		Name: "elan3", Source: "750 nodes with four Alpha at 1 GHz, Quadrics QsNet: HUNT, table 1",
		Nodes: 750, Cores: 4, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: 100 * time.Nanosecond, Overhead: 2 * time.Microsecond, Gap: time.Microsecond, Bandwidth: 258e6, NIC: true}},
		Inside:  Net{local.Net{Latency: time.Microsecond, Overhead: time.Microsecond, Gap: 500 * time.Nanosecond, Bandwidth: 1e9}},
		Kernels: Kernels{GFlops: 2, Efficiency: 0.88, Half: 10, Memory: 1.5, Cache: 8, Cached: 5, Line: 80, Call: 0.4, FFT: 1},
	}
}

// elan4: Itanium 2 at 1.4 GHz, four to a node, Quadrics QsNet II. Its network was not in HUNT:
// The maker gives 900 MB/s for PCI-X; the times are two thirds of the times of elan3.
func elan4() *Machine {
	one, eager := 1.0, 16<<10
	return &Machine{
		Name: "elan4", Source: "1024 nodes with four Itanium 2 at 1.4 GHz, Quadrics QsNet II; estimates",
		Nodes: 1024, Cores: 4, Eager: &eager, Speed: &one,
		Network: Net{local.Net{Latency: 500 * time.Nanosecond, Overhead: time.Microsecond, Gap: 600 * time.Nanosecond, Bandwidth: 900e6, NIC: true}},
		Inside:  Net{local.Net{Latency: time.Microsecond, Overhead: 700 * time.Nanosecond, Gap: 500 * time.Nanosecond, Bandwidth: 1e9}},
		Kernels: Kernels{GFlops: 5.6, Efficiency: 0.9, Half: 10, Memory: 2, Cache: 4, Cached: 11, Line: 60, Call: 0.3, FFT: 2.2},
	}
}
