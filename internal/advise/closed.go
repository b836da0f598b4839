package advise

// matchKey holds the properties that a send and its receive have in common.
type matchKey struct{ from, to, tag, comm int }

// meeting is a request of a pattern: one side of a message.
type meeting struct{ pattern, request int }

// meetings lists the sends and receives of the patterns by their key, in order.
func meetings(patterns []Pattern) (sends, recvs map[matchKey][]meeting) {
	sends, recvs = map[matchKey][]meeting{}, map[matchKey][]meeting{}
	for i, p := range patterns {
		for j := range p.Requests {
			m := &p.Requests[j]
			if m.Recv {
				w := matchKey{m.Peer, p.Rank, m.Tag, m.Comm}
				recvs[w] = append(recvs[w], meeting{i, j})
			} else {
				w := matchKey{p.Rank, m.Peer, m.Tag, m.Comm}
				sends[w] = append(sends[w], meeting{i, j})
			}
		}
	}
	return sends, recvs
}

// closed reports whether every send of the patterns has its receive, in order and in
// size, and every receive its send.
func closed(patterns []Pattern) bool {
	sends, recvs := meetings(patterns)
	for w, out := range sends {
		in := recvs[w]
		if len(in) != len(out) {
			return false
		}
		for i := range out {
			s, r := &patterns[out[i].pattern].Requests[out[i].request], &patterns[in[i].pattern].Requests[in[i].request]
			if s.Bytes() > r.Bytes() {
				return false
			}
		}
	}
	for w := range recvs {
		if len(sends[w]) != len(recvs[w]) {
			return false
		}
	}
	return true
}

// completes reports whether closed patterns, call after call as written, come to their end.
// Every rank waits in a call for the other ends of its messages, except for sends up to the
// eager limit. A rehearsal of such patterns cannot hang.
func completes(patterns []Pattern, eager int) bool {
	sends, recvs := meetings(patterns)
	other := map[meeting]meeting{}
	for w, out := range sends {
		for i := range out {
			other[out[i]], other[recvs[w][i]] = recvs[w][i], out[i]
		}
	}
	at := make([]int, len(patterns)) // the first request of the present call
	for moved := true; moved; {
		moved = false
		for p := range patterns {
			for at[p] < len(patterns[p].Requests) && passable(patterns, other, at, p, eager) {
				at[p] = callEnd(&patterns[p], at[p])
				moved = true
			}
		}
	}
	for p := range patterns {
		if at[p] < len(patterns[p].Requests) {
			return false
		}
	}
	return true
}

// callEnd returns the first request behind the call of request i.
func callEnd(p *Pattern, i int) int {
	call := p.Requests[i].Call
	for i < len(p.Requests) && p.Requests[i].Call == call {
		i++
	}
	return i
}

// passable reports whether the present call of pattern p returns while the other patterns
// are at the requests in at.
func passable(patterns []Pattern, other map[meeting]meeting, at []int, p, eager int) bool {
	for i := at[p]; i < callEnd(&patterns[p], at[p]); i++ {
		m := &patterns[p].Requests[i]
		o := other[meeting{p, i}]
		theirs := at[o.pattern]
		begun := theirs >= len(patterns[o.pattern].Requests) || o.request < callEnd(&patterns[o.pattern], theirs)
		if !begun && (m.Recv || m.Sync || m.Bytes() > eager) {
			return false
		}
	}
	return true
}
