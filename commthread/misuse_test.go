package commthread_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/mpi"
	"github.com/weft-hpc/weft/tasks"
)

// misuses are wrong uses of every method, with a word of the error.
func misuses(r rank, other *mpi.Comm, w *mpi.Win) map[string]struct {
	spawn func(c *mpi.Comm, cl tasks.Clause)
	text  string
} {
	x, y, s := make([]int, 4), make([]int, 4), make([]string, 1)
	b, short, bad := mpi.Of(x), mpi.Of(y[:3]), mpi.Of(s)
	ct, rt, op := r.ct, r.rt, mpi.Sum
	type m = struct {
		spawn func(c *mpi.Comm, cl tasks.Clause)
		text  string
	}
	return map[string]m{
		"send to rank 9":        {func(c *mpi.Comm, cl tasks.Clause) { ct.Send(rt, c, b, 9, 0, cl) }, "no such rank"},
		"ssend to any":          {func(c *mpi.Comm, cl tasks.Clause) { ct.Ssend(rt, c, b, mpi.AnySource, 0, cl) }, "no such rank"},
		"send with tag -1":      {func(c *mpi.Comm, cl tasks.Clause) { ct.Send(rt, c, b, 0, -1, cl) }, "tag"},
		"recv with a large tag": {func(c *mpi.Comm, cl tasks.Clause) { ct.Recv(rt, c, b, 0, 1<<40, cl) }, "tag"},
		"recv from rank -7":     {func(c *mpi.Comm, cl tasks.Clause) { ct.RecvStatus(rt, c, new(mpi.Status), b, -7, 0, cl) }, "no such rank"},
		"send of strings":       {func(c *mpi.Comm, cl tasks.Clause) { ct.Send(rt, c, bad, 0, 0, cl) }, "a pointer"},
		"send in place":         {func(c *mpi.Comm, cl tasks.Clause) { ct.Send(rt, c, mpi.InPlace, 0, 0, cl) }, "InPlace"},
		"negative strided":      {func(c *mpi.Comm, cl tasks.Clause) { ct.Recv(rt, c, mpi.Strided(x, -1, 2, 3), 0, 0, cl) }, "negative"},
		"bcast of root 5":       {func(c *mpi.Comm, cl tasks.Clause) { ct.Bcast(rt, c, b, 5, cl) }, "root"},
		"reduce without op":     {func(c *mpi.Comm, cl tasks.Clause) { ct.Reduce(rt, c, b, short, nil, 0, cl) }, "no operation"},
		"allreduce of lengths":  {func(c *mpi.Comm, cl tasks.Clause) { ct.Allreduce(rt, c, b, short, op, cl) }, "elements"},
		"scan of lengths":       {func(c *mpi.Comm, cl tasks.Clause) { ct.Scan(rt, c, b, short, op, cl) }, "elements"},
		"exscan of lengths":     {func(c *mpi.Comm, cl tasks.Clause) { ct.Exscan(rt, c, b, short, op, cl) }, "elements"},
		"gather of lengths":     {func(c *mpi.Comm, cl tasks.Clause) { ct.Gather(rt, c, b, short, 0, cl) }, "elements"},
		"scatter to root -1":    {func(c *mpi.Comm, cl tasks.Clause) { ct.Scatter(rt, c, b, short, -1, cl) }, "root"},
		"allgather of lengths":  {func(c *mpi.Comm, cl tasks.Clause) { ct.Allgather(rt, c, b, short, cl) }, "elements"},
		"reduce-scatter counts": {func(c *mpi.Comm, cl tasks.Clause) { ct.ReduceScatter(rt, c, b, short, []int{-1, 9}, op, cl) }, "count"},
		"alltoall of lengths":   {func(c *mpi.Comm, cl tasks.Clause) { ct.Alltoall(rt, c, b, short, cl) }, "same number of elements"},
		"alltoall of strings":   {func(c *mpi.Comm, cl tasks.Clause) { ct.Alltoall(rt, c, bad, b, cl) }, "a pointer"},
		"alltoallv of one count": {func(c *mpi.Comm, cl tasks.Clause) {
			ct.Alltoallv(rt, c, b, []int{}, []int{}, b, []int{1}, []int{0}, cl)
		}, "0 counts"},
		"alltoallv outside": {func(c *mpi.Comm, cl tasks.Clause) {
			ct.Alltoallv(rt, c, b, []int{4}, []int{1}, short, []int{3}, []int{0}, cl)
		}, "outside"},
		"alltoallv own part": {func(c *mpi.Comm, cl tasks.Clause) {
			ct.Alltoallv(rt, c, b, []int{4}, []int{0}, short, []int{3}, []int{0}, cl)
		}, "itself"},
		"alltoall unknown":       {func(_ *mpi.Comm, cl tasks.Clause) { ct.Alltoall(rt, other, b, mpi.Of(y), cl) }, "call Use"},
		"send from nowhere":      {func(c *mpi.Comm, cl tasks.Clause) { ct.SendFrom(rt, c, nil, 0, 0, cl) }, "the source of the buffer is nil"},
		"put from nowhere":       {func(_ *mpi.Comm, cl tasks.Clause) { ct.PutTileNotifyFrom(rt, w, nil, 0, 0, 1, 1, 0, cl) }, "the source of the buffer is nil"},
		"put outside":            {func(_ *mpi.Comm, cl tasks.Clause) { ct.Put(rt, w, b, 0, 1, cl) }, "window"},
		"get from rank 3":        {func(_ *mpi.Comm, cl tasks.Clause) { ct.Get(rt, w, b, 3, 0, cl) }, "no such rank"},
		"accumulate nothing":     {func(_ *mpi.Comm, cl tasks.Clause) { ct.Accumulate(rt, w, b, nil, 0, 0, cl) }, "predefined"},
		"notify number 99":       {func(_ *mpi.Comm, cl tasks.Clause) { ct.PutNotify(rt, w, b, 0, 0, 99, cl) }, "notifications"},
		"tile of half a column":  {func(_ *mpi.Comm, cl tasks.Clause) { ct.PutTileNotify(rt, w, b, 0, 0, 3, 3, 1, cl) }, "no tile"},
		"await -1 notifications": {func(_ *mpi.Comm, cl tasks.Clause) { ct.AwaitNotify(rt, w, mpi.Buffer{}, 0, -1, cl) }, "negative"},
		"lazy from nowhere":      {func(_ *mpi.Comm, cl tasks.Clause) { ct.LazyRecv(rt, nil, b, 0, 0, nil, cl) }, "the endpoint is nil"},
		"lazy to nowhere":        {func(_ *mpi.Comm, cl tasks.Clause) { ct.LazySend(rt, nil, b, 0, 0, nil, cl) }, "the endpoint is nil"},
		"fence of no window":     {func(_ *mpi.Comm, cl tasks.Clause) { ct.Fence(rt, nil, cl) }, "nil"},
		"put to no window":       {func(_ *mpi.Comm, cl tasks.Clause) { ct.Put(rt, nil, b, 0, 0, cl) }, "nil"},
		"recv on no comm":        {func(_ *mpi.Comm, cl tasks.Clause) { ct.Recv(rt, nil, b, 0, 0, cl) }, "nil"},
		"bcast on no comm":       {func(_ *mpi.Comm, cl tasks.Clause) { ct.Bcast(rt, nil, b, 0, cl) }, "nil"},
		"alltoall on no comm":    {func(_ *mpi.Comm, cl tasks.Clause) { ct.Alltoall(rt, nil, b, mpi.Of(y), cl) }, "nil"},
	}
}

