package machine

import (
	"runtime"
	"runtime/debug"
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

func TestCommit(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	revision := setting("vcs.revision", "0123456789abcdef0123")
	assert.Equal(t, "unknown", commitOf(nil))
	assert.Equal(t, "0123456789ab", commitOf([]debug.BuildSetting{revision, setting("vcs.modified", "false")}))
	assert.Equal(t, "0123456789ab+dirty", commitOf([]debug.BuildSetting{setting("vcs.modified", "true"), revision}))
	assert.Equal(t, "abc", commitOf([]debug.BuildSetting{setting("vcs.revision", "abc")}))
}
