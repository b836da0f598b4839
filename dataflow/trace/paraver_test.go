package trace

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-hpc/weft/dataflow"
)

// prvTrace is a trace as read back.
type prvTrace struct {
	end            int64
	cpus           []int // by node
	tasks          []prvTask
	states, events map[int64]string           // meaning of states and of event types
	values         map[int64]map[int64]string // by event type; types without values take any
	colors         map[int64]bool
	rows           map[string][]string
	records        []prvRecord
}

// prvTask is a task of the header: its number of threads, and its node.
type prvTask struct{ threads, node int }

// prvRecord is a line of the .prv file after its kind: cpu, appl, task, thread, ...
type prvRecord struct {
	kind   int64
	fields []int64
}

// readParaver is the independent reader of the three files. It refuses what
// Paraver refuses or shows wrongly.
func readParaver(base string) (*prvTrace, error) {
	p := &prvTrace{states: map[int64]string{}, events: map[int64]string{}, values: map[int64]map[int64]string{},
		colors: map[int64]bool{}, rows: map[string][]string{}}
	for _, part := range []struct {
		suffix string
		read   func([]string) error
	}{{".pcf", p.readMeanings}, {".row", p.readNames}, {".prv", p.readRecords}} {
		text, err := os.ReadFile(base + part.suffix)
		if err != nil {
			return nil, err
		}
		if err := part.read(strings.Split(string(text), "\n")); err != nil {
			return nil, fmt.Errorf("%s: %w", part.suffix, err)
		}
	}
	threads := 0
	for _, task := range p.tasks {
		threads += task.threads
	}
	if len(p.rows["CPU"]) != p.cpusBefore(len(p.cpus)) || len(p.rows["THREAD"]) != threads || len(p.rows["NODE"]) != len(p.cpus) ||
		p.rows["TASK"] != nil && len(p.rows["TASK"]) != len(p.tasks) || p.rows["TASK"] == nil && len(p.tasks) > 1 {
		return nil, fmt.Errorf(".row does not fit the header")
	}
	return p, p.check()
}

var (
	prvNumbered = regexp.MustCompile(`^(\d+)\s+(.+)$`)
	prvTyped    = regexp.MustCompile(`^0\s+(\d+)\s+(.+)$`)
	prvColor    = regexp.MustCompile(`^(\d+)\s+\{(\d+),(\d+),(\d+)\}$`)
	prvHeader   = regexp.MustCompile(`^#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\((\d+(?:,\d+)*)\):1:(\d+)\((\d+:\d+(?:,\d+:\d+)*)\)$`)
	prvLevel    = regexp.MustCompile(`^LEVEL (\w+) SIZE (\d+)$`)
)

func (p *prvTrace) readMeanings(lines []string) error {
	section, kind := "", int64(0)
	for _, line := range lines {
		if line == "" {
			continue
		}
		if line == strings.ToUpper(line) && !strings.ContainsAny(line, "0123456789 ") {
			section = line
			continue
		}
		var err error
		switch section {
		case "DEFAULT_OPTIONS", "DEFAULT_SEMANTIC":
		case "STATES":
			err = define(p.states, prvNumbered, line)
		case "STATES_COLOR":
			err = p.readColor(line)
		case "EVENT_TYPE":
			if err = define(p.events, prvTyped, line); err == nil {
				kind, _ = strconv.ParseInt(prvTyped.FindStringSubmatch(line)[1], 10, 64)
			}
		case "VALUES":
			if p.values[kind] == nil {
				p.values[kind] = map[int64]string{}
			}
			err = define(p.values[kind], prvNumbered, line)
		default:
			err = fmt.Errorf("unknown section %q", section)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func define(names map[int64]string, form *regexp.Regexp, line string) error {
	m := form.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("bad line %q", line)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if _, twice := names[n]; twice || err != nil {
		return fmt.Errorf("number %s is bad or has two meanings", m[1])
	}
	names[n] = m[2]
	return nil
}

func (p *prvTrace) readColor(line string) error {
	m := prvColor.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("bad colour %q", line)
	}
	for _, x := range m[2:] {
		if n, _ := strconv.Atoi(x); n > 255 {
			return fmt.Errorf("bad colour %q", line)
		}
	}
	n, _ := strconv.ParseInt(m[1], 10, 64)
	if n != int64(len(p.colors)) {
		return fmt.Errorf("colours are not numbered one by one: %q", line)
	}
	p.colors[n] = true
	return nil
}

func (p *prvTrace) readNames(lines []string) error {
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" {
			continue
		}
		m := prvLevel.FindStringSubmatch(lines[i])
		if m == nil {
			return fmt.Errorf("expected a level, found %q", lines[i])
		}
		n, _ := strconv.Atoi(m[2])
		if i+n >= len(lines) || slices.Contains(lines[i+1:i+1+n], "") {
			return fmt.Errorf("fewer names than level %s says", m[1])
		}
		p.rows[m[1]] = lines[i+1 : i+1+n]
		i += n
	}
	return nil
}

