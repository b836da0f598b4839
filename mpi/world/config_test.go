package world

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/advise"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/mpi/local"
)

func parse(args ...string) (*Config, error) {
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	c := Flags(fs)
	return c, fs.Parse(args)
}

func TestFlags(t *testing.T) {
	c, err := parse()
	require.NoError(t, err)
	assert.Equal(t, 2, c.Ranks)
	assert.Equal(t, local.Net{}, c.Net)
	assert.Equal(t, -1, c.Eager)

	c, err = parse("-ranks", "5", "-net", "gige,progress=nic", "-eager", "0")
	require.NoError(t, err)
	assert.Equal(t, 5, c.Ranks)
	assert.Equal(t, "gige", c.Net.Name)
	assert.True(t, c.Net.NIC)
	assert.Zero(t, c.Eager)
	assert.True(t, c.given("net"))

	for _, bad := range [][]string{{"-ranks", "x"}, {"-net", "carrier-pigeon"}, {"-net", "L=-1us"}, {"-eager", "1k"}} {
		_, err := parse(bad...)
		assert.Error(t, err, bad)
	}
}

func TestDefaultNet(t *testing.T) {
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	c := Flags(fs)
	c.DefaultNet("10gige")
	require.NoError(t, fs.Parse(nil))
	assert.Equal(t, "10gige", c.Net.Name)
	assert.False(t, c.given("net"), "the user has not set it")
	assert.Panics(t, func() { c.DefaultNet("carrier-pigeon") })
	Default().DefaultNet("gige")
}

func TestRun_in_this_process(t *testing.T) {
	for _, ranks := range []int{1, 2, 3} {
		c := &Config{Ranks: ranks, Eager: -1}
		require.NoError(t, c.runHere(func(c *mpi.Comm) error {
			assert.Equal(t, ranks, c.Size())
			assert.Equal(t, max(osthread.NumCores()/ranks, 1), Workers(c))
			assert.Equal(t, fmt.Sprintf("%d ranks, engine local", ranks), Describe(c))
			x := []int{1}
			if err := c.Allreduce(mpi.InPlace, mpi.Of(x), mpi.Sum); err != nil {
				return err
			}
			assert.Equal(t, ranks, x[0])
			return nil
		}))
	}
}

// An environment variable alone switches the analysis on.
func TestAdvised(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	body := func(c *mpi.Comm) error { return c.Barrier() }
	t.Setenv(advise.FileVariable, "")
	require.NoError(t, Default().Run(body))
	require.NoFileExists(t, name, "nobody has asked for it")

	t.Setenv(advise.FileVariable, name)
	t.Setenv(advise.SizeVariable, "17")
	require.NoError(t, Default().Run(body))
	r, err := advise.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, 2, r.Ranks)
	assert.Equal(t, 17.0, r.Size)
	assert.Equal(t, "local", r.Engine)

	started := false
	for _, bad := range []string{filepath.Join(name, "below.json"), filepath.Dir(name)} {
		t.Setenv(advise.FileVariable, bad)
		err = Default().Run(func(*mpi.Comm) error { started = true; return nil })
		require.ErrorIs(t, err, ErrUsage)
		require.ErrorContains(t, err, bad)
	}
	assert.False(t, started, "it is known before the run that there will be no results")

	t.Setenv(advise.FileVariable, name)
	t.Setenv(advise.SizeVariable, "many")
	require.ErrorIs(t, Default().Run(body), ErrUsage)
}

func TestRun_in_this_process_fails(t *testing.T) {
	unhappy := errors.New("rank one is unhappy")
	err := (&Config{Ranks: 3, Eager: -1}).runHere(func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			return unhappy
		}
		return c.Barrier()
	})
	require.ErrorIs(t, err, unhappy)
	require.EqualError(t, err, "rank 1: rank one is unhappy", "its consequences are not reported")

	for _, c := range []*Config{{Ranks: 0, Eager: -1}, {Ranks: -1, Eager: -1}, {Ranks: maxRanks + 1, Eager: -1}, {Ranks: 1, Eager: -2}} {
		require.ErrorIs(t, c.runHere(func(*mpi.Comm) error { return nil }), ErrUsage)
	}
}

