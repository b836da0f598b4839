//go:build unix

package advise

import (
	"golang.org/x/sys/unix"

	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/internal/pages"
)

func pageSize() int { return pages.Size() }

// protectionCost times the protection and release of 1 page to 1 MiB (section 2.1 of the
// paper), the best of five; nil if it is not possible.
func protectionCost() (cost []Point) {
	const most = 1 << 20
	b, err := pages.Map(most, false)
	if err != nil {
		return nil
	}
	defer func() { _ = pages.Unmap(b) }()
	pages.Prefault(b)
	for n := pages.Size(); n <= most; n *= 4 {
		best := int64(0)
		for range 5 {
			start := osthread.Nanotime()
			if unix.Mprotect(b[:n], unix.PROT_NONE) != nil || unix.Mprotect(b[:n], unix.PROT_READ|unix.PROT_WRITE) != nil {
				return nil
			}
			if d := osthread.Nanotime() - start; best == 0 || d < best {
				best = d
			}
		}
		cost = append(cost, Point{Bytes: float64(n), Seconds: seconds(best)})
	}
	return cost
}
