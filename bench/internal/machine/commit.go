package machine

import (
	"context"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// Commit returns the short hash of the commit that the program was built from, followed by
// "+dirty" if the tree had changes. Where the build recorded none (go run, -buildvcs=false) it
// is the commit that git now reports for the source's folder, followed by " (unverified)":
// the folder may have changed since. It is "unknown" without either.
//
// Any goroutine may call it. The first call may start git, which it gives two seconds.
func Commit() string { return commit() }

var commit = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if stamp := commitOf(info.Settings); stamp != "" {
			return stamp
		}
	}
	_, file, _, _ := runtime.Caller(0)
	return commitIn(filepath.Dir(file))
})

// hashLength is the length of a short hash.
const hashLength = 12

// commitOf reads the commit out of the settings of a build; "" if there is none.
func commitOf(settings []debug.BuildSetting) string {
	revision, dirty := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), hashLength)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + dirty
}

// commitIn asks git for the commit of a folder of the source.
func commitIn(dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	revision, err := git("rev-parse", "HEAD")
	if err != nil || len(revision) < hashLength {
		return "unknown"
	}
	revision = revision[:hashLength]
	if changes, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changes != "" {
		revision += "+dirty"
	}
	return revision + " (unverified)"
}