func (p *prvTrace) readRecords(lines []string) error {
	m := prvHeader.FindStringSubmatch(lines[0])
	if m == nil {
		return fmt.Errorf("bad header %q", lines[0])
	}
	if err := p.readHeader(m); err != nil {
		return fmt.Errorf("%w in %q", err, lines[0])
	}
	for i, line := range lines[1:] {
		if line == "" && i == len(lines)-2 {
			break
		}
		r, err := parseRecord(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+2, err)
		}
		p.records = append(p.records, r)
	}
	return nil
}

// readHeader reads the end, the cpus of each node, and the threads and the node
// of each task.
func (p *prvTrace) readHeader(m []string) error {
	p.end, _ = strconv.ParseInt(m[1], 10, 64)
	for _, text := range strings.Split(m[3], ",") {
		n, _ := strconv.Atoi(text)
		p.cpus = append(p.cpus, n)
	}
	for _, text := range strings.Split(m[5], ",") {
		threads, node, _ := strings.Cut(text, ":")
		n, _ := strconv.Atoi(threads)
		at, _ := strconv.Atoi(node)
		if n == 0 || at == 0 || at > len(p.cpus) {
			return fmt.Errorf("task %d without threads or without a node", len(p.tasks)+1)
		}
		p.tasks = append(p.tasks, prvTask{n, at})
	}
	if m[2] != strconv.Itoa(len(p.cpus)) || m[4] != strconv.Itoa(len(p.tasks)) || slices.Contains(p.cpus, 0) {
		return fmt.Errorf("wrong number of nodes or tasks, or a node without a cpu")
	}
	return nil
}

// cpusBefore counts the cpus of the first nodes.
func (p *prvTrace) cpusBefore(node int) (n int) {
	for _, cpus := range p.cpus[:node] {
		n += cpus
	}
	return n
}

func parseRecord(line string) (r prvRecord, err error) {
	for i, field := range strings.Split(line, ":") {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return r, err
		}
		if i == 0 {
			r.kind = int64(n)
			continue
		}
		r.fields = append(r.fields, int64(n))
	}
	n := len(r.fields)
	switch {
	case r.kind == 1 && n == 7, r.kind == 2 && n >= 7 && n%2 == 1, r.kind == 3 && n == 14:
		return r, nil
	}
	return r, fmt.Errorf("record %q has the wrong kind or number of fields", line)
}

