package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/weft-hpc/weft/bench/internal/rewrite"
	"github.com/weft-hpc/weft/internal/advise"
)

// document is what -json prints.
type document struct {
	Runs        []*advice           `json:"runs"`
	Projections []advise.Projection `json:"projections,omitempty"`
	Outcomes    []outcome           `json:"outcomes,omitempty"`
	Tasks       []*taskAdvice       `json:"tasks,omitempty"`
}

// advise carries out the command line.
func (c *config) advise(stdout, stderr io.Writer) error {
	var d document
	files, err := d.traces(c.files)
	if err != nil {
		return err
	}
	runs, err := readAll(files)
	if err != nil {
		return err
	}
	if len(runs) == 0 && (c.size > 0 || len(c.targets) > 0 || c.svg != "") {
		return errors.New("a trace has no problem size: -size, -project and -svg want results files of WEFT_ADVISE")
	}
	if c.size > 0 {
		runs[0].Size = c.size
		if err := advise.WriteFile(files[0], runs[0]); err != nil {
			return err
		}
	}
	for i, r := range runs {
		d.Runs = append(d.Runs, consider(files[i], r, c.min/100))
	}
	var set *advise.Set
	if len(c.targets) > 0 {
		if set, err = advise.NewSet(runs, d.usable()); err != nil {
			return err
		}
		for _, t := range c.targets {
			d.Projections = append(d.Projections, set.Project(t.size, t.ranks))
		}
	}
	after, err := readAll(c.after)
	if err != nil {
		return err
	}
	if d.Outcomes, err = compare(d.Runs, after); err != nil {
		return err
	}
	if err := c.print(&d, stdout); err != nil {
		return err
	}
	if c.svg != "" {
		if err := draw(c.svg, &d); err != nil {
			return err
		}
	}
	if c.fix {
		if err := d.apply(stderr); err != nil {
			return err
		}
	}
	return d.failed()
}

// traces assesses the files that are timelines of task programs, and returns the others.
func (d *document) traces(names []string) (rest []string, err error) {
	for _, name := range names {
		if !isTrace(name) {
			rest = append(rest, name)
			continue
		}
		ranks, err := readTrace(name)
		if err != nil {
			return nil, err
		}
		d.Tasks = append(d.Tasks, assess(name, ranks))
	}
	return rest, nil
}

func readAll(files []string) (runs []*advise.Run, err error) {
	for _, f := range files {
		r, err := advise.ReadFile(f)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// print prints text and results, or the document.
func (c *config) print(d *document, w io.Writer) error {
	if c.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(d)
	}
	for _, a := range d.Tasks {
		a.print(w, c.min/100)
	}
	for _, a := range d.Runs {
		a.printText(w, c.min/100)
		fmt.Fprintln(w)
	}
	for i := range d.Projections {
		printProjection(w, &d.Projections[i])
	}
	printOutcomes(w, d.Outcomes)
	if c.diff {
		if err := d.printDiff(w); err != nil {
			return err
		}
	}
	for _, a := range d.Tasks {
		a.printResult(w)
	}
	for _, a := range d.Runs {
		a.printResult(w)
	}
	for i := range d.Projections {
		printProjectionResult(w, &d.Projections[i])
	}
	printOutcomeResults(w, d.Outcomes)
	return nil
}

// changed returns the changed files. Each is changed as the run advises that changes the most calls in
// it: with fewer ranks, or another size, some messages may have no peer.
func (d *document) changed() (map[string][]byte, error) {
	from, most := map[string]*advice{}, map[string]int{}
	for _, a := range d.Runs {
		if a.program == nil {
			continue
		}
		calls := map[string]int{}
		for _, it := range a.Items {
			calls[it.File] += len(it.change.Calls)
		}
		for name, n := range calls {
			if n > most[name] {
				from[name], most[name] = a, n
			}
		}
	}
	out := map[string][]byte{}
	for _, a := range d.Runs {
		var changes []*rewrite.Change
		for _, it := range a.Items {
			if from[it.File] == a {
				changes = append(changes, it.change)
			}
		}
		if len(changes) == 0 {
			continue
		}
		files, err := a.program.Apply(changes)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, files)
	}
	return out, nil
}

func (d *document) printDiff(w io.Writer) error {
	files, err := d.changed()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		shown := relative(name)
		fmt.Fprint(w, rewrite.Diff("a/"+shown, "b/"+shown, old, files[name]))
	}
	return nil
}

// relative returns a name as seen from the working directory, if it lies below.
func relative(name string) string {
	if dir, err := os.Getwd(); err == nil {
		if r, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(r) {
			return filepath.ToSlash(r)
		}
	}
	return name
}

// apply writes the changed files, each in one step.
func (d *document) apply(w io.Writer) error {
	files, err := d.changed()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		tmp := name + ".advised"
		if err := os.WriteFile(tmp, files[name], info.Mode().Perm()); err != nil {
			return err
		}
		if err := os.Rename(tmp, name); err != nil {
			_ = os.Remove(tmp)
			return err
		}
		fmt.Fprintf(w, "advise: changed %s\n", relative(name))
	}
	if len(files) == 0 {
		fmt.Fprintln(w, "advise: nothing to change")
		return nil
	}
	return d.promise()
}

// promise writes what the changes are predicted to save into the results files, for -after.
func (d *document) promise() error {
	for _, a := range d.Runs {
		if len(a.Items) == 0 {
			continue
		}
		a.Run.Promised = &advise.Promise{Saving: a.Saving, Low: a.Low, High: a.High}
		if err := advise.WriteFile(a.File, a.Run); err != nil {
			return err
		}
	}
	return nil
}

// failed makes an error of races.
func (d *document) failed() error {
	n := 0
	for _, a := range d.Runs {
		n += len(a.Races)
	}
	if n > 0 {
		return errors.New("the program uses buffers before it has waited for them; see the races above")
	}
	return nil
}
