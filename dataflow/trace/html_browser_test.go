package trace

import (
	"context"
	"encoding/json"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/internal/invariant"
)

// browser is the path of a Chromium, or skips the test.
func browser(t *testing.T) string {
	t.Helper()
	if testing.Short() || invariant.Race { // the browser is another process
		t.Skip("a browser takes a second for each page; run without -short to check them")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium in PATH: install one (Debian: apt-get install chromium) to have the pages tested in it")
	return ""
}

// verdict is the result of the self-check of a page; see page/selfcheck.js.
type verdict struct {
	OK       bool
	Failures []string
	Checks   int
	Drawing  float64 // ms
}

var selfcheck = regexp.MustCompile(`(?s)<pre id="selfcheck">(.*?)</pre>`)

// look opens a page in a window of a size and lets it check itself.
func look(t *testing.T, chromium, size, text string) (v verdict) {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft-page") // not TempDir: the browser may still write to it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "run.html")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	guard, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dom, err := exec.CommandContext(guard, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size="+size,
		"--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+path+"#selfcheck").Output()
	require.NoError(t, err)
	found := selfcheck.FindSubmatch(dom)
	if found == nil {
		return verdict{Failures: []string{"the page did not get so far as to check itself"}}
	}
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &v))
	return v
}

func TestPageWorksInBrowser(t *testing.T) {
	chromium := browser(t)
	large, _, _ := simulate(rand.New(rand.NewPCG(5, 6)), 3000, 4)
	for _, c := range []struct {
		name, size string
		text       string
	}{
		{"ranks, messages, nested bodies, hostile names", "1000,700", writePage(t, HTMLLimit, append(twoRanks(), asRank(cholesky(), 2), asRank(hostile(), 3), asRank(&dataflow.Log{}, 4))...)},
		{"a part of many tasks", "1000,700", writePage(t, 2500, large)},
		{"a small window", "800,600", writePage(t, HTMLLimit, twoRanks()...)},
		{"two runs side by side", "1000,700", comparisonPage(t, twoRanks(), append(twoRanks(), asRank(cholesky(), 2)))},
		{"nothing", "800,600", writePage(t, HTMLLimit, &dataflow.Log{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := look(t, chromium, c.size, c.text)
			assert.True(t, v.OK, "%v", v.Failures)
			assert.Empty(t, v.Failures)
			assert.Greater(t, v.Checks, 15)
		})
	}
}

func asRank(l *dataflow.Log, rank int) *dataflow.Log {
	l.Rank = rank
	return l
}

// Negative control: damaged pages do not pass.
func TestDamagedPageFailsInBrowser(t *testing.T) {
	chromium := browser(t)
	text := writePage(t, HTMLLimit, twoRanks()...)
	for _, c := range []struct{ name, from, to string }{
		{"a task is missing", `"tasks":6}`, `"tasks":7}`},
		{"wrong colours", "pen.fillStyle = label.color;", "pen.fillStyle = ink.paper;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, text, c.from)
			v := look(t, chromium, "1000,700", strings.ReplaceAll(text, c.from, c.to))
			assert.False(t, v.OK)
			assert.NotEmpty(t, v.Failures)
		})
	}
}
