package machine

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLine_is_one_line_naming_the_toolchain(t *testing.T) {
	line := Line()
	assert.NotContains(t, line, "\n")
	assert.Contains(t, line, "machine: ")
	assert.Contains(t, line, runtime.Version())
	assert.Contains(t, line, runtime.GOOS+"/"+runtime.GOARCH)
	assert.Contains(t, line, "commit ")
	assert.Positive(t, Cores())
}
