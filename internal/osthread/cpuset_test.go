package osthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCPUSet(t *testing.T) {
	for _, tc := range []struct {
		cpus []int
		text string
	}{
		{nil, ""},
		{[]int{0}, "0"},
		{[]int{0, 1, 2, 3, 8}, "0-3,8"},
		{[]int{63, 64, 65, 127, 128}, "63-65,127-128"},
		{[]int{5, 1022, 1023}, "5,1022-1023"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			s := CPUSetOf(tc.cpus...)
			assert.Equal(t, tc.text, s.String())
			assert.Equal(t, tc.cpus, s.List())
			assert.Equal(t, len(tc.cpus), s.Count())
			for _, c := range tc.cpus {
				assert.True(t, s.Has(c))
			}
			back, err := ParseCPUSet(tc.text + "\n")
			require.NoError(t, err)
			assert.Equal(t, s, back)
		})
	}
}

func TestCPUSet_rejects_what_it_cannot_hold(t *testing.T) {
	for _, text := range []string{"x", "-1", "3-1", "1024", "0-1024", "1,,2", "1-"} {
		_, err := ParseCPUSet(text)
		assert.Error(t, err, text)
	}
	assert.Panics(t, func() { CPUSetOf(-1) })
	assert.Panics(t, func() { CPUSetOf(MaxCPUs) })
	assert.False(t, CPUSet{}.Has(-1))
	assert.False(t, CPUSet{}.Has(MaxCPUs))
}

func TestCPUSet_algebra(t *testing.T) {
	a, b := CPUSetOf(1, 2, 700), CPUSetOf(2, 3, 700)
	assert.Equal(t, CPUSetOf(2, 700), a.And(b))
	assert.Equal(t, CPUSetOf(1, 2, 3, 700), a.Or(b))
	assert.Equal(t, CPUSetOf(1), a.Minus(b))
	assert.Equal(t, CPUSetOf(1, 2, 700), a, "operands stay as they were")
}
