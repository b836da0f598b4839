package deps

import "testing"

// In each benchmark one inserter also ends the tasks; 64 of them (1000 where live regions
// matter) are unfinished at a time.

// The cost of one access to a known region with nothing to wait for. Per access; Begin,
// Commit and Release are shared by 8.
func BenchmarkAccessKnownRegion(b *testing.B) {
	for _, m := range []Mode{In, Inout} {
		b.Run(m.String(), func(b *testing.B) {
			w := newWindow(1)
			for i := 0; i < b.N; i += 8 {
				n, e := w.node(), int32(0)
				for k := range 8 {
					e += w.access1(n, far(64*((i+k)%128), 64), m)
				}
				n.Commit(e)
			}
		})
	}
}

// A task of Task Bench's periodic one-dimensional stencil, four cells wide: three inputs of
// the last step, one output. Per task, with Begin, Commit and Release.
func BenchmarkStencilTask(b *testing.B) {
	for _, c := range []struct {
		name       string
		unfinished int
	}{{"unfinished=1", 1}, {"unfinished=64", 64}, {"unfinished=1000", 1000}} {
		b.Run(c.name, func(b *testing.B) {
			const width = 4
			var cell [2][width]Region
			for f := range cell {
				for i := range cell[f] {
					cell[f][i] = far(64*(f*width+i), 64)
				}
			}
			w := newWindow(c.unfinished)
			for i := range b.N {
				from := &cell[i/width%2]
				n := w.node()
				e := w.access1(n, from[(i+width-1)%width], In)
				e += w.access1(n, from[i%width], In)
				e += w.access1(n, from[(i+1)%width], In)
				e += w.access1(n, cell[1-i/width%2][i%width], Out)
				n.Commit(e)
			}
		})
	}
}

// A task that updates one of 1000 busy regions, each of which overlaps its neighbours: once
// with a fixed set of regions, once with ever new ones.
func BenchmarkOverlapTask(b *testing.B) {
	const live = 1000
	b.Run("known", func(b *testing.B) {
		w := newWindow(live)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, far(64*(i*7%live), 96), Inout))
		}
	})
	b.Run("new", func(b *testing.B) {
		w := newWindow(live)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, far(64*(i*7%live)+i/live%64, 96), Inout))
		}
	})
	b.Run("moving", func(b *testing.B) {
		w := newWindow(live)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, far(64*i, 96), Inout))
		}
	})
}

// The first touch of every tile of a matrix of 64 x 64 tiles, when its tasks
// end at once and when they are all unfinished. Per tile.
func BenchmarkFirstTouchOfTiles(b *testing.B) {
	const tiles, rows = 64, 32 * 8
	for _, c := range []struct {
		name       string
		unfinished int
	}{{"unfinished=1", 1}, {"unfinished=4096", tiles * tiles}} {
		b.Run(c.name, func(b *testing.B) {
			w := newWindow(c.unfinished)
			for i := range b.N {
				k := i % (tiles * tiles)
				if k == 0 {
					w.Reset()
				}
				n := w.node()
				r := Region{base: farAway + uintptr(k%tiles*rows+k/tiles*32*tiles*rows), rows: rows, cols: 32, ld: tiles * rows}
				n.Commit(w.access1(n, r, Inout))
			}
		})
	}
}

// One writer, then 255 readers that wait for it. Per task.
func BenchmarkManyReaders(b *testing.B) {
	w := newWindow(256)
	for i := range b.N {
		m := In
		if i%256 == 0 {
			m = Out
		}
		n := w.node()
		n.Commit(w.access1(n, far(0, 64), m))
	}
}

// A group of 16 readers after a group of 16 concurrent accesses: joins. Per task.
func BenchmarkAlternatingGroups(b *testing.B) {
	w := newWindow(64)
	for i := range b.N {
		m := In
		if i/16%2 == 0 {
			m = Concurrent
		}
		n := w.node()
		n.Commit(w.access1(n, far(0, 64), m))
	}
}

// A new region for every task. Per task.
func BenchmarkNewRegion(b *testing.B) {
	b.Run("interval", func(b *testing.B) {
		w := newWindow(64)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, far(64*i, 64), Out))
		}
	})
	b.Run("handle", func(b *testing.B) {
		w := newWindow(64)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, Handle(uintptr(i)), Out))
		}
	})
	b.Run("prefix", func(b *testing.B) { // all begin at one address and overlap
		w := newWindow(64)
		for i := range b.N {
			n := w.node()
			n.Commit(w.access1(n, far(0, 1+i%4096), In))
		}
	})
}

func BenchmarkOverlaps(b *testing.B) {
	interval := far(0, 4096)
	tile := Region{base: farAway, rows: 256, cols: 32, ld: 64 * 256}
	side := Region{base: farAway + 256, rows: 256, cols: 32, ld: 64 * 256}
	other := Region{base: farAway + 300, rows: 100, cols: 8, ld: 60 * 256}
	for _, c := range []struct {
		name string
		a, b Region
	}{{"intervals", interval, far(64, 64)}, {"tiles", tile, side}, {"interval and tile", interval, side}, {"other stride", tile, other}} {
		b.Run(c.name, func(b *testing.B) {
			hits := 0
			for range b.N {
				if c.a.Overlaps(c.b) {
					hits++
				}
			}
			sink = hits
		})
	}
}

var sink int
