package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/weft-hpc/weft/dataflow"
)

// errBroken is the failure on purpose.
var errBroken = errors.New("broken on purpose")

// doubled counts the calls of doubleIt.
var doubled atomic.Int32

func doubleIt(x *int) {
	*x *= 2
	doubled.Add(1)
}

func addAll(parts []*int, sum *int) {
	*sum = 0
	for _, p := range parts {
		*sum += *p
	}
}

// describe prints the failed task in err and the cause of its failure, and reports whether
// the right task failed.
func describe(err error) bool {
	var failed *dataflow.TaskError
	right := errors.As(err, &failed) && failed.Label == "load" && errors.Is(err, errBroken)
	for says := "Wait  "; errors.As(err, &failed); says, err = "       because", failed.Err {
		fmt.Printf("%s task %d %q, declared at %s:%d, failed\n", says, failed.Task, failed.Label, filepath.Base(failed.File), failed.Line)
	}
	fmt.Printf("       because %v\n", err)
	return right
}
