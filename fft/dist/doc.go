// Package dist transforms three-dimensional arrays that are distributed over ranks.
package dist
