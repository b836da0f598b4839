package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/mpi/world"
)

// call runs the program and returns its output.
func call(change func(job) job, args string) (string, error) {
	var out bytes.Buffer
	err := program{stdout: &out, change: change}.run(strings.Fields(args))
	return out.String(), err
}

func TestRun(t *testing.T) {
	for _, args := range []string{
		"-bench is -class s", "-bench is -class S -ranks 2 -form nonblocking", "-bench is -class S -ranks 4 -reps 2",
		"-bench mg -class S", "-bench mg -class s -ranks 2 -net 10gige", "-bench mg -class S -ranks 4",
		"-bench mg -class S -ranks 2 -form tasks",
	} {
		out, err := call(nil, args)
		require.NoError(t, err, args)
		assert.Regexp(t, `\n Verification    = +SUCCESSFUL\n`, out)
		assert.Regexp(t, `\n Class           = +S\n`, out)
		assert.Regexp(t, `\n Mop/s total     = +[0-9.]+\n`, out)
		assert.Regexp(t, `\nresult bench=(is|mg) class=S .* verified=true`, out)
	}
}

// wrong fails its verification.
type wrong struct{ job }

func (w wrong) run(each func(int)) (outcome, error) {
	o, err := w.job.run(each)
	o.verdict = assert.AnError
	return o, err
}

func TestRun_unverified(t *testing.T) {
	out, err := call(func(j job) job { return wrong{j} }, "-bench mg -class S -ranks 2")
	require.ErrorIs(t, err, assert.AnError)
	assert.NotErrorIs(t, err, world.ErrUsage)
	assert.Contains(t, out, "UNSUCCESSFUL")
	assert.Contains(t, out, "VERIFICATION FAILED")
	assert.Contains(t, out, "verified=false")
}

func TestRun_usage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       `-bench "": there are is and mg`,
		"-bench ft":                              `-bench "ft": there are is and mg`,
		"-bench is -class X":                     `-class: no class "X" of IS: there are S, W, A, B, C`,
		"-bench mg -class X":                     `-class: no class "X" of MG: there are S, W, A, B, C`,
		"-bench mg -form nonblocking":            `-form "nonblocking": mg has blocking`,
		"-bench mg -ranks 3":                     `-ranks 3: the benchmark takes a power of two`,
		"-bench mg -ranks 0":                     `-ranks 0: it is from 1 to 65536`,
		"-bench mg -compare":                     "one rank has no messages",
		"-bench mg -compare -ranks 2 -hunt auto": "leave -form and -hunt out",
		"-bench mg -compare -ranks 2 -form tasks": "leave -form and -hunt out",
		"-bench mg -reps 0":                       `-reps 0: it has to be at least 1`,
		"-bench is extra":                         `unexpected argument "extra"`,
		"-bench is -class S -ranks 1048576":       `too many for one process`,
	} {
		_, err := call(nil, args)
		require.ErrorIs(t, err, world.ErrUsage, args)
		assert.ErrorContains(t, err, want)
	}
	out, err := call(nil, "-h")
	require.NoError(t, err)
	assert.Contains(t, out, "IS 8388608 keys below 524288, 106 MB; MG 256^3 points, 4 iterations, 420 MB")
}

func TestRun_compare(t *testing.T) {
	for bench, rows := range map[string]int{"is": 5, "mg": 4} {
		out, err := call(nil, "-compare -reps 2 -class S -ranks 2 -net 10gige -bench "+bench)
		require.NoError(t, err)
		assert.Len(t, regexp.MustCompile(`(?m)^result bench=`+bench+` .* hunt=(off|auto|force) .*verified=true$`).FindAllString(out, -1), rows)
		assert.Regexp(t, `\nblocking +off +[0-9.]+ +1.000 +1.000 +1.000\n`, out)
	}
	_, err := call(func(j job) job { return wrong{j} }, "-compare -reps 1 -class S -ranks 2 -bench mg")
	assert.ErrorIs(t, err, assert.AnError)
}

// The norm has the same bits in all modes in which messages may return early, and on all ranks.
func TestRun_hunt(t *testing.T) {
	norm := regexp.MustCompile(`norm=[^ \n]*`)
	want := ""
	for _, mode := range []string{"off", "auto", "force"} {
		out, err := call(nil, "-bench mg -class S -ranks 2 -net gige -hunt "+mode)
		require.NoError(t, err, mode)
		got := norm.FindString(out)
		require.NotEmpty(t, got)
		if mode == "off" {
			want = got
		}
		assert.Equal(t, want, got, mode)
		out, err = call(nil, "-bench is -class S -ranks 4 -net gige -hunt "+mode)
		require.NoError(t, err, mode)
		assert.Contains(t, out, "checks_passed=51")
	}
}
