package osthread

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfine(t *testing.T) {
	l := &coreLedger{usable: firstCPUs(4), siblings: alone}
	require.NoError(t, l.confine(CPUSetOf(2, 3, 9)))
	assert.Equal(t, CPUSetOf(2, 3), l.usableCores(), "a core that was not usable does not become so")

	require.ErrorContains(t, l.confine(CPUSetOf(0)), "none of them is usable")
	assert.Equal(t, CPUSetOf(2, 3), l.usableCores())

	c := l.claim(l.usableCores(), 1)
	assert.Equal(t, []int{2}, c.Cores())
	require.ErrorContains(t, l.confine(CPUSetOf(3)), "are claimed already")
	c.Release()
	require.NoError(t, l.confine(CPUSetOf(3)))
	assert.Equal(t, []int{3}, l.claim(l.usableCores(), 1).Cores())
}

func TestConfine_of_the_process(t *testing.T) {
	before := Usable()
	require.NoError(t, Confine(before), "to what it has")
	require.Equal(t, before, Usable())
	require.Error(t, Confine(CPUSet{}))
}