// check looks at the meaning of the records.
func (p *prvTrace) check() error {
	last := int64(0)
	busyUntil := map[[2]int64]int64{}
	for i, r := range p.records {
		at := r.fields[4]
		if at < last {
			return fmt.Errorf("record %d: time goes back from %d to %d", i, last, at)
		}
		last = at
		if err := p.object(r.fields); err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		var err error
		switch r.kind {
		case 1:
			thread := [2]int64{r.fields[2], r.fields[3]}
			err = p.checkState(r, busyUntil[thread])
			busyUntil[thread] = r.fields[5]
		case 2:
			err = p.checkEvents(r)
		case 3:
			if err = p.object(r.fields[6:]); err == nil {
				err = p.checkCommunication(r.fields)
			}
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	return nil
}

// object checks cpu, application, task, thread and time. The cpu is one of the
// node that the task is on.
func (p *prvTrace) object(f []int64) error {
	if f[1] != 1 || f[2] < 1 || f[2] > int64(len(p.tasks)) || f[4] > p.end {
		return fmt.Errorf("no such task or time: %v", f[:5])
	}
	task := p.tasks[f[2]-1]
	if f[3] < 1 || f[3] > int64(task.threads) || f[0] <= int64(p.cpusBefore(task.node-1)) || f[0] > int64(p.cpusBefore(task.node)) {
		return fmt.Errorf("no such thread or cpu of the task: %v", f[:5])
	}
	return nil
}

// lane tells whether a thread stands for the messages of its task.
func (p *prvTrace) lane(f []int64) bool {
	thread := f[3] - 1
	for _, task := range p.tasks[:f[2]-1] {
		thread += int64(task.threads)
	}
	return strings.HasSuffix(p.rows["THREAD"][thread], " messages")
}

// checkCommunication checks the order of the four times of a message or of a
// dependence. A receive may be posted before the send of a message, but a
// dependence has no part before its predecessor ends.
func (p *prvTrace) checkCommunication(f []int64) error {
	ready, sent, posted, received := f[4], f[5], f[10], f[11]
	message := p.lane(f)
	switch {
	case message != p.lane(f[6:]):
		return fmt.Errorf("a communication between messages and a worker")
	case !message && f[2] != f[8]:
		return fmt.Errorf("a dependence between two tasks")
	case sent < ready, received < posted, received < sent, !message && posted < sent:
		return fmt.Errorf("received before it was sent")
	case received > p.end:
		return fmt.Errorf("received after the end")
	}
	return nil
}

func (p *prvTrace) checkState(r prvRecord, free int64) error {
	begin, end, state := r.fields[4], r.fields[5], r.fields[6]
	switch {
	case begin < free:
		return fmt.Errorf("state overlaps the one before it")
	case begin > free:
		return fmt.Errorf("gap between states")
	case end <= begin || end > p.end:
		return fmt.Errorf("state from %d to %d", begin, end)
	case p.states[state] == "" || !p.colors[state]:
		return fmt.Errorf("unknown state %d", state)
	}
	return nil
}

func (p *prvTrace) checkEvents(r prvRecord) error {
	for f := r.fields[5:]; len(f) > 0; f = f[2:] {
		if p.events[f[0]] == "" {
			return fmt.Errorf("unknown event type %d", f[0])
		}
		if values := p.values[f[0]]; values != nil && (values[f[1]] == "" || !p.colors[f[1]]) {
			return fmt.Errorf("unknown value %d of event type %d", f[1], f[0])
		}
	}
	return nil
}

func paraverOf(t *testing.T, logs ...*dataflow.Log) *prvTrace {
	t.Helper()
	base := filepath.Join(t.TempDir(), "run")
	require.NoError(t, WriteParaver(base, logs...))
	p, err := readParaver(base)
	require.NoError(t, err)
	return p
}

func TestParaverOfCholesky(t *testing.T) {
	p := paraverOf(t, cholesky())
	assert.Equal(t, []string{"worker 0", "worker 1", "spare 0", "outside"}, p.rows["THREAD"])
	assert.Equal(t, []string{"core 0", "core 1", "core 2", "unpinned, outside"}, p.rows["CPU"])

	inState := map[[2]int64]int64{} // thread and state: ns
	arrows, bodies := 0, map[int64]string{}
	for _, r := range p.records {
		switch r.kind {
		case 1:
			inState[[2]int64{r.fields[3], r.fields[6]}] += r.fields[5] - r.fields[4]
		case 2:
			require.Equal(t, []int64{prvTypeLabel, prvTypeTask, prvTypeSource}, []int64{r.fields[5], r.fields[7], r.fields[9]})
			bodies[r.fields[8]] = p.values[prvTypeLabel][r.fields[6]] + " " + p.values[prvTypeSource][r.fields[10]]
		case 3:
			arrows++
		}
	}
	assert.Equal(t, 10, arrows)
	assert.Equal(t, int64(60_000), inState[[2]int64{1, prvRunning}]+inState[[2]int64{2, prvRunning}], "as T1 of the summary")
	assert.Equal(t, int64(2_000), inState[[2]int64{1, prvBlocked}])
	assert.Equal(t, int64(13_000), inState[[2]int64{2, prvIdle}])
	assert.Equal(t, int64(50_000), inState[[2]int64{3, prvNotCreated}])
	assert.Equal(t, int64(50_000), inState[[2]int64{4, prvNotCreated}])
	assert.Len(t, bodies, 11)
	assert.Equal(t, "gemm cholesky/main.go:13", bodies[5])
	assert.Equal(t, "No task No task", bodies[0])
}

// The end of a nested body brings the outer one back.
func TestParaverEventsReturnToTheOuterBody(t *testing.T) {
	b := newBuilder(1, "worker 0")
	outer := b.spawn(0, 0, "outer", 0)
	b.start(0, 1*us, outer)
	inner := b.spawn(0, 2*us, "inner", outer)
	b.run(0, 2*us, 3*us, inner)
	b.end(0, 5*us, outer)
	b.log.Elapsed = 6 * us
	var running [][2]int64
	for _, r := range paraverOf(t, &b.log).records {
		if r.kind == 2 {
			running = append(running, [2]int64{r.fields[4], r.fields[8]})
		}
	}
	assert.Equal(t, [][2]int64{{1000, 1}, {2000, 2}, {3000, 1}, {5000, 0}}, running)
}

func TestParaverUnpinnedWorkersShareNoCore(t *testing.T) {
	b := newBuilder(3, "worker 0", "worker 1", "worker 2")
	b.log.Workers[0].Core, b.log.Workers[1].Core, b.log.Workers[2].Core = 7, -1, 7
	b.log.Elapsed = us
	p := paraverOf(t, &b.log)
	assert.Equal(t, []string{"core 7", "unpinned, worker 1"}, p.rows["CPU"])
}

// Spoilt copies of a good trace, each of which the reader must refuse.
func TestParaverReaderRefuses(t *testing.T) {
	requireRefused(t, []*dataflow.Log{cholesky()}, map[string]spoil{
		"header":               {".prv", replace("_ns:", ":")},
		"no threads":           {".prv", replace("1(4:1)", "1(0:1)")},
		"order":                {".prv", add("2:1:1:1:1:5:9200002:1\n")},
		"overlap":              {".prv", replace(":25500:30000:1\n", ":25400:30000:1\n")},
		"gap":                  {".prv", replace(":25500:30000:1\n", ":25600:30000:1\n")},
		"empty state":          {".prv", replace(":25500:30000:1\n", ":25500:25500:1\n")},
		"beyond the end":       {".prv", replace(":48000:50000:", ":48000:50001:")},
		"unknown state":        {".prv", replace(":25500:30000:1\n", ":25500:30000:4\n")},
		"unknown type":         {".prv", replace(":9200001:", ":9200009:")},
		"unknown value":        {".prv", replace(":9200001:16:", ":9200001:15:")},
		"unknown thread":       {".prv", replace("1:1:1:1:1:", "1:1:1:1:9:")},
		"unknown cpu":          {".prv", replace("1:1:1:1:1:", "1:0:1:1:1:")},
		"short record":         {".prv", add("1:1:1:1:1:50000:50000\n")},
		"odd event":            {".prv", add("2:1:1:1:1:50000:9200002\n")},
		"unknown record":       {".prv", add("4:1:1:1:1:50000:1:1\n")},
		"negative":             {".prv", add("2:1:1:1:1:50000:9200002:-1\n")},
		"blank line":           {".prv", add("\n\n")},
		"received before sent": {".prv", replace("12000:12000:2:1:1:2:12500:12500", "12000:12000:2:1:1:2:11500:12500")},
		"state twice":          {".pcf", replace("1    Running", "0    Running")},
		"colour":               {".pcf", replace("{117,195,255}", "{117,195,256}")},
		"colour missing":       {".pcf", replace("3    {0,0,0}\n", "")},
		"names missing":        {".row", replace("\noutside\n", "\n")},
		"wrong size":           {".row", replace("CPU SIZE 4\ncore 0\n", "CPU SIZE 3\n")},
	})
}

// The same with what only the traces of several ranks have.
func TestParaverReaderRefusesRanks(t *testing.T) {
	requireRefused(t, twoRanks(), map[string]spoil{
		"fewer nodes":            {".prv", replace(":2(4,3):", ":1(4,3):")},
		"fewer tasks":            {".prv", replace(":2(4:1,3:2)", ":1(4:1,3:2)")},
		"rank without threads":   {".prv", replace("(4:1,3:2)", "(4:1,0:2)")},
		"rank on no node":        {".prv", replace("(4:1,3:2)", "(4:1,3:3)")},
		"unknown rank":           {".prv", replace("1:5:1:2:1:", "1:5:1:3:1:")},
		"thread of another rank": {".prv", replace("1:7:1:2:3:", "1:7:1:2:4:")},
		"cpu of another node":    {".prv", replace("1:5:1:2:1:", "1:4:1:2:1:")},
		"send before ready":      {".prv", replace("11000:11500:7:1:2:3:14700:27000", "11000:10999:7:1:2:3:14700:27000")},
		"receive before post":    {".prv", replace("11000:11500:7:1:2:3:14700:27000", "11000:11500:7:1:2:3:14700:14699")},
		"receive before send":    {".prv", replace("14000:14500:4:1:1:4:11700:24000", "14000:14500:4:1:1:4:11700:14499")},
		"receive after the end":  {".prv", replace("11000:11500:7:1:2:3:14700:27000", "11000:11500:7:1:2:3:14700:43001")},
		"message to a worker":    {".prv", replace("11000:11500:7:1:2:3:14700:27000", "11000:11500:5:1:2:1:14700:27000")},
		"message to no rank":     {".prv", replace("11000:11500:7:1:2:3:14700:27000", "11000:11500:7:1:3:3:14700:27000")},
		"dependence of ranks":    {".prv", replace("3:5:1:2:1:14500:14500:5:1:2:1:28000", "3:5:1:2:1:14500:14500:1:1:1:1:28000")},
		"unknown lane state":     {".pcf", replace("13   Collective", "14   Collective")},
		"unknown count":          {".pcf", replace("9200004", "9200005")},
		"rank without a name":    {".row", replace("TASK SIZE 2\nrank 0 (alpha)\n", "TASK SIZE 1\n")},
		"node without a name":    {".row", replace("NODE SIZE 2\nalpha\n", "NODE SIZE 1\n")},
	})
}

// spoil is what to change in one file of a trace.
type spoil struct {
	suffix string
	change func(t *testing.T, text string) string
}

func replace(old, with string) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		require.Contains(t, text, old)
		return strings.Replace(text, old, with, 1)
	}
}

