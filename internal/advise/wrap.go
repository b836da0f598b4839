package advise

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weft-hpc/weft/internal/engine"
	"github.com/weft-hpc/weft/internal/osthread"
	"github.com/weft-hpc/weft/mpi"
)

// Variables of the environment.
const (
	// FileVariable names the results file, and asks for the analysis by being set.
	FileVariable = "WEFT_ADVISE"
	// SizeVariable tells the problem size of the run, a number, for sets of runs.
	SizeVariable = "WEFT_ADVISE_SIZE"
	// RehearseVariable tells how long replays and rehearsals may take, as time.ParseDuration
	// reads it; 0: there are none.
	RehearseVariable = "WEFT_ADVISE_REHEARSE"
)

// Options of an analysis.
type Options struct {
	File  string  // of the results, written by rank 0; an existing file is overwritten
	Size  float64 // problem size; 0: not told
	Watch Watch   // nil: touches are not seen
	// Rehearse is how long replays and rehearsals may take; 0: 2 s, or a fifth of the run if
	// that is longer; less than 0: there are none.
	Rehearse time.Duration
	Say      func(text string) // is given the line at the end of the run

	apart int64 // of the tests: in place of farApart
}

// FromEnvironment returns the options that the environment asks for; nil if it asks for
// no analysis. An error is one of usage.
func FromEnvironment() (*Options, error) {
	file := os.Getenv(FileVariable)
	if file == "" {
		return nil, nil
	}
	o := &Options{File: file, Watch: NewPageWatch(), Say: func(text string) { fmt.Fprintln(os.Stderr, text) }}
	if text := os.Getenv(SizeVariable); text != "" {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0) {
			return nil, fmt.Errorf("%s=%s: it is the problem size, a number above 0", SizeVariable, text)
		}
		o.Size = x
	}
	if text := os.Getenv(RehearseVariable); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%s=%s: it is the time for the rehearsal, like 500ms, and 0 for none", RehearseVariable, text)
		}
		if o.Rehearse = d; d == 0 {
			o.Rehearse = -1
		}
	}
	return o, nil
}

