package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/osthread"
)

func TestRun(t *testing.T) {
	if osthread.NumCores() < 2 {
		t.Skip("two cores are needed; the mask of this process has one")
	}
	var out, complaints bytes.Buffer
	assert.Zero(t, run([]string{"-rounds", "2", "-handovers", "50"}, &out, &complaints), complaints.String())
	const figures = ` us_median=\d+\.\d+ us_min=\d+\.\d+( c_us_median=\d+\.\d+ c_us_min=\d+\.\d+ ratio=\d+\.\d+)?\n`
	assert.Regexp(t, `(?m)^result name=parker`+figures+`result name=worker_parked`+figures+`result name=worker_spinning`+figures+`\z`,
		out.String())
}

func TestRun_usage(t *testing.T) {
	for _, args := range [][]string{{"-x"}, {"-rounds", "0"}, {"-handovers", "many"}, {"more"}} {
		var out, complaints bytes.Buffer
		assert.Equal(t, 2, run(args, &out, &complaints), args)
		assert.Contains(t, complaints.String(), "wrong usage of wake")
	}
	var out, help bytes.Buffer
	assert.Zero(t, run([]string{"-h"}, &out, &help))
	assert.Contains(t, out.String(), "-handovers")
}
