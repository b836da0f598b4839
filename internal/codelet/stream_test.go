package codelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStreams(t *testing.T) {
	assert.Equal(t, 4<<20, cachedPoints(32<<20))
	assert.Equal(t, 1<<20, cachedPoints(-1), "an unknown cache")
	assert.False(t, Best().Streams(mostCached))
	assert.True(t, Best().Streams(mostCached+1))

	modelled := Modelled(struct{ Model }{})
	assert.False(t, modelled.Streams(1<<20-1))
	assert.True(t, modelled.Streams(1<<20), "whatever the caches of this machine are")
}
