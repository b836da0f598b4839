// Package faces has accessors of a field in a package of their own.
package faces

import "github.com/weft-hpc/weft/mpi"

// Field is rows of numbers.
type Field struct {
	Data    []float64
	Columns int
}

// Row returns row i.
func (f *Field) Row(i int) mpi.Buffer { return mpi.Of(f.Data[i*f.Columns : (i+1)*f.Columns]) }

// Column returns column j.
func (f *Field) Column(j int) mpi.Buffer {
	return mpi.Strided(f.Data[j:], len(f.Data)/f.Columns, 1, f.Columns)
}

// Of is Row of any type.
func Of[T any](x []T, n, i int) mpi.Buffer { return mpi.Of(x[i*n : (i+1)*n]) }

// First returns the first number of a row, which may be under way.
func (f *Field) First(i int) int { return int(f.Data[i*f.Columns]) }