func add(line string) func(*testing.T, string) string {
	return func(_ *testing.T, text string) string { return text + line }
}

// requireRefused writes a trace, which the reader must take, and spoils it in
// several ways, each of which the reader must refuse.
func requireRefused(t *testing.T, logs []*dataflow.Log, spoils map[string]spoil) {
	dir := t.TempDir()
	base := filepath.Join(dir, "run")
	require.NoError(t, WriteParaver(base, logs...))
	_, err := readParaver(base)
	require.NoError(t, err)
	for name, spoil := range spoils {
		bad := filepath.Join(dir, "bad")
		for _, suffix := range []string{".prv", ".pcf", ".row"} {
			text, err := os.ReadFile(base + suffix)
			require.NoError(t, err)
			if suffix == spoil.suffix {
				text = []byte(spoil.change(t, string(text)))
			}
			require.NoError(t, os.WriteFile(bad+suffix, text, 0o600))
		}
		_, err := readParaver(bad)
		assert.Error(t, err, name)
	}
}

// The states, records and colours of one line each, as a person would read
// them: the format is what the documentation says.
func TestParaverLines(t *testing.T) {
	base := filepath.Join(t.TempDir(), "run")
	require.NoError(t, WriteParaver(base, cholesky()))
	f, err := os.Open(base + ".prv")
	require.NoError(t, err)
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	assert.Equal(t, "#Paraver (03/02/31 at 04:05):50000_ns:1(4):1:1(4:1)", lines[0])
	assert.Contains(t, lines, "1:2:1:1:2:2000:12000:1")                         // potrf on worker 1
	assert.Contains(t, lines, "2:2:1:1:2:2000:9200001:16:9200002:1:9200003:16") // its label, number, line
	assert.Contains(t, lines, "3:2:1:1:2:12000:12000:1:1:1:1:13000:13000:1:1", "potrf to trsm on worker 0")
}
