package mpitest

import (
	"fmt"
	"testing"

	"github.com/weft-hpc/weft/internal/invariant"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func onLocal(ranks int, opts ...local.Option) Launch {
	return func(body func(*mpi.Comm) error) error { return local.Run(ranks, body, opts...) }
}

// The suite passes on the default engine. Package local runs it with 2 and with more ranks, and
// with tiny eager limits.
func TestSuite(t *testing.T) {
	for _, ranks := range []int{1, 3, 4} {
		if invariant.Race && ranks != 3 {
			continue
		}
		Test(t, fmt.Sprintf("%d ranks", ranks), onLocal(ranks))
	}
}
