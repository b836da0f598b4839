package task

import (
	"errors"

	"github.com/weft-hpc/weft/deps"
)

// ErrOvertaken is the error of a task with a lazy access whose message failed after it
// had begun to arrive.
var ErrOvertaken = errors.New("the message that a lazy access was reading has failed: its missing bytes are not numbers")

// Arriving makes the end of r one in two steps: lazy reads of what it writes wait for a
// only, which the executor of r releases when the first bytes have arrived and nothing
// but the network holds up the rest; at the latest before r ends. Inserter, before r is
// committed.
func (d *Domain) Arriving(r *Record, a *deps.Arrival) { d.Tracker.Arriving(&r.Node, a) }

// overtakes notes the tasks whose end r does not wait for.
func (r *Record) overtakes(a []*deps.Arrival) {
	if len(a) > 0 {
		c := r.Cold()
		c.Overtakes = append(c.Overtakes, a...)
	}
}

// Overtaken returns ErrOvertaken if what r has read, or may have, while it arrived was
// lost. Called when r has no references left.
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
