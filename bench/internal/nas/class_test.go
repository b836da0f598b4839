package nas

import (
	"math/cmplx"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamed(t *testing.T) {
	for name, points := range map[string]int{"S": 262144, "w": 524288, "A": 8388608, "b": 33554432, "C": 134217728, "D": 2147483648, "E": 1 << 34, "F": 1 << 37} {
		c, err := Named(name)
		require.NoError(t, err)
		assert.Equal(t, points, c.Points(), name)
		assert.Equal(t, 16*points, c.Bytes(), name)
	}
	for _, name := range []string{"", "G", "SS", "Ä"} {
		_, err := Named(name)
		assert.ErrorContains(t, err, "the classes are S, W, A, B, C, D, E and F", name)
	}
}

// custom is a class of other sizes, without reference values.
func custom(nx, ny, nz int) Class {
	return Class{Name: "U", NX: nx, NY: ny, NZ: nz, Iterations: 3, Seed: Seed, Alpha: Alpha}
}

func TestFirst(t *testing.T) {
	c, err := Named("B")
	require.NoError(t, err)
	for n, want := range map[int]int{-1: 1, 1: 1, 7: 7, 20: 20, 99: 20} {
		cut := c.First(n)
		assert.Equal(t, want, cut.Iterations)
		assert.Equal(t, c.reference[:want], cut.reference)
		assert.NoError(t, cut.Verify(c.reference[:want]))
	}
	assert.Equal(t, 3, custom(1, 1, 1).First(5).Iterations)
	assert.Len(t, c.reference, 20)
}

func TestVerify_without_reference(t *testing.T) {
	assert.ErrorContains(t, custom(8, 6, 4).Verify(make([]complex128, 3)), "no reference values")
}

// The formula of the benchmark, with values that others have computed.
func TestMop(t *testing.T) {
	for name, want := range map[string]float64{"S": 177.2, "W": 372.7, "A": 7136, "B": 9.205e4, "C": 3.964e5, "D": 8.964e6, "E": 7.841e7, "F": 6.808e8} {
		c, err := Named(name)
		require.NoError(t, err)
		assert.InEpsilon(t, want, c.Mop(), 1e-3, name)
	}
}

func TestReference_is_complete(t *testing.T) {
	rows := 0
	for _, c := range Classes() {
		require.Len(t, c.reference, c.Iterations, c.Name)
		rows += len(c.reference)
		for i, v := range c.reference {
			assert.InDelta(t, 512, real(v), 64, "class %s, iteration %d", c.Name, i+1)
			assert.InDelta(t, 512, imag(v), 64, "class %s, iteration %d", c.Name, i+1)
		}
	}
	assert.Equal(t, 133, rows)
}

func TestVerify(t *testing.T) {
	c, err := Named("W")
	require.NoError(t, err)
	good := func() []complex128 { return append([]complex128(nil), c.reference...) }
	assert.NoError(t, c.Verify(good()))
	assert.Zero(t, c.Worst(good()))

	sums := good()
	sums[5] *= 1 + 0.9e-12
	assert.NoError(t, c.Verify(sums))
	assert.InDelta(t, 0.9e-12, c.Worst(sums), 1e-15)
	for i, spoil := range map[int]complex128{0: 1 + 1.2e-12, 3: 1 - 1e-9, 4: complex(1, 1.2e-12), 5: cmplx.NaN(), 1: cmplx.Inf(), 2: 0} {
		sums = good()
		sums[i] *= spoil
		err := c.Verify(sums)
		require.Error(t, err, "iteration %d", i+1)
		assert.Contains(t, err.Error(), "class W, iteration "+string(rune('1'+i)))
		assert.False(t, c.Worst(sums) <= Tolerance)
	}
	assert.ErrorContains(t, c.Verify(good()[1:]), "5 checksums")
}

// Every point that the checksum adds up lies in exactly one of the parts of the grid.
func TestSamples(t *testing.T) {
	c, err := Named("S")
	require.NoError(t, err)
	x := make([]complex128, c.Points())
	c.Fill(x, 0)
	var whole, parts complex128
	for j := 1; j <= 1024; j++ {
		whole += x[j%64+64*(3*j%64)+64*64*(5*j%64)]
	}
	found := 0
	for from := 0; from < c.NZ; from += 16 {
		local := x[from*c.NX*c.NY : (from+16)*c.NX*c.NY]
		indices := c.Samples(func(x, y, z int) (int, bool) {
			return ((z-from)*c.NY+y)*c.NX + x, z >= from && z < from+16
		})
		found += len(indices)
		parts += c.PartialSum(local, indices)
	}
	assert.Equal(t, 1024, found)
	assert.InDelta(t, 0, cmplx.Abs(whole/complex(float64(c.Points()), 0)-parts), 1e-15)
}
