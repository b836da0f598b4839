package trace

import (
	"fmt"
	"strconv"
)

// rank writes a rank of the data block.
func (w *pageWriter) rank(i int) {
	p := &w.r.ranks[i]
	tasks, edges, spans := w.tasksOf(i), w.edgesOf(i), 0
	lanes := make([][]pageSpan, len(p.tracks))
	for k := range p.tracks {
		lanes[k] = w.spansOf(i, k)
		spans += len(lanes[k])
	}
	messages := keptOf(w.sent[i])
	name := w.name(i)
	w.text(`{"name":`)
	w.value(name)
	w.text(`,"rank":` + strconv.Itoa(p.rank))
	w.text(`,"begin":` + strconv.FormatInt(p.shift, 10) + `,"end":` + strconv.FormatInt(p.shift+p.elapsed, 10) + `,"count":`)
	w.value(map[string]int{"tasks": len(tasks), "messages": len(messages), "edges": len(edges), "spans": spans})
	w.text(",\n\"lanes\":[")
	for k := range p.tracks {
		w.comma(k)
		w.lane(p, k, lanes[k])
	}
	w.text("],\n\"tasks\":")
	w.columns(len(tasks), w.taskColumns(i, tasks))
	w.text(",\n")
	w.column("from", len(edges), func(e int) int64 { return int64(edges[e].from) })
	w.text(",\n")
	w.column("waits", len(edges), func(e int) int64 { return flags(pageFlag{edges[e].waits, 1}) })
	w.text(",\n\"path\":")
	w.path(i)
	w.text(",\n\"messages\":")
	w.columns(len(messages), w.messageColumns(i, messages))
	w.text("}")
}

// name is the name of a rank; of two runs side by side it says which. "" if there is one.
func (w *pageWriter) name(i int) string {
	p := &w.r.ranks[i]
	switch {
	case w.r.alone:
		return ""
	case w.compared == nil:
		return p.name()
	case p.host == hostBefore:
		return fmt.Sprintf("before: rank %d", p.rank)
	}
	first := 0
	for k := range w.r.ranks {
		if w.r.ranks[k].host == hostBefore {
			first = max(first, w.r.ranks[k].rank+1)
		}
	}
	return fmt.Sprintf("after: rank %d", p.rank-first)
}

// keptOf lists the indices of the elements on the page.
func keptOf(places []int32) (kept []int32) {
	for k, at := range places {
		if at != none {
			kept = append(kept, int32(k))
		}
	}
	return kept
}

func (w *pageWriter) tasksOf(rank int) []int32 { return keptOf(w.kept[rank]) }

// edgesOf lists the dependences between tasks on the page, by their indices there.
func (w *pageWriter) edgesOf(rank int) (edges []edge) {
	for _, t := range w.tasksOf(rank) {
		edges = append(edges, w.edgesInto(rank, t)...)
	}
	return edges
}

func (w *pageWriter) edgesInto(rank int, t int32) (edges []edge) {
	d := &w.r.ranks[rank].deps
	for k, q := range d.preds(t) {
		if at := w.kept[rank][q]; at != none {
			edges = append(edges, edge{at, w.kept[rank][t], d.waits[d.into(t)+int32(k)]})
		}
	}
	return edges
}

// pageSpan is a span of a lane, on the time axis of its log.
type pageSpan struct {
	*op
	depth int64 // spans around it
}

// spansOf lists the spans of a track that begin before the cut, outer before
// inner. The tasks of all bodies among them are on the page.
func (w *pageWriter) spansOf(rank, track int) (spans []pageSpan) {
	p := &w.r.ranks[rank]
	depth := int64(0)
	ops := p.tracks[track].ops
	for i := range ops {
		switch o := &ops[i]; {
		case o.kind == opClose:
			depth--
		case o.kind.span():
			if p.shift+o.at < w.cut.at {
				spans = append(spans, pageSpan{o, depth})
			}
			depth++
		}
	}
	return spans
}

var pageRoles = [...]string{roleSubmitter: "worker", roleWorker: "worker", roleSpare: "spare", roleOther: "other"}

func (w *pageWriter) lane(p *process, k int, spans []pageSpan) {
	t := &p.tracks[k]
	name := t.name
	if t.core >= 0 {
		name += " (core " + strconv.Itoa(t.core) + ")"
	}
	w.text(`{"name":`)
	w.value(name)
	w.text(`,"role":"` + pageRoles[t.role] + `","columns":`)
	kept := w.kept[indexOf(w.r, p)]
	w.columns(len(spans), []pageColumn{
		{"at", func(i int) int64 { return p.shift + spans[i].at }},
		{"end", func(i int) int64 { return p.shift + spans[i].end }},
		{"task", func(i int) int64 { return at(kept, spans[i].task) }},
		{"kind", func(i int) int64 { return int64(spans[i].kind) }},
		{"depth", func(i int) int64 { return spans[i].depth }},
	})
	w.text("}")
}

