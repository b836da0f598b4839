// Package mistakes holds programs with one mistake each, and right programs beside them, as
// a measure of the modes that look for mistakes: dataflow.Verify, dataflow.Seeded,
// dataflow.Debug and the race detector. It has no code but tests.
//
// The table in README.md says which mode finds which mistake; a test compares it with the
// modes' findings. Another test is the control: no mode complains of a right program, and all
// modes compute the same.
package mistakes
