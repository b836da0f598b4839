package rewrite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every line that says "race" is found, and no other.
func TestEarlyTouches(t *testing.T) {
	p := load(t, "testdata/early")
	var want []int
	for _, f := range p.files {
		for i, line := range strings.Split(string(f.src), "\n") {
			if strings.Contains(line, "// race") {
				want = append(want, i+1)
			}
		}
	}
	var got []int
	for _, x := range p.EarlyTouches() {
		got = append(got, x.Line)
		assert.Less(t, x.Request, x.Line)
		assert.Equal(t, x.API == "Isend", x.Name == "out")
		assert.Equal(t, x.Name == "out", x.Writes)
	}
	assert.Len(t, want, 4)
	assert.Equal(t, want, got)
	assert.Empty(t, load(t, "testdata/corpus").EarlyTouches())
}
