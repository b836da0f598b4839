package deps

import "slices"

// tracer tells of the dependences of a tracker, once each.
type tracer struct {
	tell  func(pred, succ uint64, waits bool)
	succ  uint64
	preds []uint64 // told of succ
}

const fewPreds = 64 // that are compared

func (t *tracer) edge(pred, succ uint64, waits bool) {
	if t.succ != succ {
		t.succ, t.preds = succ, t.preds[:0]
	}
	if !slices.Contains(t.preds, pred) {
		if len(t.preds) < fewPreds {
			t.preds = append(t.preds, pred)
		}
		t.tell(pred, succ, waits)
	}
}
