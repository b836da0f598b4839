package commthread_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// pool is memory that tasks take while they run.
type pool struct {
	mu    sync.Mutex
	free  []*int
	taken map[int]*int // by message
	calls [2]int       // of Buffer and Sent
	fault string       // the method that panics
}

func newPool(n int) *pool {
	p := &pool{taken: map[int]*int{}}
	for range n {
		p.free = append(p.free, new(int))
	}
	return p
}

// fill takes memory for a message and stores v in it.
func (p *pool) fill(message, v int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return errors.New("no memory is free")
	}
	last := len(p.free) - 1
	p.taken[message] = p.free[last]
	p.free = p.free[:last]
	*p.taken[message] = v
	return nil
}

// letter is a message of a pool.
type letter struct {
	pool    *pool
	message int
}

func (l letter) called(method int, name string) func() {
	l.pool.mu.Lock()
	l.pool.calls[method]++
	if l.pool.fault == name {
		l.pool.mu.Unlock()
		panic(name + " is at fault")
	}
	return l.pool.mu.Unlock
}

func (l letter) Buffer() mpi.Buffer {
	defer l.called(0, "Buffer")()
	return mpi.One(l.pool.taken[l.message])
}

func (l letter) Sent() {
	defer l.called(1, "Sent")()
	x := l.pool.taken[l.message]
	*x = -1
	l.pool.free = append(l.pool.free, x)
}

// Messages take memory when their producers run, and the memory is free when the task that sends it ends: a pool of two serves any
// number of messages of which two may wait.
func TestSource(t *testing.T) {
	const n, window = 40, 2
	for name, put := range map[string]bool{"send": false, "put": true} {
		t.Run(name, func(t *testing.T) {
			inModes(t, func(t *testing.T, s setup) {
				succeed(t, 2, s, func(r rank) error {
					got := make([]int, n)
					w, err := r.NewWin(mpi.Of(got))
					if err != nil {
						return err
					}
					p, tokens, open := newPool(window), make([]byte, window), byte(0)
					r.ct.Fence(r.rt, w, tasks.Writes(&open))
					for i := range n {
						if !put {
							r.ct.Recv(r.rt, r.Comm, mpi.One(&got[i]), r.peer(), i)
						}
					}
					for i := range n {
						token := &tokens[i%window]
						r.rt.Spawn("fill", func(*tasks.Context) error { return p.fill(i, i+100*r.Rank()) }, tasks.Writes(token))
						if put {
							r.ct.PutTileNotifyFrom(r.rt, w, letter{p, i}, r.peer(), i, 1, 1, 0, tasks.Reads(token, &open))
						} else {
							r.ct.SendFrom(r.rt, r.Comm, letter{p, i}, r.peer(), i, tasks.Reads(token))
						}
					}
					if put {
						r.ct.Fence(r.rt, w)
					}
					if err := r.rt.Wait(); err != nil {
						return err
					}
					for i, v := range got {
						if v != i+100*r.peer() {
							return fmt.Errorf("message %d holds %d", i, v)
						}
					}
					assert.Equal(t, [2]int{n, n}, p.calls)
					assert.Len(t, p.free, window)
					return w.Free()
				})
			})
		})
	}
}

// A panic of a source is the error of its send, and a source is not asked where the producer fails; a message whose receiver
// is no rank is reported, and its memory is given back.
func TestSource_failures(t *testing.T) {
	for _, x := range []struct {
		name, fault, says string
		to                int
		producer          error
		calls             [2]int
	}{
		{"control", "", "", 0, nil, [2]int{1, 1}},
		{"buffer", "Buffer", "its source: panic: Buffer is at fault", 0, nil, [2]int{1, 1}},
		{"sent", "Sent", "the source of its buffer: panic: Sent is at fault", 0, nil, [2]int{1, 1}},
		{"no rank", "", "no such rank", 7, nil, [2]int{1, 1}},
		{"producer", "", "broken", 0, errBroken, [2]int{}},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := newPool(1)
			p.fault = x.fault
			errs := run(t, 1, setup{}, func(r rank) error {
				c, err := r.Dup()
				if err != nil {
					return err
				}
				var token byte
				got := 0
				r.rt.Spawn("fill", func(*tasks.Context) error { return errors.Join(p.fill(0, 5), x.producer) }, tasks.Writes(&token))
				r.ct.Recv(r.rt, c, mpi.One(&got), 0, 0)
				r.ct.SendFrom(r.rt, c, letter{p, 0}, x.to, 0, tasks.Reads(&token))
				err = r.rt.Wait()
				if x.says == "" {
					assert.Equal(t, 5, got)
				} else {
					assert.ErrorContains(t, err, "source_test.go:")
				}
				return err
			})
			if x.says == "" {
				require.NoError(t, errs[0])
			} else {
				require.ErrorContains(t, errs[0], x.says)
			}
			assert.Equal(t, x.calls, p.calls)
		})
	}
}

var _ commthread.Source = letter{}
