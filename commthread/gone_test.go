package commthread

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/internal/engine"
)

// counted counts calls of Post.
type counted struct {
	engine.Engine
	posts int
}

func (c *counted) Post([]*engine.Call) { c.posts++ }

// A call that another goroutine makes while the thread ends reaches the engine: the
// goroutine posts it itself.
func TestForward_to_a_thread_that_has_just_ended(t *testing.T) {
	e := &counted{}
	x := &Thread{fixed: fixed{engine: e}, inbox: inbox{forwarded: map[*engine.Call]*handed{}}}
	f := &forwarder{Engine: e, t: x}
	x.mu.Lock()
	posted := make(chan struct{})
	go func() {
		defer close(posted)
		f.Post([]*engine.Call{{Kind: engine.CallRecv}})
	}()
	time.Sleep(10 * time.Millisecond) // the goroutine waits for the lock now; if not, the test is weaker
	x.gone.Store(true)
	x.mu.Unlock()
	<-posted
	require.Equal(t, 1, e.posts)
	require.Empty(t, x.handedOn)
}
