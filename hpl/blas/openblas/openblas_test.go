//go:build openblas && cgo

package openblas

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/hpl/blas"
	"github.com/weft-hpc/weft/hpl/blas/blastest"
)

// The peer keeps the contract, except for NaN: OpenBLAS skips zeros and NaN, so the two
// cases about them are left out.
func TestConformance(t *testing.T) {
	k, err := blas.Named("openblas")
	require.NoError(t, err)
	for _, c := range blastest.Cases() {
		if c.Name != "idamax" && c.Name != "dgemm/special" {
			t.Run(c.Name, func(t *testing.T) { c.Check(t, k) })
		}
	}
}

func TestIsNotTheDefault(t *testing.T) {
	assert.NotEqual(t, "openblas", blas.Default().Name())
	assert.NotEmpty(t, Core())
}