func TestReport(t *testing.T) {
	wrong := usage("too few ranks")
	for _, c := range []struct {
		err  error
		rank int
		code int
		says string
	}{
		{nil, -1, 0, ""},
		{flag.ErrHelp, -1, 0, ""},
		{errors.New("no luck"), -1, 1, "weft: no luck\n"},
		{errors.New("no luck"), 3, 1, "weft: no luck\n"},
		{wrong, -1, 2, "weft: wrong usage: too few ranks\n"},
		{wrong, 0, 2, "weft: wrong usage: too few ranks\n"},
		{wrong, 1, 2, ""},
		{&printed{errors.New("no luck"), 1}, 0, 1, ""},
		{fmt.Errorf("run: %w", &printed{wrong, 2}), 0, 2, ""},
	} {
		var out bytes.Buffer
		assert.Equal(t, c.code, report(&out, c.err, c.rank), "%+v", c)
		assert.Equal(t, c.says, out.String(), "%+v", c)
	}
}

func TestSummarize(t *testing.T) {
	revoked := &mpi.Error{Class: mpi.ErrRevoked, Kind: "recv", Comm: "world"}
	for name, c := range map[string]struct {
		errs []error
		code int
		says string
	}{
		"all well":             {[]error{nil, nil}, 0, ""},
		"one failed":           {[]error{nil, errors.New("no luck")}, 1, "rank 1: no luck"},
		"and others saw it":    {[]error{revoked, errors.New("no luck"), revoked}, 1, "rank 1: no luck"},
		"all failed alike":     {[]error{errors.New("no luck"), errors.New("no luck")}, 1, "rank 0: no luck"},
		"different failures":   {[]error{errors.New("a"), errors.New("b")}, 1, "rank 0: a\nrank 1: b"},
		"only consequences":    {[]error{revoked, nil}, 1, "rank 0: " + revoked.Error()},
		"wrong usage":          {[]error{usage("x"), usage("x")}, 2, "rank 0: wrong usage: x"},
		"wrong usage and more": {[]error{usage("x"), errors.New("b")}, 1, "rank 0: wrong usage: x\nrank 1: b"},
	} {
		var outcomes [][]byte
		for _, e := range c.errs {
			outcomes = append(outcomes, encodeOutcome(e))
		}
		code, err := summarize(outcomes)
		assert.Equal(t, c.code, code, name)
		if c.says == "" {
			assert.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, c.says, name)
		}
	}
	assert.Equal(t, "rank 1, 2", missing([][]byte{encodeOutcome(nil), make([]byte, outcomeBytes), make([]byte, outcomeBytes)}))
}

func TestShare(t *testing.T) {
	eight := osthread.CPUSetOf(0, 1, 2, 3, 8, 9, 10, 11)
	for n := 1; n <= 12; n++ {
		seen, total := osthread.CPUSet{}, 0
		for i := range n {
			s := share(eight, i, n)
			assert.NotZero(t, s.Count(), "%d of %d", i, n)
			seen, total = seen.Or(s), total+s.Count()
		}
		if n <= 8 {
			assert.Equal(t, eight, seen, "%d ranks use all cores", n)
			assert.Equal(t, 8, total, "%d ranks share none", n)
		} else {
			assert.Equal(t, n, total, "%d ranks have one core each", n)
		}
	}
	assert.Equal(t, osthread.CPUSetOf(8, 9, 10, 11), share(eight, 1, 2))
}

func TestProtect(t *testing.T) {
	assert.NoError(t, protect(nil, func(*mpi.Comm) error { return nil }))
	assert.EqualError(t, protect(nil, func(*mpi.Comm) error { return errors.New("x") }), "x")
	assert.ErrorContains(t, protect(nil, func(*mpi.Comm) error { panic("out of its depth") }), "out of its depth")
}

// A run over a simulated network tells how late the network was, unless it is quiet.
func TestRun_quiet(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		c := Default()
		require.NoError(t, (*netFlag)(&c.Net).Set("L=1ms"))
		c.Quiet = quiet
		file, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		stderr := os.Stderr
		os.Stderr = file
		err = c.Run(func(c *mpi.Comm) error { return c.Barrier() })
		os.Stderr = stderr
		require.NoError(t, err)
		text, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		require.NoError(t, file.Close())
		if quiet {
			assert.Empty(t, string(text))
		} else {
			assert.Contains(t, string(text), "due times, met")
		}
	}
}
