package hplrun

import "strings"

// about is what -h prints before the flags.
func (p Program) about() string {
	return strings.ReplaceAll(p.About+`

	NAME                            one process, all cores, sized for about 15 s
	NAME -n 8000 -nb 192            one system of order 8000
	NAME -n 4000 -p 1 -q 2          on 2 ranks inside this process
	NAME -dat HPL.dat -ranks 4      the tests of a file, on 4 ranks
	NAME -n 4000 -q 2 -net gige     over a simulated network of 1 Gbit/s
	mpirun -np 4 NAME -dat HPL.dat  under MPI (CC=mpicc.openmpi go build -tags mpi)
	NAME -machine js21 -p 16 -q 32 -n 65536   on a simulated machine

What it solves: A x = b of order N with pseudo-random elements, by LU factorization with
partial pivoting, in float64; it counts 2/3 N^3 + 3/2 N^2 operations. Every solution is
checked: the scaled residual has to be below the threshold (16; a healthy one is about
0.01), except with a threshold of 0 or less, which only an HPL.dat can say.

What to tune: NB (without -nb it follows order, grid, cores and kernels; multiples of 24 suit
AVX-512 and AVX2), the grid (P <= Q; P = 1 on slow networks), then BCAST. N: as large as memory
allows. Where few columns are left for each core, panels are parts of a block (-without narrow:
whole blocks).

How to read T/V: in WR11R2C4, R is row-major (C: column-major), 1 the depth, 1 the
broadcast, R the recursion, 2 its parts, C the leaves, 4 their columns. The task driver
has 9 for the depth: it looks ahead as far as memory allows, whatever DEPTH says.

On a simulated machine the program runs all its messages and tasks in virtual time, and its
kernels do not compute but take the time that the machine file says. Nothing is verified then.
With -isa the kernels compute, and take the time that they take here.

The output is that of netlib's HPL 2.3, and after it lines for programs:
"result key=value ...", one per test and driver, and one for all.
`, "NAME", p.Name)
}
