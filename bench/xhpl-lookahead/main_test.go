package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out, complaints bytes.Buffer
	require.NoError(t, program.Run(strings.Fields("-n 100 -nb 8 -q 2 -depth 1,2 -workers 1"), &out, &complaints))
	assert.Contains(t, out.String(), "\nWR11R2C8         100     8     1     2 ")
	assert.Contains(t, out.String(), "\nWR21R2C8         100     8     1     2 ")
	assert.Contains(t, out.String(), "result variant=lookahead ")
	assert.Contains(t, out.String(), "result runs=2 passed=2 failed=0")
}

func TestHelp_has_no_other_driver(t *testing.T) {
	var out, complaints bytes.Buffer
	require.NoError(t, program.Run([]string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "the baseline of xhpl")
	assert.NotContains(t, out.String(), "-variant")
	assert.NotContains(t, out.String(), "-compare")
	assert.Error(t, program.Run([]string{"-variant", "task"}, &out, &complaints))
}
