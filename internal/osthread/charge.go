package osthread

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// Computation on a simulated machine takes time if it is charged: by the program (Charge), or,
// on a machine with a Speed, by the clock of the host. A thread first owes the time, because
// it may hold a mutex; it pays at the next point without one: before it parks, sleeps or
// waits, and in Settle. Its own clock is ahead by its debt.
//
// A core runs one thread at a time. Threads that compute on the same core queue; a thread with
// a negative nice value goes first, and postpones the others. A thread that is not confined to a
// core takes the one of its node that is free first. Not modelled: time slices of threads with
// the same nice value.

// Charge lets the calling thread of a simulated machine compute for d: it owes the time until
// it settles. On the real machine it does nothing, in about a nanosecond.
func Charge(d time.Duration) {
	if simulated.Load() != nil {
		charge(d)
	}
}

func charge(d time.Duration) {
	if m := here(); m != nil {
		m.current.owed += int64(d)
	}
}

// ChargeCopy lets the calling thread of a simulated machine copy n bytes, at the rate
// Simulation.Copy; see Charge.
func ChargeCopy(n int) {
	if m := here(); m != nil {
		m.current.owed += int64(m.copyTime(n))
	}
}

// CopyTime returns how long ChargeCopy takes for n bytes; 0 on the real machine.
func CopyTime(n int) time.Duration {
	if m := here(); m != nil {
		return m.copyTime(n)
	}
	return 0
}

func (m *machine) copyTime(n int) time.Duration {
	if m.o.Copy == 0 {
		return 0
	}
	return time.Duration(float64(n) / m.o.Copy)
}

// ChargeSpawn lets the calling thread of a simulated machine spawn a task: see
// Simulation.Spawn.
func ChargeSpawn() {
	if m := here(); m != nil {
		m.current.owed += int64(m.o.Spawn)
	}
}

// Spawning reports whether spawns take time (ChargeSpawn).
func Spawning() bool {
	m := here()
	return m != nil && m.o.Spawn > 0
}

// Task is a task whose body has run, for EndTask.
type Task interface {
	// Body returns the label of the task and the length that the program has stated (Cost), 0 if
	// it has not. It reports false for a body that is not the program's, or that sends messages.
	Body() (label string, cost time.Duration, ok bool)
}

// Simulating reports whether the calling goroutine is a thread of a simulated machine.
func Simulating() bool { return here() != nil }

// EndTask lets the calling thread of a simulated machine run the body of t, which has just been
// executed: see Simulation.Task and Simulation.Body. Then it settles. On the real machine it does
// nothing, in about a nanosecond.
func EndTask(t Task) {
	if simulated.Load() != nil {
		endTask(t)
	}
}

func endTask(t Task) {
	m := here()
	if m == nil {
		return
	}
	m.move()
	m.current.owed += int64(m.o.Task)
	if m.o.Body != nil {
		if label, cost, ok := t.Body(); ok {
			m.current.owed += int64(m.o.Body(label, cost))
		}
	}
	m.settle()
}

// Settle has the calling thread of a simulated machine pay its debt; the caller holds no mutex.
// Other threads may run before it returns. On the real machine it does nothing, in about a
// nanosecond.
func Settle() {
	if simulated.Load() != nil {
		settle()
	}
}

func settle() {
	if m := here(); m != nil {
		m.settle()
	}
}

// settle lets the time pass that the running thread owes.
func (m *machine) settle() {
	t := m.current
	m.measure(t)
	d := t.owed
	if d <= 0 {
		return
	}
	t.owed, t.pays = 0, true
	m.payers++
	if d >= work {
		m.move()
		m.working++
	}
	m.compute(t, d)
	m.turn(t)
	if d >= work {
		m.working--
	}
	m.payers--
	t.pays = false
	m.settled(t)
}

// measure adds the time since the last measurement to what t owes, if the host's clock counts.
func (m *machine) measure(t *thread) {
	if m.o.Speed == 0 {
		return
	}
	now := int64(threadCPUTime())
	t.owed += int64(float64(now-m.measured) * m.o.Speed)
	m.measured = now
}

// node is a computer of a simulated machine.
type node struct {
	ledger coreLedger
	cores  []core
}

// core is a core that threads are confined to.
type core struct {
	phase int64 // of the noise
	speed float64
	free  int64     // when the last charge ends
	last  *thread   // that went on here after a sleep, if switches take time
	queue []*thread // that compute, in the order of their ends
}

// clock returns the time of the running thread.
func (m *machine) clock() int64 {
	m.measure(m.current)
	return m.now + m.current.owed
}

// confine confines the running thread to a set of cores of its node.
func (m *machine) confine(set CPUSet) {
	t := m.current
	t.core = -1
	if list := set.List(); len(list) == 1 && t.node != nil && list[0] < len(t.node.cores) {
		t.core = list[0]
	}
}

// nodes makes the nodes of a simulation. The phases of their noise are spread evenly.
func nodes(o Simulation) []*node {
	all := make([]*node, o.Nodes)
	for i := range all {
		all[i] = &node{cores: make([]core, o.Cores)}
		for c := range all[i].cores {
			const golden = 0.6180339887498949
			number := i*o.Cores + c
			_, part := math.Modf(golden * float64(number))
			all[i].cores[c] = core{phase: int64(part * float64(o.Noise.Every)), speed: 1}
			if len(o.Speeds) > 0 {
				all[i].cores[c].speed = o.Speeds[number%len(o.Speeds)]
			}
		}
		all[i].ledger = coreLedger{usable: firstCPUs(o.Cores), siblings: func(cpu int) CPUSet { return CPUSetOf(cpu) }}
	}
	return all
}