// Wrong arguments are errors of the task, which name it and the line that spawned it;
// what depends on it is skipped, and the communicator is revoked.
func TestMisuse_every_method(t *testing.T) {
	run(t, 1, setup{}, func(r rank) error {
		other, err := r.Dup()
		if err != nil {
			return err
		}
		n := 0
		for name := range misuses(r, nil, nil) {
			c, err := other.Dup() // each is revoked
			if err != nil {
				return err
			}
			w, err := c.NewWin(mpi.Of(make([]int, 4)))
			if err != nil {
				return err
			}
			var out int
			m := misuses(r, c, w)[name]
			m.spawn(c, tasks.Updates(&out))
			r.rt.Spawn("depends", func(*tasks.Context) error { panic(name) }, tasks.Updates(&out))
			err = r.rt.Wait()
			assert.ErrorContains(t, err, m.text, name)
			assert.ErrorContains(t, err, "misuse_test.go:", name)
			assert.ErrorContains(t, err, "1 task that depended", name)
			if revoked := c.Revoked(); revoked == nil && r.Revoked() == nil {
				assert.Error(t, revoked, name)
			}
			if c.Revoked() == nil {
				assert.NoError(t, w.Free(), name)
			}
			n++
		}
		assert.Equal(t, 38, n)
		return nil
	})
}

// The control: the same methods with right arguments.
func TestMisuse_right_uses(t *testing.T) {
	inModes(t, func(t *testing.T, s setup) {
		succeed(t, 1, s, func(r rank) error {
			x, y, z, mem := []int{1, 2}, make([]int, 2), make([]int, 2), make([]int, 2)
			w, err := r.NewWin(mpi.Of(mem))
			if err != nil {
				return err
			}
			ct, rt, c, a, b := r.ct, r.rt, r.Comm, mpi.Of(x), mpi.Of(y)
			ct.Recv(rt, c, b, mpi.ProcNull, 0)
			ct.Send(rt, c, a, mpi.ProcNull, 0)
			ct.Reduce(rt, c, a, b, mpi.Sum, 0)
			ct.Reduce(rt, c, mpi.InPlace, b, mpi.Sum, 0)
			ct.Allreduce(rt, c, mpi.InPlace, b, mpi.Max)
			ct.Scan(rt, c, a, b, mpi.Sum)
			ct.Exscan(rt, c, a, b, mpi.Sum)
			ct.Gather(rt, c, mpi.InPlace, b, 0)
			ct.Scatter(rt, c, b, mpi.InPlace, 0)
			ct.Allgather(rt, c, a, b)
			ct.ReduceScatter(rt, c, a, b, nil, mpi.Sum)
			ct.ReduceScatter(rt, c, mpi.InPlace, b, []int{2}, mpi.Sum)
			ct.Alltoallv(rt, c, a, []int{1}, []int{1}, b, []int{1}, []int{0})
			ct.Send(rt, c, mpi.Of([]int{}), 0, 3)
			ct.Recv(rt, c, mpi.Of([]int{}), 0, 3)
			ct.Put(rt, w, a, 0, 0)
			ct.Accumulate(rt, w, a, mpi.Sum, 0, 0)
			ct.Fence(rt, w)
			ct.Get(rt, w, mpi.Of(z), 0, 0)
			ct.Fence(rt, w)
			if err := rt.Wait(); err != nil {
				return err
			}
			if y[0] != 2 || y[1] != 2 || z[0] != 2 || z[1] != 4 {
				return fmt.Errorf("got %v and %v", y, z)
			}
			return w.Free()
		})
	})
}
