package trace

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// page is the data block of a page, as WriteHTML documents it.
type page struct {
	Answer *struct {
		Lines    []string
		From, To int64
	}
	Compared []*comparedLabel
	Elapsed  int64
	Slots    int
	Summary  string
	Cut      *struct{ Tasks, Messages, States, Limit, At int64 }
	Labels   []pageLabel
	Kinds    []pageLabel
	Ranks    []struct {
		Name           string
		Rank           int
		Begin, End     int64
		Count          struct{ Tasks, Messages, Edges, Spans int }
		Lanes          []pageLane
		Tasks          pageColumns
		From, Waits    pageNumbers
		Path, Messages pageColumns
	}
}

type pageLane struct {
	Name, Role string
	Columns    pageColumns
}

type pageColumns map[string]pageNumbers

// pageNumbers is a column with its differences added up.
type pageNumbers []int64

func (p *pageNumbers) UnmarshalJSON(b []byte) error {
	var differences []*int64
	if err := json.Unmarshal(b, &differences); err != nil {
		return err
	}
	*p = make(pageNumbers, len(differences))
	last := int64(0)
	for i, d := range differences {
		(*p)[i] = none
		if d != nil {
			last += *d
			(*p)[i] = last
		}
	}
	return nil
}

// readPage takes the data block out of a page, and checks that nothing can end
// its elements but their own ends.
func readPage(t *testing.T, text string) (p page) {
	t.Helper()
	require.Equal(t, 2, strings.Count(text, "<script"), "beginnings of scripts")
	require.Equal(t, 2, strings.Count(text, "</script"), "ends of scripts")
	require.NotContains(t, text, "<!--")
	_, block, found := strings.Cut(text, `<script type="application/json" id="data">`)
	require.True(t, found)
	block, _, found = strings.Cut(block, "</script>")
	require.True(t, found)
	require.NoError(t, json.Unmarshal([]byte(block), &p))
	return p
}

func writePage(t *testing.T, limit int, logs ...*dataflow.Log) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteHTMLLimit(&b, limit, logs...))
	return b.String()
}

// Every task, dependence, span and message of a run is on its page, with the
// numbers of the model.
func TestPageHoldsTheRun(t *testing.T) {
	random, _, _ := simulate(rand.New(rand.NewPCG(1, 2)), 300, 3)
	for name, logs := range map[string][]*dataflow.Log{"cholesky": {cholesky()}, "halo": twoRanks(), "random": {random}, "empty": {{}}} {
		t.Run(name, func(t *testing.T) {
			r, err := newRun(logs)
			require.NoError(t, err)
			p := readPage(t, writePage(t, HTMLLimit, logs...))
			assert.Nil(t, p.Cut)
			assert.Equal(t, r.end, p.Elapsed)
			require.Len(t, p.Ranks, len(r.ranks))
			for i := range r.ranks {
				requireTasks(t, &r.ranks[i], p, i)
				requireSpans(t, &r.ranks[i], p, i)
				requireLetters(t, r, p, i)
			}
			var text bytes.Buffer
			require.NoError(t, WriteSummary(&text, logs...))
			assert.True(t, strings.HasSuffix(text.String(), p.Summary), p.Summary)
			if p.Answer != nil {
				assert.Equal(t, text.String(), strings.Join(p.Answer.Lines, "\n")+"\n\n"+p.Summary)
			}
		})
	}
}

func requireTasks(t *testing.T, p *process, on page, i int) {
	got := on.Ranks[i]
	require.Equal(t, len(p.tasks), got.Count.Tasks)
	edge := 0
	for id := range p.tasks {
		task, at := &p.tasks[id], func(name string) int64 { return got.Tasks[name][id] }
		require.Equal(t, int64(task.number), at("number"))
		require.Equal(t, p.labelName(task.label), on.Labels[at("label")].Name)
		require.Equal(t, int64(task.parent), at("parent"))
		require.Equal(t, int64(task.track), at("lane"))
		require.Equal(t, task.failed, at("flags")&pageFailed != 0)
		require.Equal(t, task.skipped, at("flags")&pageSkipped != 0)
		for name, want := range map[string]int64{"spawned": task.spawned, "start": task.start, "end": task.end, "done": task.done, "ready": p.readyTime(int32(id))} {
			if want != none {
				want += p.shift
			}
			require.Equal(t, want, at(name), name)
		}
		preds := p.deps.preds(int32(id))
		require.Equal(t, int64(len(preds)), at("preds"))
		for _, q := range preds {
			require.Equal(t, int64(q), got.From[edge])
			require.Equal(t, p.deps.waits[edge], got.Waits[edge] == 1)
			edge++
		}
	}
	require.Equal(t, edge, got.Count.Edges)
	require.Len(t, got.From, edge)
	path := newPaths(p.model, false)
	p.replay(path)
	sum := int64(0)
	for _, own := range got.Path["own"] {
		sum += own
	}
	require.Equal(t, path.total(), sum, "critical path")
}

