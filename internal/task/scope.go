package task

import "github.com/weft-hpc/weft/deps"

// Scope is what tasks are spawned in: a *dataflow.Runtime or a *tasks.Context. Users see
// it as tasks.Scope. Its methods are private, so that no program can implement it or call
// them; other packages of the module use the functions below.
type Scope interface {
	// domain returns the domain of the tasks that are spawned in the scope.
	domain() *Domain
	// callers returns the number of functions between the spawning function and the place
	// that reports name as the place of the spawn.
	callers() int
}

// DomainOf returns the domain of the tasks that are spawned in s. It belongs to the
// inserter, as a spawn does.
func DomainOf(s Scope) *Domain { return s.domain() }

// Callers returns the number of functions, for [Above], between the function that spawns in
// s and the place that reports name.
func Callers(s Scope) int { return s.callers() }

// Above returns s for a function that spawns in place of its caller (skip = 1), or of the
// caller of that (2) and so on: reports name that place as the one of the spawn.
func Above(s Scope, skip int) Scope { return &above{s, skip} }

type above struct {
	Scope
	skip int
}

func (a *above) callers() int { return a.skip }

// Main is the part of a runtime that makes it the Scope of the main program.
type Main struct{ d *Domain }

// MainOf returns the part of a runtime whose main program has the domain d.
func MainOf(d *Domain) Main { return Main{d} }

func (m *Main) domain() *Domain { return m.d }
func (m *Main) callers() int    { return 0 }

// SpawnerOf returns the scope of the same domain for a method of the runtime that spawns in
// place of its caller: Above(..., 1), without a second call through an interface.
func SpawnerOf(d *Domain) Scope { return &spawner{Main{d}} }

type spawner struct{ Main }

func (s *spawner) callers() int { return 1 }

// Body is a record as the body of its task sees it, behind a *tasks.Context: the Scope of
// its children.
type Body struct{ record Record }

func (b *Body) domain() *Domain {
	if d := b.record.Children; d != nil {
		return d
	}
	return b.record.Exec.ChildDomain(&b.record)
}

func (b *Body) callers() int { return 0 }

// RecordOf returns the record of b.
func RecordOf(b *Body) *Record { return &b.record }

// Package tasks sets these functions when the program starts.
var (
	// RegionOf returns the region of a parameter or of an argument of WaitOn.
	RegionOf func(x any) (deps.Region, error)
	// Submit applies clauses, a *[]tasks.Clause or nil, to a record of another kind of
	// task, begun and filled in by the package that defines it (package commthread), and
	// hands it to the runtime. It does not keep the clauses.
	Submit func(r *Record, clauses any)
)
