package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// suite is the tests of one package, in the order in which a mutant meets them: most
// are noticed by one of the many that take no time.
type suite struct {
	dir     string
	program string   // with all mutants that have forms
	quick   []string // names of tests
	skipped []string // that fail in it though none is chosen: what counts allocations
	limits  [2]time.Duration
}

const (
	quickTest = 100 * time.Millisecond
	slowdown  = 8                // a mutant that takes this many times as long is detected,
	least     = 30 * time.Second // if it also takes longer than this
)

// suitesOf returns the tests of the package and of the packages that depend on it. Each
// also runs without a change, when the first mutant needs it.
func (c *config) suitesOf(r room, scratch, overlay string) (suites []func() (suite, error)) {
	for _, dir := range append([]string{r.dir}, r.more...) {
		suites = append(suites, sync.OnceValues(func() (suite, error) { return c.time(dir, scratch, overlay) }))
	}
	return suites
}

// time runs the tests of a package without a change and sorts them.
func (c *config) time(dir, scratch, overlay string) (s suite, err error) {
	s.dir = dir
	own, err := os.MkdirTemp(scratch, "")
	if err != nil {
		return s, err
	}
	if s.program, err = build(dir, own, overlay); err != nil {
		return s, err
	}
	start := time.Now()
	text, err := c.runTests(s, s.program, 0, c.timeout, "-test.v")
	failed := failures.FindAllSubmatch(text, -1)
	for _, m := range failed {
		s.skipped = append(s.skipped, string(m[1]))
	}
	usual := time.Since(start)
	if err != nil && len(failed) > 0 { // they have to pass without forms
		plain, err := build(dir, own, "")
		if err != nil {
			return s, err
		}
		if text, err := c.runTests(s, plain, 0, c.timeout, "-test.run", pattern(s.skipped)); err != nil {
			return s, fmt.Errorf("the tests of %s fail without a change: %w\n%s", dir, err, text)
		}
	} else if err != nil {
		return s, fmt.Errorf("the tests of %s fail without a change: %w\n%s", dir, err, text)
	}
	var sum time.Duration
	s.quick, sum = quickTests(text)
	s.limits = [2]time.Duration{c.limit(sum), c.limit(usual)}
	return s, nil
}

var failures = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// pattern matches the names of some tests.
func pattern(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// limit returns the time limit of tests, given their time without a change.
func (c *config) limit(usual time.Duration) time.Duration {
	return min(c.timeout, max(least, slowdown*usual))
}

var passed = regexp.MustCompile(`^--- PASS: (\w+) \((.*s)\)`)

// quickTests returns the names and the total time of the quick tests in the output of
// go test -v.
func quickTests(text []byte) (names []string, sum time.Duration) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if m := passed.FindStringSubmatch(lines.Text()); m != nil {
			if d, err := time.ParseDuration(m[2]); err == nil && d < quickTest {
				names, sum = append(names, m[1]), sum+d
			}
		}
	}
	return names, sum
}

// build makes the test program of a package.
func build(dir, scratch, overlay string) (program string, err error) {
	program = filepath.Join(scratch, "p.test") // the system wants an ending
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", program}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if text, err := exec.Command("go", append(args, "./"+dir)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c ./%s: %w\n%s", dir, err, text)
	}
	return program, nil
}

// noticed returns the test that fails for a mutant, "" if none does.
func (c *config) noticed(s suite, program string, id int) (by string) {
	if len(s.quick) > 0 {
		by = c.noticedIn(s, program, id, s.limits[0], "-test.run", pattern(s.quick))
	}
	if rest := slices.Concat(s.quick, s.skipped); by == "" {
		by = c.noticedIn(s, program, id, s.limits[1], "-test.skip", pattern(rest))
	}
	return by
}

// noticedIn runs some of the tests.
func (c *config) noticedIn(s suite, program string, id int, limit time.Duration, flags ...string) string {
	if text, err := c.runTests(s, program, id, limit, append(flags, "-test.failfast")...); err != nil {
		return culprit(text, err)
	}
	return ""
}

var culprits = regexp.MustCompile(`(?m)^(?:--- FAIL: \w+|panic: .*|fatal error: .*)`)

// culprit returns the line that says why tests failed.
func culprit(text []byte, err error) string {
	if line := culprits.Find(text); line != nil {
		return string(line)
	}
	return err.Error()
}

// runTests runs a test program in the folder of its package. The program stops by itself
// at the limit; if it does not, or starts late because of -exec, it has five more minutes.
func (c *config) runTests(s suite, program string, id int, limit time.Duration, flags ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Minute)
	defer cancel()
	line := append(slices.Clone(c.exec), program, "-test.timeout", limit.String())
	line = append(line, flags...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", selector, id))
	cmd.Dir, cmd.WaitDelay = s.dir, 10*time.Second // children of a test that was killed may hold its output
	return cmd.CombinedOutput()
}
