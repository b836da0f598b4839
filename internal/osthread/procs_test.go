package osthread

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRaiseProcs_nesting(t *testing.T) {
	found := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(found)
	start := ProcsChanges()
	var told [][2]int
	tell := func(from, to int) { told = append(told, [2]int{from, to}) }

	low := RaiseProcsFunc(Procs{Sleep: 1}, tell)
	assert.Equal(t, 3, runtime.GOMAXPROCS(0), "never lowered")
	a := RaiseProcsFunc(Procs{Sleep: 4}, tell)
	assert.Equal(t, 6, runtime.GOMAXPROCS(0))
	b := RaiseProcs(2)
	assert.Equal(t, 8, runtime.GOMAXPROCS(0))
	assert.Equal(t, [][2]int{{3, 6}}, told, "only the call that changes it is told")

	a()
	a()
	assert.Equal(t, 8, runtime.GOMAXPROCS(0), "kept while there is a holder")
	c := RaiseProcsFunc(Procs{Sleep: 4}, tell)
	assert.Equal(t, 8, runtime.GOMAXPROCS(0), "what was given back is used again")
	low()
	b()
	c()
	c()
	assert.Equal(t, 3, runtime.GOMAXPROCS(0))
	assert.Equal(t, 3, ProcsChanges()-start)

	RaiseProcs(7)()
	assert.Equal(t, 3, runtime.GOMAXPROCS(0), "a second generation starts afresh")
	assert.Panics(t, func() { RaiseProcs(-1) })
}

// Goroutines that take turns on the cores need no more Ps than there are cores, however
// many there are; goroutines that sleep with their P need one each.
func TestRaiseProcs_is_bounded(t *testing.T) {
	found := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(found)
	var restore []func()
	for range 64 {
		restore = append(restore, RaiseProcsFunc(Procs{Compute: 4}, nil))
	}
	assert.Equal(t, 2*NumCores()+1, runtime.GOMAXPROCS(0))
	restore = append(restore, RaiseProcs(3))
	assert.Equal(t, 2*NumCores()+3+1, runtime.GOMAXPROCS(0))
	for _, f := range restore {
		f()
	}
	assert.Equal(t, 1, runtime.GOMAXPROCS(0))
	defer RaiseProcsFunc(Procs{Compute: 1}, nil)()
	assert.Equal(t, 2, runtime.GOMAXPROCS(0), "nothing is left of the old sum")
}

func TestRaiseProcs_leaves_the_number_of_the_program(t *testing.T) {
	found := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(found)
	restore := RaiseProcs(5)
	runtime.GOMAXPROCS(9)
	restore()
	assert.Equal(t, 9, runtime.GOMAXPROCS(0))
}

func TestRaiseProcs_concurrent(t *testing.T) {
	found := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				restore := RaiseProcs(3)
				assert.GreaterOrEqual(t, runtime.GOMAXPROCS(0), 4)
				restore()
			}
		})
	}
	wg.Wait()
	assert.Equal(t, found, runtime.GOMAXPROCS(0))
}