// indexOf is the place of a rank in its run.
func indexOf(r *run, p *process) int {
	for i := range r.ranks {
		if &r.ranks[i] == p {
			return i
		}
	}
	return none
}

// at is the place on the page of a task, or unknown.
func at(places []int32, task int32) int64 {
	if task == none {
		return unknown
	}
	return int64(places[task])
}

// taskColumns are the columns of the tasks of a rank.
func (w *pageWriter) taskColumns(rank int, tasks []int32) []pageColumn {
	p := &w.r.ranks[rank]
	of := func(i int) *task { return &p.tasks[tasks[i]] }
	moment := func(t int64) int64 {
		if t == none {
			return unknown
		}
		return p.shift + t
	}
	lastLabel := int64(len(w.r.labels()))
	return []pageColumn{
		{"number", func(i int) int64 { return exactUnsigned(of(i).number) }},
		{"label", func(i int) int64 {
			if l := of(i).label; l != none {
				return int64(l)
			}
			return lastLabel
		}},
		{"parent", func(i int) int64 { return at(w.kept[rank], of(i).parent) }},
		{"spawned", func(i int) int64 { return moment(of(i).spawned) }},
		{"ready", func(i int) int64 { return moment(p.readyTime(tasks[i])) }},
		{"start", func(i int) int64 { return moment(of(i).start) }},
		{"end", func(i int) int64 { return moment(of(i).end) }},
		{"done", func(i int) int64 { return moment(of(i).done) }},
		{"body", func(i int) int64 { return w.accts[rank].books.body[tasks[i]] }},
		{"lane", func(i int) int64 { return int64(of(i).track) }},
		{"flags", func(i int) int64 {
			t := of(i)
			return flags(pageFlag{t.failed, pageFailed}, pageFlag{t.skipped, pageSkipped}, pageFlag{t.cut, pageCut}, pageFlag{t.waiter, pageWaiter})
		}},
		{"preds", func(i int) int64 { return int64(len(w.edgesInto(rank, tasks[i]))) }},
	}
}

// path writes the critical path of a rank from its end, with the time of each task on it.
func (w *pageWriter) path(rank int) {
	var tasks []int32
	own := map[int32]int64{}
	w.accts[rank].path.walk(func(s *strand) {
		if w.kept[rank][s.task] == none {
			return
		}
		if _, seen := own[s.task]; !seen {
			tasks = append(tasks, s.task)
		}
		own[s.task] += s.own
	})
	w.columns(len(tasks), []pageColumn{
		{"task", func(i int) int64 { return at(w.kept[rank], tasks[i]) }},
		{"own", func(i int) int64 { return own[tasks[i]] }},
	})
}

// messageColumns are the columns of the messages of a rank.
func (w *pageWriter) messageColumns(rank int, messages []int32) []pageColumn {
	p := &w.r.ranks[rank]
	of := func(i int) *message { return &p.messages[messages[i]] }
	mate := func(i int) (rank, at int64) {
		m := of(i).mate
		if m == noMate || w.sent[m.process][m.message] == none {
			return unknown, unknown
		}
		return int64(m.process), int64(w.sent[m.process][m.message])
	}
	return []pageColumn{
		{"ready", func(i int) int64 { return p.shift + of(i).ready }},
		{"posted", func(i int) int64 { return p.shift + of(i).posted }},
		{"moves", func(i int) int64 { return p.shift + of(i).moves }},
		{"done", func(i int) int64 { return p.shift + of(i).done }},
		{"bytes", func(i int) int64 { return of(i).bytes }},
		{"task", func(i int) int64 { return at(w.kept[rank], of(i).task) }},
		{"kind", func(i int) int64 { return w.kinds[of(i).kind] }},
		{"peer", func(i int) int64 { return exact(int64(of(i).peer)) }},
		{"tag", func(i int) int64 { return exact(int64(of(i).tag)) }},
		{"comm", func(i int) int64 { return int64(of(i).comm) }},
		{"seq", func(i int) int64 { return exactUnsigned(of(i).seq) }},
		{"flags", func(i int) int64 {
			s := of(i)
			return flags(pageFlag{s.failed, pageFailed}, pageFlag{s.open, pageOpen}, pageFlag{s.direction == dirOut, pageOut}, pageFlag{s.direction == dirIn, pageIn},
				pageFlag{s.direction != dirNone && s.mate == noMate, pageUnmatched})
		}},
		{"mateRank", func(i int) int64 { r, _ := mate(i); return r }},
		{"mate", func(i int) int64 { _, k := mate(i); return k }},
	}
}
