// Package layout keeps the tree in order: it has no code but tests. They fail
// when a package imports upwards (order.txt), when a package gains or loses a public
// name (names.txt), and when a file breaks a rule of
// style that a machine can check (style_test.go): format, banned calls, missing
// documentation, long functions, paths of one machine, references in Markdown
// files to missing targets, generated files that are out of date.
//
// The tests read source text, so they see every file, whatever its build
// constraints, and need no build.
package layout
