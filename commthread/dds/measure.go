//go:build linux && cgo

package dds

/*
#define _GNU_SOURCE
#include <sched.h>
#include "thread.h"
*/
import "C"

import (
	"slices"
	"time"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

// manyPages is the number of pages that measures the cost of a further page.
const manyPages = 64

// here returns the core of the calling thread.
func here() osthread.CPUSet {
	if core := int(C.sched_getcpu()); core >= 0 && core < osthread.MaxCPUs {
		return osthread.CPUSetOf(core)
	}
	return osthread.Usable()
}

// measure measures the costs of pages and of a fault, in an arena without transfers.
func (u *uffd) measure(k *Constants) {
	k.Arm, k.Retire = u.cost(1)
	arm, retire := u.cost(manyPages)
	k.ArmPage, k.RetPage = max(arm-k.Arm, 0)/(manyPages-1), max(retire-k.Retire, 0)/(manyPages-1)
	k.Fault = u.faultCost()
}

// cost returns the fastest times to arm and to retire n pages. The first touches after that count: on
// a nested hypervisor each takes a fault that the system does not see.
func (u *uffd) cost(n int) (arm, retire time.Duration) {
	for i := range rounds {
		var a, r C.int64_t
		C.dds_cost(u.k, 0, C.uint64_t(n), &a, &r)
		first, second := u.touches(n), u.touches(n)
		r += C.int64_t(max(0, first-second))
		if i == 0 || time.Duration(a) < arm {
			arm = time.Duration(a)
		}
		if i == 0 || time.Duration(r) < retire {
			retire = time.Duration(r)
		}
	}
	return arm, retire
}

// touches returns how long a load of each of the first n pages takes, in ns.
func (u *uffd) touches(n int) int64 {
	begin := osthread.Nanotime()
	for i := range n {
		load(&u.a.app[i*pages.Size()])
	}
	return osthread.Nanotime() - begin
}

// faultCost returns the time from the landing of a strip to its reader running again: the
// lower quartile, which other load on the machine hardly changes.
func (u *uffd) faultCost() time.Duration {
	const wait = 100 * time.Microsecond
	size := uint64(pages.Size())
	var all []time.Duration
	for range 2*rounds + 1 {
		t := &Transfer{back: u, cuts: []uint64{0, size}, mem: u.a.comm[:size]}
		u.begin(t)
		if t.handle == nil {
			return 0
		}
		u.arm(t)
		var was C.uint32_t
		due := osthread.Nanotime() + int64(wait)
		C.dds_move(u.k, 0, nil, 0, C.uint64_t(size), C.int64_t(due), &was)
		load(&u.a.app[0])
		ran := osthread.Nanotime()
		u.end(t)
		all = append(all, time.Duration(ran-t.strips[0].landedAt))
	}
	slices.Sort(all)
	return all[len(all)/4]
}
