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
	dir    string
	quick  string // a pattern of their names; "" if there are none
	limits [2]time.Duration
}

const (
	quickTest = 100 * time.Millisecond
	patience  = 8                // a mutant that takes so many times as long has been noticed,
	least     = 10 * time.Second // though not below this
)

// suitesOf returns the tests of the package and of those that rest on it. These run without a
// change as well, when the first mutant needs them.
func (c *config) suitesOf(r room) (suites []func() (suite, error)) {
	for _, dir := range append([]string{r.dir}, r.more...) {
		suites = append(suites, sync.OnceValues(func() (suite, error) { return c.time(dir) }))
	}
	return suites
}

// time runs the tests of a package and sorts them into quick ones and others.
func (c *config) time(dir string) (s suite, err error) {
	scratch, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(scratch)
	program, err := build(dir, scratch, "")
	if err != nil {
		return s, err
	}
	start := time.Now()
	text, err := c.runTests(dir, program, c.timeout, "-test.v")
	if err != nil {
		return s, fmt.Errorf("the tests of %s fail without a change: %w\n%s", dir, err, text)
	}
	names, sum := quickTests(text)
	s.dir = dir
	if len(names) > 0 {
		s.quick = "^(" + strings.Join(names, "|") + ")$"
	}
	s.limits = [2]time.Duration{c.limit(sum), c.limit(time.Since(start))}
	return s, nil
}

// limit returns how long tests may take that take so long without a change.
func (c *config) limit(usual time.Duration) time.Duration {
	return min(c.timeout, max(least, patience*usual))
}

var passed = regexp.MustCompile(`^--- PASS: (\w+) \((.*s)\)`)

// quickTests returns the names of those that took no time, by what go test -v prints, and
// how long they took together.
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

// noticed returns the test that fails, "" if none does.
func (c *config) noticed(s suite, program string) string {
	var slow []string
	if s.quick != "" {
		if text, err := c.runTests(s.dir, program, s.limits[0], "-test.run", s.quick); err != nil {
			return culprit(text, err)
		}
		slow = []string{"-test.skip", s.quick}
	}
	if text, err := c.runTests(s.dir, program, s.limits[1], slow...); err != nil {
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

// runTests runs a test program in the folder of its package. It stops by itself at the
// limit; what does not, or starts late because of -exec, has some minutes more.
func (c *config) runTests(dir, program string, limit time.Duration, flags ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Minute)
	defer cancel()
	line := append(slices.Clone(c.exec), program, "-test.failfast", "-test.timeout", limit.String())
	line = append(line, flags...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second // children of a test that was killed may hold its output
	return cmd.CombinedOutput()
}
