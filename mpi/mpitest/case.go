package mpitest

import (
	"slices"
	"strings"
)

// Case is one property that engines have.
type Case struct {
	Name     string // "window/shared locks"
	MinRanks int    // ranks it needs
	Needs    Needs  // what it asks for beyond what every engine does
	body     func(r *rank)
}

// Needs is a set of abilities that the contract leaves to the engine.
type Needs uint

// The abilities.
const (
	// OrderCheck: ranks that call different collective operations are told so.
	OrderCheck Needs = 1 << iota
	// FullRevoke: operations that are under way when a communicator is revoked end on
	// all ranks, not just later ones.
	FullRevoke
	// KeepsNaN: Max and Min of floats give NaN if one of them is.
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

// Cases returns the suite, in the order in which [Run] goes through it.
func Cases() []Case {
	return slices.Concat(
		transferCases(), orderCases(), requestCases(), persistentCases(), probeCases(), truncateCases(),
		collectiveCases(), reductionCases(), partCases(), outstandingCases(),
		communicatorCases(), gridCases(), windowCases(), lockCases(), notifyCases(),
		misuseCases(), revokeCases(), engineCases(), randomCases())
}

// two returns cases for at least two ranks.
func two(name string, body func(r *rank)) Case { return Case{Name: name, MinRanks: 2, body: body} }

// one returns cases that any number of ranks can run.
func one(name string, body func(r *rank)) Case { return Case{Name: name, MinRanks: 1, body: body} }
