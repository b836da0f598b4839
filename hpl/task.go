package hpl

import "errors"

// runTask factors the matrix as a graph of tasks.
func runTask(*solver) error {
	return errors.New("hpl: the driver Task is not there yet: choose LookAhead or Blocking")
}
