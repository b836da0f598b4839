package mg

import (
	"fmt"
	"math/bits"
	"strings"
)

// Class is a problem size of the benchmark ([Named]).
type Class struct {
	Name       string
	N          int // points along each axis, a power of two
	Iterations int
	Norm       float64 // of the last residual

	smoother [4]float64
}

// The weights of the operators, by the number of coordinates that differ.
var (
	poisson     = [4]float64{-8. / 3, 0, 1. / 6, 1. / 12}
	restriction = [4]float64{1. / 2, 1. / 4, 1. / 8, 1. / 16}
	small       = [4]float64{-3. / 8, 1. / 32, -1. / 64, 0}
	large       = [4]float64{-3. / 17, 1. / 33, -1. / 61, 0}
)

var classes = []Class{
	{"S", 32, 4, 0.5307707005734e-04, small},
	{"W", 128, 4, 0.6467329375339e-05, small},
	{"A", 256, 4, 0.2433365309069e-05, small},
	{"B", 256, 20, 0.1800564401355e-05, large},
	{"C", 512, 20, 0.5706732285740e-06, large},
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
	return Class{}, fmt.Errorf("no class %q of MG: there are %s", name, strings.Join(known, ", "))
}

// levels returns the number of the finest level; the coarsest is 1.
func (c Class) levels() int { return bits.Len(uint(c.N)) - 1 }

// points returns the number of points.
func (c Class) points() float64 { return float64(c.N) * float64(c.N) * float64(c.N) }

// Mop returns the operations of a run, in millions, as the benchmark counts them.
func (c Class) Mop() float64 { return 58 * float64(c.Iterations) * c.points() / 1e6 }

// Bytes returns the memory of one rank of p, about: u, v and the residual, and u and the
// residual of coarser levels.
func (c Class) Bytes(p int) int { return int(8 * c.points() * (3 + 2./7) / float64(p)) }