// Wrap returns a body that runs body under the analysis. All ranks run it, on the world
// communicator. If body fails on a rank, its error is returned and no file is written. Wrap
// adds collective calls before and after body.
func Wrap(o *Options, body func(*mpi.Comm) error) func(*mpi.Comm) error {
	return func(c *mpi.Comm) error {
		s, err := begin(o, c)
		if err != nil {
			return fmt.Errorf("advise: before the program: %w", err)
		}
		err = body(c)
		if e := s.stop(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		if err := s.conclude(); err != nil {
			return fmt.Errorf("advise: after the program: %w", err)
		}
		return nil
	}
}

// session is the analysis of one rank.
type session struct {
	options *Options
	c       *mpi.Comm // private
	t       *tracker
	restore func() error
	network Network
	protect []Point
	began   int64
	memory  float64 // before the body
	took    float64 // seconds of the body
	rate    rate    // of the computation in rehearsals
}

func begin(o *Options, c *mpi.Comm) (*session, error) {
	private, err := c.Dup()
	if err != nil {
		return nil, err
	}
	private.SetName("advise")
	s := &session{options: o, c: private, t: newTracker(c, o.Watch)}
	if o.apart != 0 {
		s.t.apart = o.apart
	}
	if s.network, err = calibrate(private); err != nil {
		return nil, err
	}
	if c.Rank() == 0 {
		s.protect = protectionCost()
	}
	if err := private.Barrier(); err != nil {
		return nil, err
	}
	if w, ours := o.Watch.(*PageWatch); ours {
		w.begin()
	}
	s.restore = (*engine.Comm)(c).Intercept(func(next engine.Engine) engine.Engine { return &rankEngine{Engine: next, t: s.t} })
	s.memory = resident()
	s.began = osthread.Nanotime()
	s.t.lastEnd, s.t.idle = s.began, s.began
	return s, nil
}

// stop removes the tool.
func (s *session) stop() error {
	s.took = seconds(osthread.Nanotime() - s.began)
	s.t.end()
	if w, ours := s.options.Watch.(*PageWatch); ours {
		w.stop()
	}
	return s.restore()
}

// conclude merges, measures and writes.
func (s *session) conclude() error {
	run, err := s.gather()
	if err != nil {
		return err
	}
	if err := s.neighbours(run); err != nil {
		return err
	}
	if err := s.measureAll(run); err != nil {
		return err
	}
	if s.c.Rank() == 0 {
		err = s.write(run)
	}
	return s.agree(err)
}

// neighbours counts the ranks that share the machine of rank 0, and its cores.
func (s *session) neighbours(run *Run) error {
	c, err := s.c.SplitShared()
	if err != nil {
		return err
	}
	if run != nil {
		run.Together, run.Cores = c.Size(), osthread.Online()
		if (*engine.Comm)(s.c).Engine().Name() == "local" {
			run.Cores = osthread.NumCores()
		}
	}
	return c.Free()
}

// agree returns the error of rank 0 on all ranks.
func (s *session) agree(err error) error {
	failed := []byte{0}
	if err != nil {
		failed[0] = 1
	}
	if e := s.c.Bcast(mpi.Of(failed), 0); e != nil && err == nil {
		return e
	}
	if failed[0] != 0 && err == nil {
		return fmt.Errorf("rank 0 has not written %s", s.options.File)
	}
	return err
}

func (s *session) write(run *Run) error {
	run.Program, run.Args = filepath.Base(os.Args[0]), os.Args[1:]
	run.Size, run.Network, run.Protection = s.options.Size, s.network, s.protect
	run.Watched = "first touches are not seen: no watch"
	if w, ours := s.options.Watch.(*PageWatch); ours {
		run.Watched = w.State()
	}
	run.Engine = (*engine.Comm)(s.c).Engine().Name()
	run.Caches, run.Sources = caches(), sources(run.Sites)
	if err := WriteFile(s.options.File, run); err != nil {
		return err
	}
	if s.options.Say != nil {
		s.options.Say(fmt.Sprintf("weft: advise: %d chains, %d messages, %d races; %s is for bench/advise", len(run.Chains), run.Messages, len(run.Races), s.options.File))
	}
	return nil
}

// broadcast sends v of rank 0 to all ranks.
func broadcast[T any](c *mpi.Comm, v *T) error {
	var text []byte
	n := []int64{0}
	if c.Rank() == 0 {
		var err error
		if text, err = json.Marshal(v); err != nil {
			return err
		}
		n[0] = int64(len(text))
	}
	if err := c.Bcast(mpi.Of(n), 0); err != nil {
		return err
	}
	if c.Rank() != 0 {
		text = make([]byte, n[0])
	}
	if err := c.Bcast(mpi.Of(text), 0); err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

// collect brings v of all ranks to rank 0, in their order.
func collect[T any](c *mpi.Comm, v *T) ([]*T, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	mine := []int64{int64(len(text))}
	sizes := make([]int64, c.Size())
	if err := c.Gather(mpi.Of(mine), mpi.Of(sizes), 0); err != nil {
		return nil, err
	}
	counts, displs, total := make([]int, c.Size()), make([]int, c.Size()), 0
	for r, n := range sizes {
		counts[r], displs[r] = int(n), total
		total += int(n)
	}
	all := make([]byte, total)
	if err := c.Gatherv(mpi.Of(text), mpi.Of(all), counts, displs, 0); err != nil {
		return nil, err
	}
	if c.Rank() != 0 {
		return nil, nil
	}
	values := make([]*T, c.Size())
	for r := range values {
		if err := json.Unmarshal(all[displs[r]:displs[r]+counts[r]], &values[r]); err != nil {
			return nil, fmt.Errorf("data of rank %d: %w", r, err)
		}
	}
	return values, nil
}
