package task

import (
	"errors"

	"github.com/weft-hpc/weft/deps"
)

// ErrOvertaken is the error of a task with a lazy access whose message failed after it had
// begun to arrive.
var ErrOvertaken = errors.New("the message that a lazy access was reading has failed: its missing bytes are not numbers")

// Arriving lets lazy reads of r's data wait for a; all others wait for r. The executor of r
// releases a when the first bytes have arrived and only the network delays the rest; at the
// latest before r ends. Inserter only, before r is committed.
func (d *Domain) Arriving(r *Record, a *deps.Arrival) { d.Tracker.Arriving(&r.Node, a) }

// overtakes records the arrivals whose ends r does not wait for.
func (r *Record) overtakes(a []*deps.Arrival) {
	if len(a) > 0 {
		c := r.Cold()
		c.Overtakes = append(c.Overtakes, a...)
	}
}

// Overtaken returns ErrOvertaken if data that r may have read while they arrived were lost.
// Called when r has no references left.
func (r *Record) Overtaken() error {
	if c := r.PeekCold(); c != nil {
		for _, a := range c.Overtakes {
			if a.Lost() {
				return ErrOvertaken
			}
		}
	}
	return nil
}
