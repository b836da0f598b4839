package task_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-hpc/weft/deps"
	"github.com/weft-hpc/weft/internal/task"
)

// A record takes all its locks or none; releasing one notifies its waiter, and a bound
// waiter does not keep the next from being notified.
func TestRecord_TryLock(t *testing.T) {
	locks := []*deps.Lock{{ID: 1}, {ID: 2}, {ID: 3}}
	record := func(prio, worker int32, need ...int) *task.Record {
		r := &task.Record{Prio: prio, Worker: worker}
		c := r.Cold()
		for _, i := range need {
			c.Locks = append(c.Locks, locks[i])
		}
		return r
	}
	var told []*task.Record
	again := func(n *deps.Node) {
		for ; n != nil; n = n.Next() {
			told = append(told, task.FromNode(n))
		}
	}
	last, all := record(0, 0, 2), record(0, 0, 0, 1, 2)
	low, high, bound := record(-1, 0, 0), record(1, 0, 0), record(2, 4, 0)
	first := record(0, 0, 0)
	assert.True(t, last.TryLock(again))
	assert.True(t, last.TryLock(again), "it has it")
	assert.True(t, first.TryLock(again))
	for _, r := range []*task.Record{low, high, bound} {
		assert.False(t, r.TryLock(again))
	}
	assert.Empty(t, told)
	first.Unlock(again)
	assert.Equal(t, []*task.Record{bound, high}, told, "the most urgent one, and as that is bound the next")
	told = nil
	assert.False(t, all.TryLock(again), "for want of the last lock")
	assert.Equal(t, []*task.Record{low}, told, "the first lock was taken and is free again")
	told = nil
	assert.Equal(t, &last.Node, locks[2].Blocks(&all.Node))
	assert.True(t, record(0, 0, 0, 1).TryLock(again), "it holds none while it waits")
	last.Unlock(again)
	assert.Equal(t, []*task.Record{all}, told)
	last.Unlock(again)
	assert.Len(t, told, 1, "what it does not have it does not give back")
}
