package signature

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

func TestSignature(t *testing.T) {
	x, y := engine.Buffer(mpi.Of(make([]float64, 3))), engine.Buffer(mpi.Of(make([]float64, 4)))
	bcast := Of(&engine.Call{Kind: engine.CallBcast, Recv: x, Peer: 1})
	sum := Of(&engine.Call{Kind: engine.CallAllreduce, Send: engine.InPlace, Recv: x, Op: engine.Sum})
	barrier := Of(&engine.Call{Kind: engine.CallBarrier})
	for _, s := range []Signature{bcast, sum, barrier, {Op: "an operation of mine"}} {
		got, ok := Decode(s.Encode())
		assert.True(t, ok)
		assert.Equal(t, s, got)
		assert.True(t, s.Fits(got))
	}
	for _, other := range []Signature{sum, barrier, Of(&engine.Call{Kind: engine.CallBcast, Recv: x, Peer: 0}), Of(&engine.Call{Kind: engine.CallBcast, Recv: y, Peer: 1})} {
		assert.False(t, bcast.Fits(other), other)
	}
	assert.False(t, sum.Fits(Of(&engine.Call{Kind: engine.CallAllreduce, Send: engine.InPlace, Recv: x, Op: engine.Max})))
	assert.Equal(t, "bcast (root 1) of 24 bytes of float64", bcast.String())
	for _, bad := range []string{"", "1 2 3 4", "a 2 3 4 x"} {
		_, ok := Decode(bad)
		assert.False(t, ok, bad)
	}
}
