package dds

// FailFlight gives the oldest unfinished transfer of an operation an error; false if there
// is none.
func (w *Wrapped) FailFlight(err error) bool {
	if len(w.tool.flights) == 0 {
		return false
	}
	t := w.tool.flights[0]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
	return true
}

// Envelope returns the length of a header with the ends of a message.
func (w *Wrapped) Envelope() int { return w.tool.envelope }

// HeaderLike returns a plain message that looks like such a header.
func (w *Wrapped) HeaderLike() []byte {
	b := make([]byte, w.tool.envelope)
	h := header{size: 1 << 20, edge: w.tool.e.edge, cut: cut{Count: 1, Grow: 1}}
	h.put(b)
	return b
}

// Missing returns the number of missing strips of receives that have returned.
func (w *Wrapped) Missing() int {
	n := 0
	for _, t := range w.tool.flights {
		if !t.send {
			n += t.Missing()
		}
	}
	return n
}

// Ended reports whether no transfer of an earlier operation is unfinished.
func (w *Wrapped) Ended() bool {
	for _, t := range w.tool.flights {
		for _, c := range t.calls {
			if !c.Done() {
				return false
			}
		}
	}
	return true
}

// SwitchOff switches early returns off, as [Adaptive] does when all messages together lose. An Alltoall stays made of messages.
func (w *Wrapped) SwitchOff() {
	w.tool.account.adaptive, w.tool.account.off = true, true
	w.tool.spreading = spreading{settled: true, messages: true}
}

// Spreading reports whether the last Alltoall was made of messages, and whether that has been decided.
func (w *Wrapped) Spreading() (messages, settled bool) {
	s := &w.tool.spreading
	if s.settled {
		return s.messages, true
	}
	return s.trial.Second(), false
}
