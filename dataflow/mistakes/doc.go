// Package mistakes holds programs with one mistake each, and right programs beside them, as
// a measure of the modes that look for mistakes: dataflow.Verify, dataflow.Seeded,
// dataflow.Debug and the race detector. It has no code but tests.
//
// The table in README.md says which mode finds what; a test compares it with what the
// modes do. Another test is the control: no mode complains of a right program, and all of them
// compute the same.
package mistakes
