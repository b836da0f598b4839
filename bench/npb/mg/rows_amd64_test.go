//go:build gc && !purego && !race

package mg

import "testing"

// TestRows is for the widest vectors of this processor; this is for the next.
func TestRows_AVX2(t *testing.T) {
	defer func(had bool) { hasAVX512 = had }(hasAVX512)
	hasAVX512 = false
	TestRows(t)
}
