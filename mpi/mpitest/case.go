package mpitest

import (
	"slices"
	"strings"
)

// Case tests one property of engines.
type Case struct {
	Name     string // "window/shared locks"
	MinRanks int    // ranks it needs
	Needs    Needs  // optional abilities that it tests
	body     func(r *rank)
}

// Needs is a set of optional abilities of engines.
type Needs uint

// The abilities.
const (
	// OrderCheck: ranks that call different collective operations get an error.
	OrderCheck Needs = 1 << iota
	// FullRevoke: a revocation ends the operations under way on all ranks, too.
	FullRevoke
	// KeepsNaN: Max and Min of floats are NaN if an operand is.
	KeepsNaN
	needsEnd
)

var needNames = []string{"a check of the order of collective operations", "revocation of pending operations", "maxima that keep a NaN"}

// String names the abilities.
func (n Needs) String() string {
	var names []string
	for i, name := range needNames {
		if n&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Cases returns the suite in the order of [Run].
func Cases() []Case {
	return slices.Concat(
		transferCases(), orderCases(), requestCases(), batchCases(), persistentCases(), probeCases(), truncateCases(),
		collectiveCases(), reductionCases(), partCases(), outstandingCases(),
		communicatorCases(), gridCases(), windowCases(), lockCases(), notifyCases(),
		misuseCases(), revokeCases(), engineCases(), randomCases())
}

// two returns a case for at least two ranks.
func two(name string, body func(r *rank)) Case { return Case{Name: name, MinRanks: 2, body: body} }

// one returns a case for any number of ranks.
func one(name string, body func(r *rank)) Case { return Case{Name: name, MinRanks: 1, body: body} }
