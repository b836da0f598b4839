package hplrun

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/hpl"
)

// files makes a file system of names and texts.
func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

const meminfo = "MemTotal:        8000000 kB\nMemFree:          100 kB\nMemAvailable:    4000000 kB\n"

func TestAvailable(t *testing.T) {
	const free = int64(4000000 << 10)
	for name, c := range map[string]struct {
		system fstest.MapFS
		bytes  int64
		ok     bool
	}{
		"no system":  {files(), 0, false},
		"the kernel": {files("proc/meminfo", meminfo), free, true},
		"garbage":    {files("proc/meminfo", "MemAvailable: much\n", "proc/self/cgroup", "x\n1:2\n"), 0, false},
		"no limit": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/\n",
			"sys/fs/cgroup/memory.max", "max\n", "sys/fs/cgroup/memory.current", "5\n"), free, true},
		"a limit, version 2": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max", "1000000\n", "sys/fs/cgroup/a/b/memory.current", "700000\n",
			"sys/fs/cgroup/a/b/memory.stat", "anon 1\ninactive_file 200000\n"), 500000, true},
		"a limit of the group around it": {files("proc/meminfo", meminfo, "proc/self/cgroup", "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max", "1000000\n", "sys/fs/cgroup/a/b/memory.current", "0\n",
			"sys/fs/cgroup/a/memory.max", "800\n", "sys/fs/cgroup/a/memory.current", "300\n"), 500, true},
		"a limit, version 1": {files("proc/meminfo", meminfo, "proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes", "8000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 1000, true},
		"exhausted": {files("proc/self/cgroup", "0::/\n",
			"sys/fs/cgroup/memory.max", "10\n", "sys/fs/cgroup/memory.current", "20\n"), 0, true},
	} {
		bytes, ok := available(c.system)
		assert.Equal(t, c.ok, ok, name)
		assert.Equal(t, c.bytes, bytes, name)
	}
	if _, err := os.Stat("/proc/meminfo"); err == nil {
		bytes, ok := available(os.DirFS("/"))
		assert.True(t, ok)
		assert.Positive(t, bytes)
	}
}

func TestLargest(t *testing.T) {
	c := hpl.Default(1)
	for _, want := range []int{0, 1, 100, 5000} {
		c.N = want
		bytes := hpl.Bytes(c)
		assert.Equal(t, want, largest(c, 1, bytes, maxOrder))
		assert.Less(t, largest(c, 1, bytes-1, maxOrder), max(1, want))
		assert.GreaterOrEqual(t, largest(c, 0.5, bytes, maxOrder), want, "half of it is on this machine")
	}
	assert.Equal(t, 30, largest(c, 1, 1<<60, 30))
}

func TestSized(t *testing.T) {
	c := hpl.Default(1 << 14) // blocks of 192
	n := sized(c, 150, 1, maxOrder)
	assert.Zero(t, n%192)
	assert.InDelta(t, 15, 2.0/3*float64(n)*float64(n)*float64(n)/(150e9*expectedPart), 1)
	assert.Less(t, sized(c, 150, 15, maxOrder), n/2, "fifteen runs share the time")
	assert.Equal(t, 384, sized(c, 150, 1, 500), "memory counts")
	assert.Equal(t, 100, sized(c, 150, 1, 100), "less than a block")
	assert.Zero(t, sized(c, 150, 1, 0))
	c.P, c.Q = 2, 3
	assert.Zero(t, sized(c, 150, 1, maxOrder)%(192*6))
	c.P, c.Q = 2, 4
	assert.Zero(t, sized(c, 150, 1, maxOrder)%(192*4))
}

func TestSquarest(t *testing.T) {
	for ranks, want := range map[int][2]int{1: {1, 1}, 2: {1, 2}, 3: {1, 3}, 4: {2, 2}, 6: {2, 3}, 7: {1, 7}, 12: {3, 4}, 16: {4, 4}} {
		g := Squarest(ranks)
		assert.Equal(t, want, [2]int{g.P, g.Q})
	}
}