func requireSpans(t *testing.T, p *process, on page, i int) {
	all := 0
	for k := range p.tracks {
		lane, n := on.Ranks[i].Lanes[k], 0
		require.Contains(t, lane.Name, p.tracks[k].name)
		for _, o := range p.tracks[k].ops {
			if !o.kind.span() {
				continue
			}
			want := []int64{p.shift + o.at, p.shift + o.end, int64(o.task), int64(o.kind)}
			c := lane.Columns
			require.Equal(t, want, []int64{c["at"][n], c["end"][n], c["task"][n], c["kind"][n]})
			n++
		}
		require.Len(t, lane.Columns["depth"], n)
		all += n
	}
	require.Equal(t, all, on.Ranks[i].Count.Spans)
}

func requireLetters(t *testing.T, r *run, on page, i int) {
	p, got := &r.ranks[i], on.Ranks[i]
	require.Equal(t, len(p.messages), got.Count.Messages)
	for k := range p.messages {
		m, at := &p.messages[k], func(name string) int64 { return got.Messages[name][k] }
		require.Equal(t, []int64{p.shift + m.ready, p.shift + m.posted, p.shift + m.done}, []int64{at("ready"), at("posted"), at("done")})
		require.Equal(t, []int64{m.bytes, int64(m.task), int64(m.peer), int64(m.tag), int64(m.seq)}, []int64{at("bytes"), at("task"), at("peer"), at("tag"), at("seq")})
		require.Equal(t, m.kind, on.Kinds[at("kind")].Name)
		require.Equal(t, m.mate, messageRef{int32(at("mateRank")), int32(at("mate"))})
		require.Equal(t, m.direction == dirOut, at("flags")&pageOut != 0)
	}
}

// hostile is a run whose names try to become a part of the page.
func hostile() *dataflow.Log {
	b := newBuilder(1, `worker 0</script><script>window.hacked=1</script>`)
	b.log.Host = `"><img src=x onerror="window.hacked=1">`
	first := b.spawn(0, 1*us, `</script><script>window.hacked = 1</script>`, 0)
	b.spawn(0, 2*us, "<!-- <script> \u2028 ' \" & \\ \x00 \xff", 0, first)
	b.log.Labels[0].File = `</style><b>/x.go`
	b.run(0, 3*us, 10*us, 1)
	b.run(0, 10*us, 20*us, 2)
	b.message(dataflow.Message{Task: 1, Kind: "</script>", Comm: 1, Peer: 1 << 62, Tag: -1 << 62, Seq: 1 << 63}, 11*us, 12*us, 13*us)
	b.log.Elapsed = 25 * us
	return &b.log
}

func TestPageKeepsHostileNamesAsText(t *testing.T) {
	text := writePage(t, HTMLLimit, hostile())
	p := readPage(t, text)
	assert.Equal(t, `</script><script>window.hacked = 1</script>`, p.Labels[0].Name)
	assert.Equal(t, `style><b>/x.go:10`, p.Labels[0].Source)
	assert.Equal(t, "</script>", p.Kinds[0].Name)
	assert.Contains(t, p.Ranks[0].Name, `<img src=x`)
	assert.NotContains(t, text, "<img")
	assert.Equal(t, pageNumbers{largest}, p.Ranks[0].Messages["peer"], "a script can hold it")
}

// The parts of the page themselves contain nothing that ends them early, and no
// address of anything outside.
func TestPagePartsAreSound(t *testing.T) {
	scripts := pageData + pageLanes + pageDraw + pagePanel + pageInput + pageSelfcheck
	for _, bad := range []string{"</", "<!--", "http:", "https:", "innerHTML", "eval(", "import "} {
		assert.NotContains(t, scripts, bad)
	}
	for _, bad := range []string{"http", "url(", "@import"} {
		assert.NotContains(t, pageStyle, bad)
	}
	assert.NotContains(t, pageFrame, "src=")
}

