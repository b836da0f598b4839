package deps

import "slices"

// tracer reports each dependence of a tracker once.
type tracer struct {
	tell  func(pred, succ uint64, waits bool)
	succ  uint64
	preds []uint64 // predecessors of succ reported so far
}

const fewPreds = 64 // more are not compared: a duplicate may be reported

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
