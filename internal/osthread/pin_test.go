package osthread

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Pins of one thread, released in every order: the latest that is left holds, and the
// mask that was found comes back at the end.
func TestPinTo_in_every_order(t *testing.T) {
	if Usable().Count() < 2 {
		t.Skip("needs two cores")
	}
	cores := Usable().List()
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		finishes(t, onThread(func() {
			found, err := Affinity()
			assert.NoError(t, err)
			live := make([]*Pin, 3)
			for i := range live {
				live[i], err = PinTo(cores[i%2])
				assert.NoError(t, err)
			}
			for _, i := range order {
				assert.NoError(t, live[i].Release())
				live[i] = nil
				want := found
				for j, p := range live {
					if p != nil {
						want = CPUSetOf(cores[j%2])
					}
				}
				got, err := Affinity()
				assert.NoError(t, err)
				assert.Equal(t, want, got, "order %v, after %d", order, i)
			}
			assert.Empty(t, pins.threads, "nothing is kept")
		}))
	}
}

func TestPinTo_a_core_that_does_not_exist(t *testing.T) {
	finishes(t, onThread(func() {
		found, err := Affinity()
		if errors.Is(err, errors.ErrUnsupported) {
			return
		}
		p, err := PinTo(MaxCPUs - 1)
		assert.Error(t, err)
		assert.Nil(t, p)
		after, _ := Affinity()
		assert.Equal(t, found, after)
		assert.Empty(t, pins.threads)
	}))
}