// compute queues t for d of its core.
func (m *machine) compute(t *thread, d int64) {
	if t.node == nil {
		m.enqueue(t, m.now+d)
		return
	}
	c := t.node.coreFor(t)
	t.computes = c
	d = int64(float64(d) / c.speed)
	d += m.stolen(c, max(c.free, m.now), d)
	if t.nice < 0 {
		m.postpone(c, d+m.changeBack(c, t))
		m.enqueue(t, m.now+d)
	} else {
		c.free = max(c.free, m.now) + d
		m.enqueue(t, c.free)
		c.queue = append(c.queue, t)
	}
}

// postpone lets the threads that compute on a core end later by d.
func (m *machine) postpone(c *core, d int64) {
	for _, other := range c.queue {
		other.at += d
		heap.Fix(&m.queue, other.index)
	}
	c.free = max(c.free, m.now) + d
}

// changeBack returns what a core loses when the thread that t interrupts there goes on, once for
// each time that t has taken the core (occupy).
func (m *machine) changeBack(c *core, t *thread) int64 {
	if len(c.queue) == 0 || c.last != t {
		return 0
	}
	c.last = c.queue[0]
	return int64(m.o.Switch)
}

// occupy charges t, which has slept, for its core if another thread had it.
func (m *machine) occupy(t *thread) {
	if m.o.Switch == 0 || t.node == nil || t.timer {
		return
	}
	if c := t.node.coreFor(t); c.last != t {
		c.last = t
		t.owed += int64(m.o.Switch)
	}
}

// Spun says that the calling thread has spun for d while it waited. On a simulated machine, where a
// thread that waits sleeps, the threads that compute on its core end so much later. On the real
// machine it does nothing, in about a nanosecond.
func Spun(d time.Duration) {
	if simulated.Load() != nil {
		spun(d)
	}
}

func spun(d time.Duration) {
	m := here()
	if m == nil || m.current.node == nil {
		return
	}
	if c := m.current.node.coreFor(m.current); c.free > m.now {
		m.postpone(c, int64(d))
	}
}

// stolen returns how much time the noise takes from a core while a thread computes there for d.
func (m *machine) stolen(c *core, from, d int64) int64 {
	every, length := int64(m.o.Noise.Every), int64(m.o.Noise.Length)
	if every <= 0 || length <= 0 {
		return 0
	}
	before := (from + c.phase) / every
	total := int64(0)
	for {
		n := (from+c.phase+d+total)/every - before
		if n*length == total {
			return total
		}
		total = n * length
	}
}

// spinTime is about how long threads spin on the real machine before they sleep. Whoever wakes a
// thread that has slept for less would have met it awake.
const spinTime = 100 * time.Microsecond

// wakeUp charges the running thread for waking t, and returns how much later t goes on.
func (m *machine) wakeUp(t *thread) (later int64) {
	if m.o.Sleeper == 0 && m.o.Waker == 0 || m.spins || m.now-t.since < int64(spinTime) {
		return 0
	}
	if m.current != nil {
		m.current.owed += int64(m.o.Waker)
	}
	return int64(m.o.Sleeper)
}

// coreFor returns the core that t is confined to, or else the core that is free first.
func (n *node) coreFor(t *thread) *core {
	if t.core >= 0 {
		return &n.cores[t.core]
	}
	best := &n.cores[0]
	for i := range n.cores {
		if c := &n.cores[i]; c.free < best.free {
			best = c
		}
	}
	return best
}

// settled takes t out of the queue of its core.
func (m *machine) settled(t *thread) {
	if c := t.computes; c != nil {
		t.computes = nil
		if i := slices.Index(c.queue, t); i >= 0 {
			c.queue = slices.Delete(c.queue, i, i+1)
		}
	}
}

// GoOn runs f as a thread of the group on a node of a simulated machine with nodes, which the
// threads that it makes inherit; elsewhere it is Go.
func (g *Group) GoOn(number int, f func()) {
	m := here()
	if m == nil || len(m.nodes) == 0 {
		g.Go(f)
		return
	}
	g.Add(1)
	t := m.start(func() {
		defer g.Done()
		f()
		Settle()
	})
	t.node = m.nodes[number%len(m.nodes)]
}

// Home is the computer that a thread runs on.
type Home struct{ node *node }

// HereHome returns the home of the calling thread.
func HereHome() Home { return Home{hereNode()} }

// Go runs f as a thread at h, where [Go] runs it on the computer of the caller: the same, but on a
// simulated machine with several nodes.
func (h Home) Go(f func()) {
	if m := here(); m != nil {
		m.start(f).node = h.node
		return
	}
	Go(f)
}

// hereNode returns the node of the calling thread; nil on the real machine and on a machine
// without nodes.
func hereNode() *node {
	if m := here(); m != nil {
		return m.current.node
	}
	return nil
}

// ledgerHere returns the ledger of the cores that the calling thread may use.
func ledgerHere() *coreLedger {
	if n := hereNode(); n != nil {
		return &n.ledger
	}
	return &cores
}
