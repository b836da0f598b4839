package commthread_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// Two ranks whose windows hold only receives for which the other has yet to send: the
// windows grow. With room for all, they do not.
func TestWindow_grows(t *testing.T) {
	for _, window := range []int{1, 2, 3, 64} {
		for _, ahead := range []int{4, 4096} { // the runtime's own window
			t.Run(fmt.Sprint(window, ahead), func(t *testing.T) {
				var threads [2]*commthread.Thread
				s := setup{cts: []commthread.Option{commthread.Window(window)}, rts: []dataflow.Option{dataflow.Window(ahead)}}
				succeed(t, 2, s, func(r rank) error {
					threads[r.Rank()] = r.ct
					const n = 20
					x, y := make([]int, n), make([]int, n)
					for i := range y {
						r.ct.Recv(r.rt, r.Comm, mpi.One(&y[i]), r.peer(), i)
					}
					for i := range x {
						x[i] = i + 1
						r.ct.Ssend(r.rt, r.Comm, mpi.One(&x[i]), r.peer(), i)
					}
					if err := r.rt.Wait(); err != nil {
						return err
					}
					for i := range y {
						if y[i] != i+1 {
							return fmt.Errorf("message %d holds %d", i, y[i])
						}
					}
					return nil
				})
				most := max(commthread.PresentWindow(threads[0]), commthread.PresentWindow(threads[1]))
				if window == 64 {
					assert.Equal(t, window, most)
				} else {
					assert.Greater(t, most, window) // of one of them: that may be enough
				}
			})
		}
	}
}

// One-sided operations wait for the producers of their data, and the next writers of the
// data wait for the operations.
func TestWindow_order_of_what_is_sent(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 2, s, func(r rank) error {
			mem, put, notified, sum := make([]int, 3), 0, 0, 0
			w, err := r.NewWin(mpi.Of(mem))
			if err != nil {
				return err
			}
			set := func(x *int, v int) {
				r.rt.Spawn("set", func(*tasks.Context) error {
					time.Sleep(time.Millisecond)
					*x = v
					return nil
				}, tasks.Writes(x))
			}
			r.ct.Fence(r.rt, w)
			for _, x := range []*int{&put, &notified, &sum} {
				set(x, 5)
			}
			r.ct.Put(r.rt, w, mpi.One(&put), r.peer(), 0)
			r.ct.PutNotify(r.rt, w, mpi.One(&notified), r.peer(), 1, 0)
			r.ct.Accumulate(r.rt, w, mpi.One(&sum), mpi.Sum, r.peer(), 2)
			for _, x := range []*int{&put, &notified, &sum} {
				set(x, 9)
			}
			r.ct.Fence(r.rt, w)
			if err := r.rt.Wait(); err != nil {
				return err
			}
			for i, v := range mem {
				if v != 5 {
					return fmt.Errorf("element %d of %v", i, mem)
				}
			}
			return w.Free()
		})
	})
}
