package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/bench/internal/report"
)

// A part of the 864 tests of netlib's file: all algorithms on all grids, for one order
// and one block size, with each driver. The whole file is run as a program.
func TestStockFile(t *testing.T) {
	for variant, code := range map[string]string{"task": "WR90", "lookahead": "WR00", "blocking": "WR00"} {
		t.Run(variant, func(t *testing.T) {
			var out, complaints bytes.Buffer
			require.NoError(t, program.Run(strings.Fields("-dat testdata/HPL.dat -n 34 -nb 3 -workers 1 -variant "+variant), &out, &complaints))
			assert.Equal(t, 54, strings.Count(out.String(), "...... PASSED"))
			assert.Equal(t, 54, strings.Count(out.String(), "\n"+code))
			worst := report.Figures(out.String(), "residual_max")
			require.Len(t, worst, 1)
			assert.Less(t, worst[0], 0.1)
			assert.Positive(t, worst[0])
		})
	}
}

// Every broadcast and look-ahead, and all values of the options of which an HPL.dat has
// one only, on all grids.
func TestOptions(t *testing.T) {
	for file, variants := range map[string][]string{"options1.dat": {"task", "lookahead"}, "options2.dat": {"task", "lookahead", "blocking"}} {
		for _, variant := range variants {
			t.Run(file+" "+variant, func(t *testing.T) {
				var out, complaints bytes.Buffer
				require.NoError(t, program.Run(strings.Fields("-dat testdata/"+file+" -workers 1 -n 37 -variant "+variant), &out, &complaints))
				assert.Equal(t, 36, strings.Count(out.String(), "...... PASSED"))
				worst := report.Figures(out.String(), "residual_max")
				require.Len(t, worst, 1)
				assert.Less(t, worst[0], 0.1)
			})
		}
	}
}

func TestHelp(t *testing.T) {
	var out, complaints bytes.Buffer
	require.NoError(t, program.Run([]string{"-h"}, &out, &complaints))
	assert.Contains(t, out.String(), "xhpl is the LINPACK benchmark")
	assert.Contains(t, out.String(), "-variant driver")
}
