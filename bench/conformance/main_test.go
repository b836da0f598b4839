package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi/mpitest"
	"github.com/weft-hpc/weft/mpi/world"
)

func TestAllInOneRun(t *testing.T) {
	var out, err bytes.Buffer
	require.NoError(t, run([]string{"-ranks", "3", "-require-all"}, &out, &err), out.String())
	require.Contains(t, out.String(), "ok   transfer/sizes\n")
	require.Regexp(t, `(?m)^result engine=local\S* ranks=3 cases=\d{3} failed=0 skipped=0$`, out.String())
	require.Empty(t, err.String())
}

func TestSkippedCases(t *testing.T) {
	var out, err bytes.Buffer
	args := []string{"-ranks", "1", "-only", "^barrier/"}
	require.NoError(t, run(args, &out, &err))
	require.Contains(t, out.String(), "skip barrier/waits for the last: needs 2 ranks\n")
	require.Contains(t, out.String(), "cases=2 failed=0 skipped=1")
	require.ErrorContains(t, run(append(args, "-require-all"), &out, &err), "skipped: needs 2 ranks")
}

func TestFailuresAreErrors(t *testing.T) {
	p := &mpitest.Report{Results: []mpitest.Result{{Name: "a/b", Failures: []string{"rank 1: lost"}}}}
	require.ErrorContains(t, verdict(p, false, 0), "a/b: rank 1: lost")
	require.Error(t, verdict(p, false, 1))
	require.NotZero(t, lacks("Open MPI 4.1.4"))
}

func TestList(t *testing.T) {
	var out, err bytes.Buffer
	require.NoError(t, run([]string{"-list"}, &out, &err))
	require.Contains(t, out.String(), "random/programs\n")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-nonsense"}, {"word"}, {"-only", "("}, {"-ranks", "0"}} {
		var out, err bytes.Buffer
		require.ErrorIs(t, run(args, &out, &err), world.ErrUsage, args)
	}
	var out, err bytes.Buffer
	require.ErrorContains(t, run([]string{"-only", "nothing at all"}, &out, &err), "no case")
}
