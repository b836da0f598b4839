package trace

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Labels that stand beside each other in usual traces have colours that one can tell apart.
func TestColors_of_usual_names_differ(t *testing.T) {
	for _, names := range [][]string{
		{"update", "factor", "multiply", "solve", "report", "pack", "exchange", "substitute", "unpack", "recv", "send"},
		{"update", "factor", "multiply", "solve", "broadcast", "exchange", "bcast"},
		{"potrf", "trsm", "syrk", "gemm"},
		{"factor", "apply", "load", "replace"},
		{"send", "recv", "allreduce", "bcast", "put"},
		{"fft", "transpose", "pack", "unpack", "send", "recv", "alltoall", "put"},
		{"interior", "border", "exchange", "relax", "resid", "send", "recv"},
	} {
		for i, a := range names {
			for _, b := range names[:i] {
				ca, cb := colorOf(a), colorOf(b)
				distance := math.Hypot(math.Hypot(float64(ca[0])-float64(cb[0]), float64(ca[1])-float64(cb[1])), float64(ca[2])-float64(cb[2]))
				assert.Greater(t, distance, 45.0, "%s %v and %s %v", a, ca, b, cb)
			}
		}
	}
}

// Black text is readable on every colour: the contrast that WCAG 2.1 asks for, 4.5 to 1.
func TestColors_carry_text(t *testing.T) {
	linear := func(c uint8) float64 { return math.Pow((float64(c)/255+0.055)/1.055, 2.4) }
	text := linear(0x11) // #111
	for i := range 5000 {
		c := colorOf(fmt.Sprint("task ", i))
		luminance := 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
		assert.Greater(t, (luminance+0.05)/(text+0.05), 4.5, "%v", c)
	}
}
