package local

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/mpi"
)

func TestRing_fills_and_empties(t *testing.T) {
	r := newRing()
	x := []int64{0}
	for round := range 3 {
		n := 0
		for !r.full() {
			x[0] = int64(round*1000 + n)
			r.put(key{ctx: 1, src: 2, tag: n}, engine.Buffer(mpi.Of(x)))
			n++
		}
		require.Equal(t, ringCells, n)
		for i := range n {
			c := r.peek()
			require.NotNil(t, c)
			got := []int64{0}
			unpack(engine.Buffer(mpi.Of(got)), c.data[:c.n])
			require.Equal(t, int64(round*1000+i), got[0])
			require.Equal(t, i, c.tag)
			r.pop()
		}
		assert.False(t, r.waiting())
		assert.Nil(t, r.peek())
	}
}

// One producer, two consumers under a lock; strided payloads of all sizes.
func TestRing_concurrently(t *testing.T) {
	const total = 20_000
	r := newRing()
	var mu sync.Mutex
	next := 0
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				mu.Lock()
				for c := r.peek(); c != nil; c = r.peek() {
					n := next % (inlineBytes + 1)
					if c.tag != next || int(c.n) != n || n > 0 && c.data[n-1] != byte(next) {
						t.Errorf("message %d is %d with %d bytes", next, c.tag, c.n)
					}
					next++
					r.pop()
				}
				end := next == total
				mu.Unlock()
				if end {
					return
				}
				runtime.Gosched()
			}
		})
	}
	buf := make([]byte, 2*inlineBytes)
	for i := range total {
		for r.full() {
			runtime.Gosched()
		}
		n := i % (inlineBytes + 1)
		b := engine.Buffer(mpi.Strided(buf, n, 1, 2))
		for j := range n {
			buf[2*j] = byte(i)
		}
		r.put(key{tag: i}, b)
	}
	wg.Wait()
}
