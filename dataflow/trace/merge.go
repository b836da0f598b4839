package trace

import "iter"

// merge yields the elements of several sorted streams in one sorted order,
// each with the number of its stream. Within a stream the order is kept, equal
// elements of different streams come as less says, then by stream. Cost:
// O(log streams) comparisons per element.
func merge[T any](streams [][]T, less func(a, b *T) bool) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		h := heads[T]{less: less}
		for i, s := range streams {
			if len(s) > 0 {
				h.live = append(h.live, head[T]{stream: i, rest: s})
			}
		}
		for i := len(h.live)/2 - 1; i >= 0; i-- {
			h.sink(i)
		}
		for len(h.live) > 0 {
			top := &h.live[0]
			if !yield(top.stream, &top.rest[0]) {
				return
			}
			h.next()
		}
	}
}

// head is a stream from its next element on.
type head[T any] struct {
	stream int
	rest   []T
}

// heads is a binary heap of streams by their next element.
type heads[T any] struct {
	live []head[T]
	less func(a, b *T) bool
}

// next drops the smallest element.
func (h *heads[T]) next() {
	top := &h.live[0]
	if top.rest = top.rest[1:]; len(top.rest) == 0 {
		last := len(h.live) - 1
		h.live[0] = h.live[last]
		h.live = h.live[:last]
	}
	h.sink(0)
}

func (h *heads[T]) before(i, j int) bool {
	a, b := &h.live[i], &h.live[j]
	if h.less(&a.rest[0], &b.rest[0]) {
		return true
	}
	return a.stream < b.stream && !h.less(&b.rest[0], &a.rest[0])
}

// sink restores the heap below i.
func (h *heads[T]) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.live) {
			return
		}
		if child+1 < len(h.live) && h.before(child+1, child) {
			child++
		}
		if !h.before(child, i) {
			return
		}
		h.live[i], h.live[child] = h.live[child], h.live[i]
		i = child
	}
}
