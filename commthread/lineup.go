package commthread

// lineup holds operations that may be posted: highest priority first, then in order of
// arrival. It reuses its memory.
type lineup struct {
	ops    []*operation
	head   int // index in ops of the first remaining one
	ranked int // operations with a priority
}

func (l *lineup) len() int { return len(l.ops) - l.head }

// all returns the operations in the order in which they came.
func (l *lineup) all() []*operation { return l.ops[l.head:] }

func (l *lineup) push(o *operation) {
	if len(l.ops) == cap(l.ops) && l.head > len(l.ops)/2 { // close the gap instead of growing
		n := copy(l.ops, l.ops[l.head:])
		clear(l.ops[n:])
		l.ops, l.head = l.ops[:n], 0
	}
	l.ops = append(l.ops, o)
	if o.Prio != 0 {
		l.ranked++
	}
}

// pop takes the next operation; the lineup must not be empty.
func (l *lineup) pop() *operation {
	at := l.head
	if l.ranked > 0 {
		for i := at; i < len(l.ops); i++ {
			if l.ops[i].Prio > l.ops[at].Prio {
				at = i
			}
		}
	}
	o := l.ops[at]
	copy(l.ops[l.head+1:at+1], l.ops[l.head:at])
	l.ops[l.head] = nil
	if l.head++; l.head == len(l.ops) {
		l.ops, l.head = l.ops[:0], 0
	}
	if o.Prio != 0 {
		l.ranked--
	}
	return o
}
