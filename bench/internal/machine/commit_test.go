package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommitOfTheBuild(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	revision := setting("vcs.revision", "0123456789abcdef0123")
	assert.Empty(t, commitOf(nil))
	assert.Empty(t, commitOf([]debug.BuildSetting{setting("vcs.revision", ""), setting("vcs.modified", "true")}))
	assert.Equal(t, "0123456789ab", commitOf([]debug.BuildSetting{revision, setting("vcs.modified", "false")}))
	assert.Equal(t, "0123456789ab+dirty", commitOf([]debug.BuildSetting{setting("vcs.modified", "true"), revision}))
	assert.Equal(t, "abc", commitOf([]debug.BuildSetting{setting("vcs.revision", "abc")}))
}

func TestCommitOfTheFolder(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	file := filepath.Join(dir, "file")
	assert.Equal(t, "unknown", commitIn(dir), "no repository")
	assert.Equal(t, "unknown", commitIn(filepath.Join(dir, "none")))
	git("init", "-q")
	assert.Equal(t, "unknown", commitIn(dir), "no commit")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	git("add", "file")
	git("commit", "-q", "-m", "first")
	assert.Regexp(t, `^[0-9a-f]{12} \(unverified\)$`, commitIn(dir))
	require.NoError(t, os.WriteFile(file, []byte("changed"), 0o600))
	assert.Regexp(t, `^[0-9a-f]{12}\+dirty \(unverified\)$`, commitIn(dir))
}
