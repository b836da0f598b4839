package nas

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Class is a problem size of the benchmark ([Named]). A program may define other classes;
// they have no reference values, and their runs are not verified.
type Class struct {
	Name       string
	NX, NY, NZ int // points along x, which is contiguous, y and z
	Iterations int // time steps
	Seed       uint64
	Alpha      float64 // of the differential equation
	reference  []complex128
}

// The seed and the coefficient of every class (NPB 3.4, ft_data).
const (
	Seed  = 314159265
	Alpha = 1e-6
)

var classes = []Class{
	{Name: "S", NX: 64, NY: 64, NZ: 64, Iterations: 6},
	{Name: "W", NX: 128, NY: 128, NZ: 32, Iterations: 6},
	{Name: "A", NX: 256, NY: 256, NZ: 128, Iterations: 6},
	{Name: "B", NX: 512, NY: 256, NZ: 256, Iterations: 20},
	{Name: "C", NX: 512, NY: 512, NZ: 512, Iterations: 20},
	{Name: "D", NX: 2048, NY: 1024, NZ: 1024, Iterations: 25},
	{Name: "E", NX: 4096, NY: 2048, NZ: 2048, Iterations: 25},
	{Name: "F", NX: 8192, NY: 4096, NZ: 4096, Iterations: 25},
}

// Named returns a class by its letter, in either case. The error lists the known classes.
func Named(name string) (Class, error) {
	for _, c := range Classes() {
		if strings.EqualFold(c.Name, name) {
			return c, nil
		}
	}
	return Class{}, fmt.Errorf("nas: there is no class %q: the classes are S, W, A, B, C, D, E and F", name)
}

// Classes returns all classes, the smallest first.
func Classes() []Class {
	all := slices.Clone(classes)
	for i := range all {
		all[i].Seed, all[i].Alpha, all[i].reference = Seed, Alpha, reference[all[i].Name]
	}
	return all
}

// First returns the class cut down to its first iterations, with their reference values:
// for a look at a problem that takes long. It is not a run of the benchmark.
func (c Class) First(iterations int) Class {
	c.Iterations = max(1, min(iterations, c.Iterations))
	c.reference = c.reference[:min(len(c.reference), c.Iterations)]
	return c
}

// Points returns the number of points of the grid.
func (c Class) Points() int { return c.NX * c.NY * c.NZ }

// Bytes returns the bytes of one complex array with a value for every point.
func (c Class) Bytes() int { return 16 * c.Points() }

// Mop returns the millions of operations that the benchmark counts for the timed part
// (NPB 3.4, ft.f90).
func (c Class) Mop() float64 {
	n := float64(c.Points())
	log := math.Log(n)
	return 1e-6 * n * (14.8157 + 7.19641*log + (5.23518+7.21113*log)*float64(c.Iterations))
}

// Size is the grid as the benchmark prints it.
func (c Class) Size() string { return fmt.Sprintf("%4dx%4dx%4d", c.NX, c.NY, c.NZ) }
