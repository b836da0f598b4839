package codelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStreams(t *testing.T) {
	assert.Equal(t, 4<<20, cachedPoints(32<<20))
	assert.Equal(t, 1<<20, cachedPoints(-1), "an unknown cache")
	assert.False(t, Streams(mostCached))
	assert.True(t, Streams(mostCached+1))
}
