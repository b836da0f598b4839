//go:build mpi && cgo

package system

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnread(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	assert.Zero(t, unread(w))
	_, err = w.WriteString("text")
	require.NoError(t, err)
	assert.Equal(t, 4, unread(w))
	_, err = r.Read(make([]byte, 3))
	require.NoError(t, err)
	assert.Equal(t, 1, unread(w))

	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString("text")
	require.NoError(t, err)
	assert.Zero(t, unread(f))
}
