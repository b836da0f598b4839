package advise

// Run holds the measurements of one instrumented run of a program: the contents of a results
// file, merged over all ranks. Times are seconds.
type Run struct {
	Program     string    `json:"program"`
	Args        []string  `json:"args,omitempty"`
	Engine      string    `json:"engine"`
	Ranks       int       `json:"ranks"`
	Size        float64   `json:"size,omitempty"` // problem size, 0 if not told
	Seconds     float64   `json:"seconds"`        // of the bodies: the slowest rank
	Tool        float64   `json:"tool_seconds"`   // of these the tool's own: the largest of all ranks
	Memory      float64   `json:"memory_bytes"`   // that the program has added, per rank
	Caches      []float64 `json:"cache_bytes,omitempty"`
	Network     Network   `json:"network"`
	Protection  []Point   `json:"protection,omitempty"` // time to protect and release pages, by bytes
	Sites       []Site    `json:"sites"`
	Chains      []Chain   `json:"chains"`
	Races       []Race    `json:"races,omitempty"`
	Messages    int       `json:"messages"`       // sent and received by blocking calls, all ranks
	TaskCalls   int       `json:"task_calls"`     // calls of communication threads, all ranks
	HeapBuffers int       `json:"heap_buffers"`   // requests whose buffer no Watch covers
	Collectives []Place   `json:"collectives"`    // where collective calls stand, and their time
	Waits       float64   `json:"waits"`          // seconds in waits of the program, mean of the ranks
	Inside      float64   `json:"inside_seconds"` // in calls of package mpi, mean of the ranks
	Together    int       `json:"together"`       // ranks on the machine of rank 0
	Cores       int       `json:"cores"`          // that they can use
	Sources     []Source  `json:"sources"`        // files that the sites stand in
	Watched     string    `json:"watched"`        // whether first touches were seen, and why not
	Rehearsed   float64   `json:"rehearsed_time"` // how long the rehearsal took
	Promised    *Promise  `json:"promised,omitempty"`
}

// Promise is what the changes that were made after a run (advise -fix) are predicted to save, in
// seconds of the run: the changed source does not tell any more.
type Promise struct {
	Saving float64 `json:"saving_seconds"`
	Low    float64 `json:"saving_low"`
	High   float64 `json:"saving_high"`
}

// Place is a site and the time of the calls there.
type Place struct {
	Site    int     `json:"site"`
	Count   int     `json:"count"`   // of all ranks
	Seconds float64 `json:"seconds"` // mean of the ranks
}

// Source is a source file as it was at the run; Sum is empty if it could not be read.
type Source struct {
	File string `json:"file"`
	Sum  string `json:"sha256,omitempty"`
}

// Site is the place of a call: its context (section 2 of the paper).
type Site struct {
	API     string   `json:"api"`     // method of mpi.Comm: "Sendrecv"
	Func    string   `json:"func"`    // the function that calls it
	File    string   `json:"file"`    // as the compiler knew it
	Line    int      `json:"line"`    // of the call
	Callers []string `json:"callers"` // up to three return addresses, "file:line"
}

// Chain is a series of related calls, merged over the ranks that have it.
type Chain struct {
	Sites     []int     `json:"sites"`           // indices of Run.Sites, in the order of the calls
	Ranks     []int     `json:"ranks"`           // that passed through it
	Count     int       `json:"count"`           // occurrences, the most of any rank
	Even      bool      `json:"even"`            // all these ranks had about as many: within a quarter
	Written   Summary   `json:"written"`         // of an occurrence in the run, over all ranks
	Between   Summary   `json:"between"`         // of the time between its calls, in an occurrence
	Before    Summary   `json:"before"`          // of the computation before it
	Pause     float64   `json:"pause"`           // its median, mean of the ranks
	Slack     Summary   `json:"slack"`           // from its end to the first touch, if a Watch told
	Calls     []float64 `json:"calls"`           // mean time of each call
	Gaps      []float64 `json:"gaps"`            // mean time before each call but the first
	Movable   []int     `json:"movable"`         // by call: how often the chain before did not end because of it
	Ends      []End     `json:"ends"`            // why it ended, most frequent first
	Patterns  []Pattern `json:"patterns"`        // per rank, the most frequent one
	Varied    bool      `json:"varied"`          // a rank had more than one pattern
	Peers     bool      `json:"peers"`           // with other peers
	Trial     *Trial    `json:"trial"`           // of the rehearsal; nil if there was none
	Split     *Trial    `json:"split,omitempty"` // the same with batches that end at computation
	NoTrial   string    `json:"no_trial"`        // why not
	NoReplay  string    `json:"no_replay"`       // why the trial is of its messages alone
	Successor int       `json:"successor"`       // the chain that follows most often, -1 if none
	Distance  float64   `json:"distance"`        // mean time to it

	index map[int]int   // by rank: its number there
	at    map[int][]int // and the numbers here of the calls there
}

// EndOverlap is the reason of a chain that ended because the next call shares memory with it,
// where either receives.
const EndOverlap = "overlap"

// End is a reason for which a chain ended, and how often it did.
type End struct {
	Reason string `json:"reason"`
	Site   int    `json:"site"` // of the call that ended it, -1 if none did
	Call   int    `json:"call"` // of the chain: the only one whose message was needed, -1 if not known
	Count  int    `json:"count"`
}

// Pattern lists the messages that a rank sends and receives in an occurrence of a chain.
type Pattern struct {
	Rank     int       `json:"rank"`
	Seen     int       `json:"seen"`
	Requests []Message `json:"requests"`
}

// Message is a request of a pattern. Elements lie in Blocks of Block bytes, Stride
// bytes apart.
type Message struct {
	Call   int  `json:"call"` // which call of the chain
	Recv   bool `json:"recv,omitempty"`
	Sync   bool `json:"sync,omitempty"` // Ssend
	Peer   int  `json:"peer"`           // world rank; mpi.AnySource
	Tag    int  `json:"tag"`
	Comm   int  `json:"comm"` // the communicator
	Blocks int  `json:"blocks"`
	Block  int  `json:"block"`
	Stride int  `json:"stride"`
}

// Bytes returns the payload of the message.
func (m *Message) Bytes() int { return m.Blocks * m.Block }

// span returns the bytes from the first to the last.
func (m *Message) span() int { return max((m.Blocks-1)*m.Stride+m.Block, 0) }

// Trial is the result of a rehearsal or replay of a chain: the time of an occurrence, including the
// pauses between its calls, mean of the ranks, by pairs of blocks.
type Trial struct {
	Written []float64 `json:"written"`
	Fixed   []float64 `json:"fixed"`
	Passes  int       `json:"passes"` // occurrences per block
	// Replayed says that the program's other calls and computation were part of it: the times are
	// those from an occurrence to the next one.
	Replayed bool `json:"replayed,omitempty"`
}

// Race is a use of the buffer of a request before its wait.
type Race struct {
	Kind    string `json:"kind"`    // what happened
	Request int    `json:"request"` // site of the call that started the request
	Other   int    `json:"other"`   // site of what used the buffer, or of the wait that found it used
	Touch   string `json:"touch"`   // "file:line" of the touch itself, if a Watch told
	Rank    int    `json:"rank"`
	Count   int    `json:"count"`
}

// Point is a time measured for a size.
type Point struct {
	Bytes   float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
}