// A page that is too small holds a prefix of the run and says how much is missing.
func TestPageSaysWhatIsLeftOut(t *testing.T) {
	l, _, _ := simulate(rand.New(rand.NewPCG(3, 4)), 200, 2)
	whole, p := readPage(t, writePage(t, HTMLLimit, l)), readPage(t, writePage(t, 50, l))
	got, all := p.Ranks[0], whole.Ranks[0]
	require.NotNil(t, p.Cut)
	assert.LessOrEqual(t, got.Count.Tasks, 50)
	assert.Greater(t, got.Count.Tasks, 40)
	assert.Equal(t, int64(200-got.Count.Tasks), p.Cut.Tasks)
	assert.Equal(t, int64(50), p.Cut.Limit)
	assert.Equal(t, whole.Summary, p.Summary, "figures are of the whole run")
	kept := map[int64]bool{}
	for i, number := range got.Tasks["number"] {
		kept[number] = true
		assert.Less(t, got.Tasks["start"][i], p.Cut.At)
	}
	for i, number := range all.Tasks["number"] {
		assert.Equal(t, all.Tasks["start"][i] < p.Cut.At, kept[number], "task %d", number)
	}
	for i, at := range got.Lanes[0].Columns["at"] {
		assert.Less(t, at, p.Cut.At)
		if task := got.Lanes[0].Columns["task"][i]; task != none {
			assert.Equal(t, at, got.Tasks["start"][task])
		}
	}
}

func TestPageCutsRanksAtOneMoment(t *testing.T) {
	p := readPage(t, writePage(t, 3, twoRanks()...))
	require.NotNil(t, p.Cut)
	assert.Positive(t, p.Cut.Messages)
	for _, r := range p.Ranks {
		assert.LessOrEqual(t, r.Count.Messages, 3)
		for i, posted := range r.Messages["posted"] {
			assert.Less(t, posted, p.Cut.At)
			if rank := r.Messages["mateRank"][i]; rank != none {
				assert.Less(t, r.Messages["mate"][i], int64(p.Ranks[rank].Count.Messages), "mates are on the page")
			}
		}
	}
	nothing := readPage(t, writePage(t, 0, cholesky()))
	assert.Zero(t, nothing.Ranks[0].Count.Tasks)
	assert.Equal(t, int64(10), nothing.Cut.Tasks)
}

// requirePage checks the counts of a page of any logs.
func requirePage(t *testing.T, text string) {
	for _, r := range readPage(t, text).Ranks {
		require.Len(t, r.Tasks["number"], r.Count.Tasks)
		require.Len(t, r.Messages["posted"], r.Count.Messages)
		require.Len(t, r.From, r.Count.Edges)
		require.Len(t, r.Waits, r.Count.Edges)
		for _, l := range r.Lanes {
			for i, end := range l.Columns["end"] {
				require.GreaterOrEqual(t, end, l.Columns["at"][i])
				if i > 0 {
					require.GreaterOrEqual(t, l.Columns["at"][i], l.Columns["at"][i-1])
				}
			}
		}
	}
}

// A dependence on an ended task counts as a dependence, but not as a wait.
func TestDependenceOnEndedTask(t *testing.T) {
	l := &dataflow.Log{Workers: []dataflow.WorkerLog{{Name: "worker 0", Events: []dataflow.Event{
		{Task: 1, Kind: dataflow.EventSpawn}, {Task: 2, Kind: dataflow.EventSpawn},
		{Task: 3, Arg: 2, Kind: dataflow.EventEdge}, {Task: 3, Arg: 1, Arg2: 1, Kind: dataflow.EventEdge},
		{Task: 3, Arg: 2, Kind: dataflow.EventEdge}, {Task: 3, Kind: dataflow.EventSpawn},
	}}}}
	m := newModel(l)
	require.Equal(t, []int32{0, 1}, m.deps.preds(2))
	require.Equal(t, []bool{true, false}, m.deps.waits)
	on := readPage(t, writePage(t, 100, l)).Ranks[0]
	require.Equal(t, pageNumbers{1, 0}, on.Waits)
}
