package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What README.md quotes stands in the files that it is about.
func TestReadmeQuotesItsFiles(t *testing.T) {
	var files strings.Builder
	names, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		files.Write(text)
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	quoted := 0
	for line := range strings.Lines(string(readme)) {
		if text, ok := strings.CutPrefix(line, "    "); ok && strings.Trim(text, " .\n") != "" {
			quoted++
			assert.Contains(t, files.String(), text)
		}
	}
	assert.Greater(t, quoted, 20)
}
