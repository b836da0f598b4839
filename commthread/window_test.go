package commthread_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/commthread"
	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/mpi"
)

// Two ranks whose windows hold only receives for which the other has yet to send: the
// windows grow. With room for all, they do not.
func TestWindow_grows(t *testing.T) {
	for _, window := range []int{1, 2, 3, 64} {
		for _, tasks := range []int{4, 4096} { // the runtime's own window
			t.Run(fmt.Sprint(window, tasks), func(t *testing.T) {
				var threads [2]*commthread.Thread
				s := setup{cts: []commthread.Option{commthread.Window(window)}, rts: []dataflow.Option{dataflow.Window(tasks)}}
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
