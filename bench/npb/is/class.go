package is

import (
	"fmt"
	"strings"
)

// Iterations is the number of timed iterations of every class.
const Iterations = 10

// tests is the number of keys with a known rank.
const tests = 5

// Class is a problem size of the benchmark ([Named]).
type Class struct {
	Name    string
	Keys    int // in all
	Max     int // keys are below
	Buckets int

	positions [tests]int // in the whole sequence
	ranks     [tests]int // of the keys there
	rising    [tests]int // 1: the rank rises by 1 in each iteration; 0: it falls
	up, down  int        // subtracted from the iteration
}

var classes = []Class{
	{Name: "S", Keys: 1 << 16, Max: 1 << 11, Buckets: 1 << 9,
		positions: [tests]int{48427, 17148, 23627, 62548, 4431}, ranks: [tests]int{0, 18, 346, 64917, 65463}, rising: [tests]int{1, 1, 1}},
	{Name: "W", Keys: 1 << 20, Max: 1 << 16, Buckets: 1 << 10, up: 2,
		positions: [tests]int{357773, 934767, 875723, 898999, 404505}, ranks: [tests]int{1249, 11698, 1039987, 1043896, 1048018}, rising: [tests]int{1, 1}},
	{Name: "A", Keys: 1 << 23, Max: 1 << 19, Buckets: 1 << 10, up: 1, down: 1,
		positions: [tests]int{2112377, 662041, 5336171, 3642833, 4250760}, ranks: [tests]int{104, 17523, 123928, 8288932, 8388264}, rising: [tests]int{1, 1, 1}},
	{Name: "B", Keys: 1 << 25, Max: 1 << 21, Buckets: 1 << 10,
		positions: [tests]int{41869, 812306, 5102857, 18232239, 26860214}, ranks: [tests]int{33422937, 10244, 59149, 33135281, 99}, rising: [tests]int{0, 1, 1, 0, 1}},
	{Name: "C", Keys: 1 << 27, Max: 1 << 23, Buckets: 1 << 10,
		positions: [tests]int{44172927, 72999161, 74326391, 129606274, 21736814}, ranks: [tests]int{61147, 882988, 266290, 133997595, 133525895}, rising: [tests]int{1, 1, 1}},
}

// Classes returns all classes, by size.
func Classes() []Class { return append([]Class(nil), classes...) }

// Named returns a class by its letter, in either case. The error lists the known classes.
func Named(name string) (Class, error) {
	var known []string
	for _, c := range classes {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
		known = append(known, c.Name)
	}
	return Class{}, fmt.Errorf("no class %q of IS: there are %s", name, strings.Join(known, ", "))
}

// Mop returns the operations of a run, in millions, as the benchmark counts them.
func (c Class) Mop() float64 { return Iterations * float64(c.Keys) / 1e6 }

// Bytes returns the memory of one rank of p, about.
func (c Class) Bytes(p int) int { return 4*(c.Keys/p*2+c.Keys/p*room/roomOf) + 4*c.Max }

// want returns the rank that test key i has in iteration t.
func (c Class) want(i, t int) int {
	if c.rising[i] == 1 {
		return c.ranks[i] + t - c.up
	}
	return c.ranks[i] - (t - c.down)
}
