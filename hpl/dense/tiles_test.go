package dense

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A product has a tile for each worker, none for a second round, and long matrices are cut
// where they are long.
func TestTiles(t *testing.T) {
	const n = 24 * 27720 // strips for any number of workers here
	for workers := 1; workers <= 12; workers++ {
		for _, shape := range [][2]int{{n, n}, {100 * n, n}, {n, 100 * n}} {
			rows, cols := tiles(shape[0], shape[1], workers)
			down, across := (shape[0]+rows-1)/rows, (shape[1]+cols-1)/cols
			assert.Equal(t, workers, down*across, "%d x %d, tiles of %d x %d", shape[0], shape[1], rows, cols)
			if workers > 1 && shape[0] != shape[1] {
				assert.Equal(t, shape[0] > shape[1], down > across)
			}
		}
	}
}
