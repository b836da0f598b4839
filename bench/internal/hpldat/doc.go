// Package hpldat reads HPL.dat, the input file of netlib's LINPACK benchmark, by
// netlib's rules (HPL 2.3, HPL_pdinfo).
//
// # The file
//
// It has 31 lines. The number of its line gives a value its meaning; on a line, only the
// first words count, and the rest is comment.
//
//	 1, 2   free text                  17  NBMINs, 1 or more
//	 3      name of an output file     18  number of
//	 4      6 stdout, 7 stderr,        19  NDIVs, 2 or more
//	        other: the file            20  number of
//	 5      number of                  21  RFACTs, as PFACTs
//	 6      Ns, 0 or more              22  number of
//	 7      number of                  23  BCASTs 0 1rg, 1 1rM, 2 2rg, 3 2rM, 4 Lng,
//	 8      NBs, 1 or more                 5 LnM; other: 1rM
//	 9      PMAP 1 column-major,       24  number of
//	        other: row-major           25  DEPTHs, 0 or more
//	10      number of grids            26  SWAP 0 binary exchange, 1 long, 2 mix;
//	11      Ps, 1 or more                  other: long
//	12      Qs, 1 or more              27  columns from which mix is long; below 0: 0
//	13      threshold; 0 or less: no   28  L1 0 transposed, 1 not; other: 0
//	        check                      29  U  0 transposed, 1 not; other: 0
//	14      number of                  30  EQUIL 0 no, 1 yes; other: 1
//	15      PFACTs 0 left, 1 Crout,    31  ALIGN, in float64s; 0 or less: 4
//	        other: right
//	16      number of
//
// A list has at most 20 values. Numbers are read as C's atoi and atof do: "16.0thr" is
// 16, and what follows a number is comment.
//
// # Where this is kinder than netlib
//
// Values may be separated by any white space, netlib wants one blank. Lines may be
// longer than 253 characters, and end as on DOS. A file may end after line 25: missing
// lines have the values of netlib's stock file, and File.Notes says so; netlib reads
// the last line again instead.
//
// # Where it is stricter
//
// A word in the place of a number is an error; netlib's atoi makes 0 of it, which is a
// valid N and a valid threshold (it switches the check off). A list that is shorter than
// its number says is an error, too; netlib takes the last value, or words of the comment.
// ALIGN is at most 2^20: with more, netlib runs out of memory, and counts the tests as
// skipped.
//
// # Errors
//
// An *Error names the file, the line, the value and the allowed values.
// Error.Netlib is the same in the form of netlib's messages.
//
// Nothing here keeps state: any goroutine may call anything.
package hpldat
