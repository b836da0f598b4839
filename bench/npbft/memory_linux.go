package main

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// available returns the bytes that this process may still use: the available memory of the
// system, or less if the control group has a limit.
func available() (n int, known bool) {
	n, known = field("/proc/meminfo", "MemAvailable:")
	limit, limited := number("/sys/fs/cgroup/memory.max")
	used, counted := number("/sys/fs/cgroup/memory.current")
	if known && limited && counted {
		n = min(n, max(0, limit-used))
	}
	return n, known
}

// peak returns the most memory that this process has occupied, in bytes.
func peak() (n int, known bool) { return field("/proc/self/status", "VmHWM:") }

// field reads a line "name 123 kB" of a file of the system.
func field(path, name string) (bytesOf int, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) == 3 && words[0] == name {
			n, err := strconv.Atoi(words[1])
			return n << 10, err == nil
		}
	}
	return 0, false
}

// number reads a file with one number; "max" is none.
func number(path string) (n int, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}
