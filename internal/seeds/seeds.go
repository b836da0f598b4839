// Package seeds says which seeds a test runs.
package seeds

import (
	"iter"
	"os"
	"strconv"
	"testing"
)

// From yields programs seeds from first on, unless WEFT_PROGRAMS and WEFT_SEED in the environment
// say otherwise. A value there that is no number fails the test.
func From(t testing.TB, first, programs uint64) iter.Seq[uint64] {
	t.Helper()
	n, begin := number(t, "WEFT_PROGRAMS", programs), number(t, "WEFT_SEED", first)
	return func(yield func(uint64) bool) {
		for seed := begin; seed < begin+n && yield(seed); seed++ {
		}
	}
}

func number(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text, set := os.LookupEnv(name)
	if !set || text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
