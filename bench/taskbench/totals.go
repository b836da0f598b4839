package main

// totals counts what one run of some graphs does.
type totals struct {
	tasks, dependences, flops, bytes int64
}

// countAll adds up the totals of graphs.
func countAll(graphs []*graph) totals {
	var sum totals
	for _, g := range graphs {
		c := g.count()
		sum.tasks += c.tasks
		sum.dependences += c.dependences
		sum.flops += c.flops
		sum.bytes += c.bytes
	}
	return sum
}

// count walks over the timesteps of one graph. It visits single tasks only where they
// differ: in clipped timesteps and under load_imbalance.
func (g *graph) count() totals {
	var c totals
	perSet := make([]int64, len(g.rows))
	for i, row := range g.rows {
		for p := range row {
			perSet[i] += int64(len(row[p].deps))
		}
	}
	for t := range g.steps {
		row := g.row(t)
		c.tasks += int64(len(row))
		if g.clips || t == 0 {
			c.dependences += clippedDependences(row, t)
		} else {
			c.dependences += perSet[g.set(t)*g.fields+t%g.fields]
		}
		c.flops += g.rowFLOPs(row, t)
	}
	c.bytes = c.tasks * g.kernel.bytes(g.scratch)
	return c
}

// clippedDependences counts the inputs of the tasks of timestep t one by one.
func clippedDependences(row []record, t int) int64 {
	var n int64
	for p := range row {
		lo, hi := row[p].span(t)
		n += int64(hi - lo)
	}
	return n
}

// rowFLOPs counts the operations of the tasks of timestep t.
func (g *graph) rowFLOPs(row []record, t int) int64 {
	if g.kind != loadImbalance {
		return int64(len(row)) * g.flops(g.index, int64(t), 0)
	}
	var n int64
	for p := range row {
		n += g.flops(g.index, int64(t), row[p].point)
	}
	return n
}
