package hplrun

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/hpl"
)

// available returns how many bytes this process may still take without swapping, by
// the kernel's estimate and by the limits of the process's control groups, whichever is
// less; false if the system does not tell. system is the root of the file system.
func available(system fs.FS) (bytes int64, ok bool) {
	least, ok := kernelEstimate(system)
	for _, g := range controlGroups(system) {
		if room, limited := groupRoom(system, g); limited && (!ok || room < least) {
			least, ok = room, true
		}
	}
	return least, ok
}

// kernelEstimate is MemAvailable of /proc/meminfo.
func kernelEstimate(system fs.FS) (int64, bool) {
	text, err := fs.ReadFile(system, "proc/meminfo")
	if err != nil {
		return 0, false
	}
	kib, ok := field(text, "MemAvailable:")
	return kib << 10, ok
}

// field returns the number after a word at the beginning of a line.
func field(text []byte, name string) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 2 && words[0] == name {
			v, err := strconv.ParseInt(words[1], 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// group is a folder of a control group, of version 1 or 2.
type group struct {
	folder string
	v2     bool
}

// controlGroups returns the groups whose limits hold for this process: its own, and
// all those around it.
func controlGroups(system fs.FS) (all []group) {
	text, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		base := ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			base = "sys/fs/cgroup"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			base = "sys/fs/cgroup/memory"
		default:
			continue
		}
		for p := path.Clean("/" + parts[2]); ; p = path.Dir(p) {
			all = append(all, group{path.Join(base, p), parts[1] == ""})
			if p == "/" {
				break
			}
		}
	}
	return all
}

// groupRoom returns the limit of a group less its use, without cached files that can be
// dropped; false if it has no limit.
func groupRoom(system fs.FS, g group) (int64, bool) {
	limitFile, usageFile, dropped := "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
	if g.v2 {
		limitFile, usageFile, dropped = "memory.max", "memory.current", "inactive_file"
	}
	limit, ok := number(system, path.Join(g.folder, limitFile))
	if !ok || limit >= math.MaxInt64/2 { // version 1 writes a huge number for no limit
		return 0, false
	}
	usage, _ := number(system, path.Join(g.folder, usageFile))
	if text, err := fs.ReadFile(system, path.Join(g.folder, "memory.stat")); err == nil {
		files, _ := field(text, dropped)
		usage -= min(files, usage)
	}
	return max(0, limit-usage), true
}

// number reads a file with one number.
func number(system fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return v, err == nil
}

// largest returns the largest order up to limit for which this machine's share (0 to 1) of
// a run like c takes at most bytes.
func largest(c hpl.Config, share float64, bytes int64, limit int) int {
	return sort.Search(limit, func(n int) bool {
		c.N = n + 1
		return share*float64(hpl.Bytes(c)) > float64(bytes)
	})
}

// gib writes bytes for people.
func gib(bytes float64) string { return fmt.Sprintf("%.2f GiB", bytes/(1<<30)) }
