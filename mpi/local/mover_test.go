package local

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// takesAll is a mover that accepts all bytes and can delay its copies until release.
type takesAll struct {
	mu    sync.Mutex
	later []func() // guarded by mu
	due   []int64  // guarded by mu
	hold  bool     // immutable: nothing is copied before release
}

func (m *takesAll) Move(dst, src unsafe.Pointer, n int, due int64) (word *uint32, was uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if src == nil {
		return nil, 0 // in place
	}
	word = new(uint32)
	do := func() {
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		atomic.StoreUint32(word, 1)
	}
	m.due = append(m.due, due)
	if m.hold {
		m.later = append(m.later, do)
	} else {
		do()
	}
	return word, 0
}

func (*takesAll) Completer(unsafe.Pointer, int) (fn, cookie unsafe.Pointer) { return nil, nil }

func (m *takesAll) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, do := range m.later {
		do()
	}
	m.later = nil
}

// A mover is offered all bytes of a long message with their due times, even beyond the
// receiver's credit. No call completes before they are in place.
func TestMover(t *testing.T) {
	for _, text := range []string{"gige", "gige,progress=nic"} {
		net, err := ParseNet(text)
		require.NoError(t, err)
		m := &takesAll{hold: true}
		const n = 3 << 20
		require.NoError(t, Run(2, func(c *mpi.Comm) error {
			(*engine.Comm)(c).Engine().(engine.Carrier).Carry(m)
			x := make([]byte, n)
			if err := c.Barrier(); err != nil {
				return err
			}
			if c.Rank() == 0 {
				for i := range x {
					x[i] = byte(i * 7)
				}
				if err := c.Send(mpi.Of(x), 1, 0); err != nil {
					return err
				}
				return c.Send(mpi.Of(x[:100]), 1, 1)
			}
			r := c.Irecv(mpi.Of(x), 0, 0)
			for all := false; !all; {
				(*engine.Comm)(c).Engine().Poll()
				m.mu.Lock()
				all = len(m.due) > 0 && osthread.Nanotime() > slices.Max(m.due) && (net.NIC || len(m.due) == n/segment)
				m.mu.Unlock()
			}
			(*engine.Comm)(c).Engine().Poll()
			assert.Zero(t, x[1], "nothing has been copied")
			done, _, err := r.Test()
			assert.False(t, done, "it is not there, and the receive has ended")
			require.NoError(t, err)
			m.release()
			if _, err := r.Wait(); err != nil {
				return err
			}
			for i := range x {
				if x[i] != byte(i*7) {
					t.Errorf("byte %d is %d", i, x[i])
					break
				}
			}
			_, err = c.Recv(mpi.Of(x), 0, 1)
			return err
		}, Network(net)))
		assert.True(t, slices.IsSorted(m.due))
	}
}
