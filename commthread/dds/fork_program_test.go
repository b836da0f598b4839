//go:build linux && cgo && !race

package dds_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread/dds"
)

// forking builds the program whose C code forks children, or skips the test.
func forking(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("testdata/fork"); err != nil {
		t.Skipf("the source of the program is not here: %v", err)
	}
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Skip("go is not in the path")
	}
	compiler := strings.Fields(string(cc))
	if len(compiler) == 0 {
		t.Skip("no C compiler is known to go env CC")
	}
	if _, err := exec.LookPath(compiler[0]); err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	program := filepath.Join(t.TempDir(), "fork")
	build := exec.Command("go", "build", "-o", program, "./testdata/fork")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// Children forked by C code in the middle of transfers, in both directions, die at an
// access to an arena and at a call of its fault thread, and live otherwise; children that
// stay, with descriptors of the parent, delay nothing; and every byte is right in the
// parent. With explicit they may read; and, as the negative control, also if they inherit
// the memory.
func TestFork_by_C(t *testing.T) {
	needUffd(t)
	program := forking(t)
	const lazily = `(?s)(arena backend=%s strips=[1-9]\d* faults=\d+ stalls=\d+\n){2}.*` // on a busy machine a message may come before its first reader
	const ends = `result killed=%s lived=%s idle=[1-9]\d* idle_killed=0 programs=16\n$`
	const none, some = `0`, `[1-9]\d*`
	for _, one := range []struct{ name, backend, option, armed, killed, lived string }{
		{"uffd", dds.Uffd, "", lazily, some, none},
		{"trace", dds.Uffd, "-trace", lazily, some, none},
		{"explicit", dds.Explicit, "", `(?s)(arena backend=%s strips=0 faults=0 stalls=0\n){2}.*`, none, some},
		{"negative control", dds.Uffd, "-inherit", lazily, some, some}, // the fault thread is not inherited
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, program, strings.Fields(one.option)...)
			run.Env = append(os.Environ(), dds.Variable+"="+one.backend)
			run.WaitDelay = 5 * time.Second // children have its output, too
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Regexp(t, regexp.MustCompile(fmt.Sprintf(one.armed+ends, one.backend, one.killed, one.lived)), string(out))
		})
	}
}
