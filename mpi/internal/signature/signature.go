// Package signature compares the collective calls of different ranks.
package signature

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weft-hpc/weft/internal/engine"
)

// Signature holds the arguments that the calls of all ranks for one collective share.
type Signature struct {
	Kind  engine.CallKind
	Root  int
	Op    string
	Elem  engine.Kind
	Bytes int // -1 if ranks may differ
}

// Of returns the signature of a collective call.
func Of(c *engine.Call) Signature {
	s := Signature{Kind: c.Kind, Root: engine.NoPeer, Bytes: -1}
	if c.Kind.HasPeer() {
		s.Root = c.Peer
	}
	if c.Op != nil {
		s.Op = c.Op.Name()
	}
	own := c.Send
	if c.Kind == engine.CallBcast || own.IsInPlace() || own.Kind() == engine.KindNone {
		own = c.Recv
	}
	s.Elem = own.Kind()
	switch c.Kind {
	case engine.CallBcast, engine.CallReduce, engine.CallAllreduce, engine.CallScan, engine.CallExscan, engine.CallReduceScatter:
		s.Bytes = own.Bytes()
	case engine.CallAllgather:
		if c.RecvCounts == nil {
			s.Bytes = c.Recv.Bytes()
		}
	case engine.CallAlltoall:
		if c.SendCounts == nil {
			s.Bytes = c.Recv.Bytes()
		}
	}
	return s
}

// Fits reports whether both can be calls of one collective.
func (s Signature) Fits(t Signature) bool {
	return s.Kind == t.Kind && s.Root == t.Root && s.Op == t.Op &&
		(s.Elem == t.Elem || s.Elem == engine.KindNone || t.Elem == engine.KindNone) &&
		(s.Bytes == t.Bytes || s.Bytes < 0 || t.Bytes < 0)
}

// String describes the call for errors.
func (s Signature) String() string {
	text := s.Kind.String()
	switch {
	case s.Root != engine.NoPeer && s.Op != "":
		text += fmt.Sprintf(" (%s, root %d)", s.Op, s.Root)
	case s.Root != engine.NoPeer:
		text += fmt.Sprintf(" (root %d)", s.Root)
	case s.Op != "":
		text += fmt.Sprintf(" (%s)", s.Op)
	}
	if s.Bytes >= 0 {
		text += fmt.Sprintf(" of %d bytes of %v", s.Bytes, s.Elem)
	}
	return text
}

// Encode returns the signature as Decode reads it.
func (s Signature) Encode() string {
	return fmt.Sprintf("%d %d %d %d %s", uint8(s.Kind), s.Root, uint8(s.Elem), s.Bytes, s.Op)
}

// Decode reads the text of Encode. It reports false for any other text.
func Decode(text string) (s Signature, ok bool) {
	fields := strings.SplitN(text, " ", 5)
	if len(fields) != 5 {
		return s, false
	}
	var n [4]int
	for i := range n {
		x, err := strconv.Atoi(fields[i])
		if err != nil {
			return s, false
		}
		n[i] = x
	}
	return Signature{Kind: engine.CallKind(n[0]), Root: n[1], Elem: engine.Kind(n[2]), Bytes: n[3], Op: fields[4]}, true
}
