package hpl

import (
	"time"

	"github.com/weft-hpc/weft/dataflow"
	"github.com/weft-hpc/weft/hpl/internal/route"
	"github.com/weft-hpc/weft/internal/osthread"
)

// journal records what a driver without tasks does in the form of a runtime's log: each step of
// the goroutine of the driver is a task that comes after the step before it, and the team counts as
// one worker. Waits for panels and their messages are recorded, too; exchanges of rows are part of
// the update. A nil journal records nothing. It belongs to the goroutine of the driver.
type journal struct {
	s      *solver
	origin int64
	tasks  uint64
	events []dataflow.Event
	sent   []dataflow.Message
	counts map[pairOfRanks]uint64
}

// pairOfRanks is what messages are counted by: see dataflow.Message.
type pairOfRanks struct{ from, to, tag int }

// The steps of a driver, as labels of its log. Names are those of the tasks.
const (
	stepFactor = iota
	stepUnpack
	stepUpdate
)

var stepNames = []string{"factor", "unpack", "update"}

// newJournal starts a journal, if the configuration wants a log.
func newJournal(s *solver) *journal {
	if s.cfg.Log == nil {
		return nil
	}
	return &journal{s: s, origin: osthread.Nanotime(), counts: map[pairOfRanks]uint64{}}
}

func (j *journal) add(kind dataflow.EventKind, task, arg uint64) {
	j.events = append(j.events, dataflow.Event{Time: time.Duration(osthread.Nanotime() - j.origin), Kind: kind, Task: task, Arg: arg})
}

// step records the beginning of a step; the function that it returns records its end.
func (j *journal) step(label int) (end func()) {
	if j == nil {
		return func() {}
	}
	j.tasks++
	j.add(dataflow.EventSpawn, j.tasks, uint64(label))
	if j.tasks > 1 {
		j.add(dataflow.EventEdge, j.tasks, j.tasks-1)
	}
	j.add(dataflow.EventStart, j.tasks, 0)
	return func() {
		j.add(dataflow.EventEnd, j.tasks, 0)
		j.add(dataflow.EventDone, j.tasks, 0)
	}
}

// wait records that the driver waits, until it calls the function that wait returns.
func (j *journal) wait() (end func()) {
	if j == nil {
		return func() {}
	}
	j.add(dataflow.EventWait, 0, 0)
	return func() { j.add(dataflow.EventWaited, 0, 0) }
}

// messages records the messages of a broadcast of a panel that has ended.
func (j *journal) messages(run *route.Run, tag int) {
	if j == nil {
		return
	}
	c := j.s.grid.panels
	me := c.World(c.Rank())
	run.Messages(func(s route.Step, posted, done int64) {
		peer := c.World(s.Peer)
		m := dataflow.Message{Kind: "recv", Comm: 1, Peer: peer, Tag: tag, Bytes: 8 * s.Len}
		pair := pairOfRanks{peer, me, tag}
		if s.Send {
			m.Kind, pair = "send", pairOfRanks{me, peer, tag}
		}
		j.counts[pair]++
		m.Seq = j.counts[pair]
		m.Posted, m.Done = time.Duration(posted-j.origin), time.Duration(done-j.origin)
		m.Ready = m.Posted
		j.sent = append(j.sent, m)
	})
}

// finish writes the log.
func (j *journal) finish() {
	if j == nil {
		return
	}
	l := j.s.cfg.Log
	*l = dataflow.Log{
		Rank: j.s.grid.all.World(j.s.grid.all.Rank()), Ranks: j.s.grid.all.Size(), Start: osthread.Date(j.origin),
		Elapsed: time.Duration(osthread.Nanotime() - j.origin), Slots: 1,
		Workers:  []dataflow.WorkerLog{{Name: "worker 0", Core: -1, Events: j.events}},
		Messages: j.sent,
	}
	for _, name := range stepNames {
		l.Labels = append(l.Labels, dataflow.Label{Name: name})
	}
}

// sending is the broadcast of a panel in a driver without tasks.
type sending struct {
	d   *driver
	p   *panel
	run *route.Run
	end bool
}

// send starts the broadcast of p.
func (d *driver) send(p *panel) *sending { return &sending{d: d, p: p, run: d.broadcast(p)} }

// test polls the broadcast and reports whether it has ended.
func (b *sending) test() (done bool, err error) {
	done, err = b.run.Test()
	b.ended(done && err == nil)
	return done, err
}

// wait returns when the broadcast has ended.
func (b *sending) wait() error {
	defer b.d.journal.wait()()
	err := b.run.Wait()
	b.ended(err == nil)
	return err
}

func (b *sending) ended(now bool) {
	if now && !b.end {
		b.end = true
		b.d.journal.messages(b.run, b.p.k%panelTags)
	}
}
