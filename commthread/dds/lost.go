package dds

// Lost reports whether bytes of the transfer will never come. A reader asks at the end of
// its work on the buffer: only missing bytes can have been replaced. Any goroutine.
func (t *Transfer) Lost() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.err != nil
	}
	for i := range t.strips {
		if t.strips[i].is(failed) {
			return true
		}
	}
	return false
}
