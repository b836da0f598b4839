package dds

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A kind of message that loses is switched off, another one is not; if all together lose,
// the mode is off.
func TestAccount(t *testing.T) {
	e := &Endpoint{consts: Constants{Arm: time.Microsecond, Retire: time.Microsecond, Fault: 100 * time.Microsecond, Gap: 1, RTT: 10 * time.Microsecond}}
	transfer := func(tag int, stall time.Duration) *Transfer {
		x := &Transfer{e: e, tag: tag, head: header{size: 1 << 20}, returned: 1000, lastLanded: 1000 + 1e6}
		x.reports = []StripReport{{From: 0, To: 1 << 20, Armed: true, Faults: 1, Stall: stall}}
		return x
	}
	good, bad := transfer(1, 0), transfer(2, time.Millisecond)
	assert.Equal(t, Gain{1, time.Millisecond, 2 * time.Microsecond}, good.gain(0))
	assert.Equal(t, Gain{1, 0, 102 * time.Microsecond}, bad.gain(0), "its reader waited all the time")
	assert.Equal(t, 400*time.Microsecond, good.gain(600*time.Microsecond).Hidden, "the program waited elsewhere")
	late := transfer(3, 0)
	late.lastLanded += 1e9
	assert.InDelta(t, 1.06e6, float64(late.gain(0).Hidden), 1e4, "its end was noticed late")

	a := account{adaptive: true, kinds: map[kindOfMessage]*Gain{}}
	for i := range 2 * enoughOfKind {
		assert.True(t, a.pays(good.kind()))
		assert.Equal(t, i < enoughOfKind, a.pays(bad.kind()))
		a.note(good)
		a.note(bad)
	}
	off, all := a.lost()
	assert.Equal(t, []int{1, 2}, []int{off, all})
	assert.True(t, a.pays(late.kind()), "an unknown kind may")
	for range 100 {
		a.note(bad)
	}
	assert.False(t, a.pays(late.kind()), "the mode is off")

	a = account{kinds: map[kindOfMessage]*Gain{}}
	for range 100 {
		a.note(bad)
	}
	assert.True(t, a.pays(bad.kind()), "without Adaptive nothing is switched off")
}

func TestConstants_pays(t *testing.T) {
	k := Constants{Gap: 8, Fault: 20 * time.Microsecond, Arm: time.Microsecond, ArmPage: 100, Retire: time.Microsecond, RetPage: 100}
	n, ok := k.Pays()
	assert.True(t, ok)
	assert.Equal(t, 256<<10, n)
	for _, adaptive := range []bool{false, true} { // a message below that length
		a := account{adaptive: adaptive}
		assert.Equal(t, !adaptive, a.worth(k, n/2, false))
		assert.True(t, a.worth(k, n, false))
	}
	k.Gap = 0.04
	_, ok = k.Pays()
	assert.False(t, ok, "too fast")
	_, ok = Constants{Gap: 0.8, Fault: 2700, Arm: 1000, ArmPage: 70, Retire: 500, RetPage: 50}.Pays()
	assert.False(t, ok, "10 Gbit/s where faults are fast")
	k.Gap, k.Fault = 8, 0
	_, ok = k.Pays()
	assert.False(t, ok, "readers cannot be made to wait")
}
