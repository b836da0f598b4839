package advise

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Format and Version begin a results file.
const (
	Format  = "weft-advise"
	Version = 1
)

// ErrFile marks a results file that cannot be used.
var ErrFile = errors.New("no usable results file")

// envelope is a results file: its contents, and their checksum.
type envelope struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Sum     string          `json:"sha256"`
	Run     json.RawMessage `json:"run"`
}

// WriteFile writes a run in one step, and replaces an existing file.
func WriteFile(name string, r *Run) error {
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	text, err := json.Marshal(envelope{Format, Version, sum(body), body})
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("results file %s: %w", name, err)
	}
	_, err = tmp.Write(append(text, '\n'))
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("results file %s: %w", name, err)
	}
	return nil
}

// CheckFile returns an error if a results file with this name cannot be written, before a
// long run finds out.
func CheckFile(name string) error {
	if s, err := os.Stat(name); err == nil && !s.Mode().IsRegular() {
		return fmt.Errorf("results file %s: it is there, and is no regular file", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("results file %s: %w", name, err)
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

// ReadFile reads a run and checks it. It refuses a truncated or changed file, and a file of
// another kind or version, with [ErrFile].
func ReadFile(name string) (*Run, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrFile, err)
	}
	return r, nil
}

func parse(text []byte) (*Run, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("it is empty: was the program stopped before its end?")
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("it is no results file, or cut short (%w): run the program again with %s", err, FileVariable)
	}
	switch {
	case e.Format != Format:
		return nil, fmt.Errorf("its format is %q, not %q", e.Format, Format)
	case e.Version != Version:
		return nil, fmt.Errorf("its version is %d, and this program reads version %d: run the program again", e.Version, Version)
	case sum(e.Run) != e.Sum:
		return nil, errors.New("its contents do not have its checksum: it has been damaged or edited")
	}
	r := &Run{}
	if err := json.Unmarshal(e.Run, r); err != nil {
		return nil, fmt.Errorf("its contents: %w", err)
	}
	return r, r.check()
}

// check finds references to missing elements.
func (r *Run) check() error {
	site := func(i int) bool { return i >= 0 && i < len(r.Sites) }
	if r.Ranks < 1 || !(r.Seconds > 0) {
		return fmt.Errorf("%d ranks in %g s: there is at least one of the first and more than zero of the second", r.Ranks, r.Seconds)
	}
	for i, c := range r.Chains {
		if len(c.Sites) == 0 || len(c.Calls) != len(c.Sites) || len(c.Gaps) != len(c.Sites) || len(c.Movable) != len(c.Sites) || len(c.Ranks) == 0 || len(c.Patterns) != len(c.Ranks) {
			return fmt.Errorf("chain %d has %d sites, %d calls, %d ranks and %d patterns", i, len(c.Sites), len(c.Calls), len(c.Ranks), len(c.Patterns))
		}
		for _, s := range c.Sites {
			if !site(s) {
				return fmt.Errorf("chain %d refers to site %d of %d", i, s, len(r.Sites))
			}
		}
		for _, e := range c.Ends {
			if e.Call >= len(c.Sites) || e.Site >= len(r.Sites) {
				return fmt.Errorf("chain %d was ended by call %d of %d and site %d of %d", i, e.Call, len(c.Sites), e.Site, len(r.Sites))
			}
		}
		if c.Successor >= len(r.Chains) {
			return fmt.Errorf("chain %d is followed by chain %d of %d", i, c.Successor, len(r.Chains))
		}
		for _, t := range []*Trial{c.Trial, c.Split} {
			if t != nil && (len(t.Written) == 0 || len(t.Written) != len(t.Fixed)) {
				return fmt.Errorf("chain %d was measured %d times as written and %d times fixed", i, len(t.Written), len(t.Fixed))
			}
		}
	}
	for _, p := range r.Collectives {
		if !site(p.Site) {
			return fmt.Errorf("collective calls refer to site %d of %d", p.Site, len(r.Sites))
		}
	}
	for _, x := range r.Races {
		if !site(x.Request) || !site(x.Other) {
			return fmt.Errorf("a race refers to sites %d and %d of %d", x.Request, x.Other, len(r.Sites))
		}
	}
	return nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// sources lists the files of the sites with their checksums.
func sources(sites []Site) (all []Source) {
	seen := map[string]bool{}
	for _, s := range sites {
		if s.File == "" || seen[s.File] {
			continue
		}
		seen[s.File] = true
		x := Source{File: s.File}
		if text, err := os.ReadFile(s.File); err == nil {
			x.Sum = sum(text)
		}
		all = append(all, x)
	}
	return all
}

// Unchanged reports whether a source file is the same as at the run; false if it could not be
// read then, or cannot be read now.
func (r *Run) Unchanged(file string) bool {
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for _, s := range r.Sources {
		if s.File == file {
			return s.Sum == sum(text)
		}
	}
	return false
}

// caches returns the sizes of the data caches that a core can use, from the smallest on;
// nil where the system does not tell.
func caches() (sizes []float64) {
	for i := range 8 {
		dir := fmt.Sprintf("/sys/devices/system/cpu/cpu0/cache/index%d/", i)
		kind, err := os.ReadFile(dir + "type")
		if err != nil {
			return sizes
		}
		text, err := os.ReadFile(dir + "size")
		if err != nil || strings.TrimSpace(string(kind)) == "Instruction" {
			continue
		}
		if kb, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K")); err == nil {
			sizes = append(sizes, float64(kb)*1024)
		}
	}
	return sizes
}

// resident returns the memory of this process, in bytes, 0 where the system does not tell.
func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1])
	return float64(n) * float64(os.Getpagesize())
}
